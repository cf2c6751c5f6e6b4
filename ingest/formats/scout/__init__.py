"""Reads the transcript database of Inspect Scout: Parquet, a trial per row."""
