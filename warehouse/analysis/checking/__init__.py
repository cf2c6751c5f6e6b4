"""The data checks: expectations as data, rows from DuckDB, answers from Great Expectations."""

# The page of the last check, in the store. It shows rows, so forgetting a run removes it.
PAGE = "check.html"
