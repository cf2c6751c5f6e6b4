"""Reads the tables of eval-arena: how many of its attempts each model passed at each item."""
