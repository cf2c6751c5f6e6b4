"""Shared by readers of several formats: blocks of lines, ids of repeated records."""
