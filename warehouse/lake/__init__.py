"""The lake: immutable batches of Parquet files, and everything that changes which of them count."""
