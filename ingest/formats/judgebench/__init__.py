"""Reads JudgeBench: pairs of answers with the verdicts of a judge, as JSON lines."""
