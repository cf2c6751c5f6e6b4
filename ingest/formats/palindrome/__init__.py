"""Reads palindrome logs, and finds the task and model files that belong to them."""
