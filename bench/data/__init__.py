"""Generated data that several benchmarks use."""
