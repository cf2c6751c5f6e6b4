"""Tables written by many processes or machines, and read as one store."""
