"""Reads logs of lm-evaluation-harness: results files of all versions, and samples files."""
