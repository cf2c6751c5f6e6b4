"""Imports existing logs: the readers of all formats, and the import itself."""
