"""Generators of pages in `docs/` and of other figures, the check of a release, mutants."""
