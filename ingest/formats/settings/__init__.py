"""Declines settings of other tools, which lie next to their logs and hold no results."""
