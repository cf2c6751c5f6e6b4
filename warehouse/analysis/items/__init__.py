"""Items: what a benchmark's tasks are worth, and how few are enough."""
