"""Writes files in the formats that the benchmarks specify, from views of the warehouse."""
