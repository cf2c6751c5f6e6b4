"""The OpenClaw suite, and its records of the host."""
