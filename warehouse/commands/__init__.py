"""The commands on stores and their warehouse, one per file."""
