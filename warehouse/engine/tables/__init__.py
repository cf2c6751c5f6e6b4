"""The tables of the warehouse: loaded from the lake, scored, kept up to date by sync."""
