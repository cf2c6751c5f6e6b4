"""The OpenClaw suite, and what it records about the host."""
