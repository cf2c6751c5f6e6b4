"""The store in five layers, each of which imports only those above it in this list."""
