"""The table of exporters, the shape they share, and the commands built from it."""
