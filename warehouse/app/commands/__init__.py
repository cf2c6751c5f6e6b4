"""The commands that work on the store only, one module each."""
