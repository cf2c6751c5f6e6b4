"""Generators of pages in `docs/`, of tables of simulations, and of the picture of the README."""
