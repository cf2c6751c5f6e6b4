"""Reads tau-bench and tau2: results in one file or a folder, and the leaderboard's submissions."""
