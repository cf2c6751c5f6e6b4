"""What `evalstore check` is made of: expectations as data, batches by DuckDB, verdicts by GX."""
