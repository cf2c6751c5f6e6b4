"""Reads traces of agents: OpenTelemetry GenAI, OpenInference, Vercel and Langfuse spans."""
