"""Models: their files, which of them can be called, and what a call costs."""
