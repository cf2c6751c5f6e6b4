"""The journal of a run in progress, and its recovery into a batch."""

FOLDER = "journals"  # of a store
