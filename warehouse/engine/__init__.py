"""DuckDB: connections, rows of queries, and the store, which keeps its warehouse up to date."""
