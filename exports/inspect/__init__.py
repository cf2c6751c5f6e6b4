"""Writes runs of any suite as Inspect logs, which Inspect's own tools open."""
