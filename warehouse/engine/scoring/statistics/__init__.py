"""Statistics that follow the original programs to the last bit."""
