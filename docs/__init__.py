"""The docs, and what writes their generated pages."""
