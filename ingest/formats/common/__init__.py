"""Shared by readers: lines, JSON of any size, exact JSON, nesting, fields, ids, threads."""
