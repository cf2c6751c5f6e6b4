"""Suites of one's own: a YAML or JSON file of tasks, and how each answer is judged."""
