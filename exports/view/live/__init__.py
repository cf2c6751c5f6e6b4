"""Runs in progress, read from their journals and sent to pages as they grow."""
