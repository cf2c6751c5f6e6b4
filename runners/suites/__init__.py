"""The suites that can be run: what to ask, and what to make of the answers."""
