"""Writes palindrome logs and model files."""
