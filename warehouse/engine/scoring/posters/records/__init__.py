"""A poster record: its texts, and whether it has the keys and types that the prompt demands."""
