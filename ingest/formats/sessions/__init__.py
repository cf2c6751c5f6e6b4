"""Reads sessions of coding agents: Claude Code, Codex, and results of BenchFlow's rollouts."""
