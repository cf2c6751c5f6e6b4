"""The ways to reach a model, one module each, listed in `registry.PROVIDERS`."""
