"""Charts of the store, drawn by Vega-Altair: a module per chart, its query in `sql/charts/`."""
