"""Reads every_eval_ever: aggregate results of evaluations, and their samples."""
