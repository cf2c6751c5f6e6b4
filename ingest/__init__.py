"""The import, whatever the format: discovery, readers, reconciliation; `annotate`."""
