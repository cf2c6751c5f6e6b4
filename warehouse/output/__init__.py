"""Rows, tables, pages and progress, as people and programs see them."""
