"""Which column of a table is what: its role, guessed, confirmed, or read from a file."""
