"""YAML 1.2, read safely, within bounds, and with line numbers."""
