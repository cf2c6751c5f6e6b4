"""Poster workspaces, published reports and human annotations."""
