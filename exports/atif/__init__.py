"""Writes trials of any suite as trajectories in ATIF, a file for each."""
