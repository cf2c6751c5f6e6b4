"""Reads logs of openai/evals: the events of a run, as JSON lines."""
