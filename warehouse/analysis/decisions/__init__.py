"""Decisions between models: what is compared, on which tasks, and what the data show."""
