"""The store: schemas, errors, files, and the one place that opens DuckDB."""
