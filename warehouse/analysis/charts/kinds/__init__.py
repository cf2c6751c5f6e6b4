"""The charts, one module each, with their queries in `sql/charts/`."""
