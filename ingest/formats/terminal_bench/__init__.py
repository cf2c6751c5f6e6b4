"""Reads runs of Terminal-Bench 1: results of runs and trials, their settings."""
