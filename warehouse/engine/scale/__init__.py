"""Delta tables, written in shards by many processes, and read as one store."""
