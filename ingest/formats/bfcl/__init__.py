"""Reads results and scores of the Berkeley function calling leaderboard (BFCL)."""
