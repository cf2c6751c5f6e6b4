"""Scoring of posters: matching of predicted events with gold events, and the resulting scores."""
