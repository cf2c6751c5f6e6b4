"""The ways to reach a model: a module each, listed in the registry."""
