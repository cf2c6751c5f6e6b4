"""Reads LLMBar: the verdicts of judges on pairs of answers, and the figures of each judge."""
