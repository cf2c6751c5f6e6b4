"""The import of other stores: their batches, compared run by run with what the lake holds."""
