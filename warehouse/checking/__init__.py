"""What `evalstore check` is made of: expectations as data, batches by DuckDB, verdicts by GX."""

# The page of the last check, in the store. It shows rows, so that forgetting a run removes it.
PAGE = "check.html"
