"""The generator of pages in `docs/`."""
