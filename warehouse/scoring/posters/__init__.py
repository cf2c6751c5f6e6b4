"""Scoring of posters: matching predicted events with gold ones, and the scores that follow."""
