"""Reads Harbor: trials with their trajectories, and the figures of jobs."""
