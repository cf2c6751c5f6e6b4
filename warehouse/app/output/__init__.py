"""Output formats: tables, CSV, JSON, Parquet, HTML pages, progress."""
