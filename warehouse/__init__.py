"""The lake, the warehouse made from it, and SQL over both."""
