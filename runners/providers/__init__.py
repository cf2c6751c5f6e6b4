"""The ways to reach a model."""
