"""Tables as Parquet files, written in shards by many processes, and read as one store."""
