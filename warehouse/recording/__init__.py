"""Recording results from a user's own code into the store."""
