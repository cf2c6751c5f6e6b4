"""The charts: a module per chart, its query in `sql/charts`."""
