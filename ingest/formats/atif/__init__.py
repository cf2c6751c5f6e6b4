"""Reads trajectories of agents in ATIF 1.0 to 1.8: sub-agents, continuations, copied context."""
