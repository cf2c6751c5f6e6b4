"""Simulations of level, coverage and power; `make simulations` writes them into the docs."""
