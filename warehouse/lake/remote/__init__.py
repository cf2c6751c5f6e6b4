"""Stores on an object store: its objects, and the folder here that mirrors its lake."""
