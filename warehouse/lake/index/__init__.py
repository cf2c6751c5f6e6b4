"""What the batches of a lake hold, found without reading all of their descriptions."""
