"""Reads results, scores and tables of the Berkeley function calling leaderboard (BFCL)."""
