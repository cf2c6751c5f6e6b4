"""Reads poster workspaces, annotations, published reports and ledgers."""
