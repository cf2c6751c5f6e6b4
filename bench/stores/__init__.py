"""Benchmarks of large stores: sync, leaderboards, checks, merged batches, plans of shards."""
