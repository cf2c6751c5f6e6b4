"""Charts of the store, drawn by Vega-Altair."""
