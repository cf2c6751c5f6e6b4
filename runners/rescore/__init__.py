"""Verdicts of changed scorers on stored answers, without a call."""
