"""Shared by readers: lines, JSON of any size, exact JSON, fields, rows of trials, ids, threads."""
