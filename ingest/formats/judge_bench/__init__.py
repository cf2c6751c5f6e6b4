"""Reads JUDGE-BENCH: people's ratings of items by criterion, and the figures of judges."""
