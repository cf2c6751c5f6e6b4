"""Reads promptfoo: JSON of versions 2 and 3, JSON lines, and a private copy of its database."""
