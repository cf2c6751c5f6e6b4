"""Legacy formats in: a reader for each, and the import."""
