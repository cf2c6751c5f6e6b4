"""OpenClaw run folders and results.jsonl files."""
