"""Judges stored answers by a model and a rubric: ratings of answers, and votes between two."""
