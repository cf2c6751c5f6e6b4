"""Formats of files and values that several packages read or write: JSON, images, task files."""
