"""Users' regular expressions, run under a time limit."""
