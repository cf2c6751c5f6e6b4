"""The OpenClaw suite, and what it records of the host."""
