"""Answers to agents: what `evalstore mcp` offers, and the server that offers it."""
