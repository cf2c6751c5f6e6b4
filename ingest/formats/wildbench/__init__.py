"""Reads WildBench: scores and battles that a judge gave, and their leaderboards."""
