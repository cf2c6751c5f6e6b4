"""The poster suites (predictions, ground truth by a model, the judge) and their image cache."""
