"""Users' regular expressions, matched under a time limit."""
