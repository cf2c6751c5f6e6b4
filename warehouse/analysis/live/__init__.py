"""Runs in progress: what their journals show so far, in memory."""
