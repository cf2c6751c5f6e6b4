"""The gate: rules that a candidate must keep, and what the data show about each of them."""
