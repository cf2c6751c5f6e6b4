"""The commands over the warehouse, one a file."""
