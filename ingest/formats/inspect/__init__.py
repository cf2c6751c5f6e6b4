"""Reads Inspect's logs: `.eval` archives, and `.json` files of any size."""
