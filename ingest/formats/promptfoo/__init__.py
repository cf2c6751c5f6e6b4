"""Reads evaluations of promptfoo: JSON of versions 2 and 3, JSON lines, and its database."""
