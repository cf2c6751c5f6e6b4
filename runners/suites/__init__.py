"""The suites that can be run: which calls they need and how they score the responses."""
