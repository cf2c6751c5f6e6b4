"""Reads the test set of PandaLM: the votes of three people, and of judges, on pairs of answers."""
