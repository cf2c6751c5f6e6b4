"""Reads runs of tasks with human times, as METR's time horizons have them, and fitted horizons."""
