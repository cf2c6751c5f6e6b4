"""What `evalstore mcp` offers to agents: tools with limits, and the server."""
