"""Palindrome logs and model files, written from the warehouse."""
