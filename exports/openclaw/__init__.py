"""OpenClaw run folders, written from the warehouse."""
