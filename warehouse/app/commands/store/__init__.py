"""The commands that look after a store: check, sync, info, compact, forget."""
