"""The specifications' files out, rendered from the warehouse."""
