"""Writes any suite's runs as Inspect logs, which Inspect's own tools open."""
