"""Records the results of a user's own code into a journal."""
