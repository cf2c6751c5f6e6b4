"""Publishes public tables as Delta tables, for every engine, and only what has changed since."""
