"""The poster suites: predictions, ground truth by a model, and the judge."""
