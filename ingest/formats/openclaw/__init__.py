"""Reads OpenClaw run folders, and streams `results.jsonl` files of any size."""
