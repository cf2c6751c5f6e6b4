"""Simulations of level, coverage and power; each prints a table of the docs."""
