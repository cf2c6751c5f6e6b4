"""Reads tables of results: CSV, JSON lines, a JSON list or Parquet, with columns of any names."""
