"""Poster reports, published folders and the experiment ledger."""
