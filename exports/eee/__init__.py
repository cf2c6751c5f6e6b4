"""Writes runs of any suite as every_eval_ever: aggregates and samples."""
