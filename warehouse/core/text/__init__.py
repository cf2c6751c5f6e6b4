"""Values as text for people: numbers and headings, widths on a terminal, control characters."""
