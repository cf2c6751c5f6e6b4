"""Reads ZeroEval: the answers of models by data set and mode, and the summaries of its boards."""
