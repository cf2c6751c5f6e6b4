"""Judges stored answers by a changed scorer, without a call."""
