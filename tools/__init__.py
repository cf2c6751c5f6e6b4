"""What writes the generated pages of `docs/`."""
