"""Reads SWE-bench: predictions, reports of its harnesses, and trajectories of its agents."""
