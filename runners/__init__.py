"""Model calls: the engine, the providers and the suites."""
