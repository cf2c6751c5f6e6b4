"""Palindrome logs, and the task and model files next to them."""
