"""Writes poster reports, published folders and the experiment ledger."""
