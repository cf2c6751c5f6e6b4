"""Tables of what raters say: judges, people and gold, and how far they agree."""
