"""Writes any suite's runs as every_eval_ever: aggregates and their samples."""
