"""Reads AlpacaEval: annotations of pairs of answers by a judge, and its leaderboards."""
