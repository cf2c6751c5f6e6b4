"""Stores on an object store: the lake is there, and a folder on this machine is its cache."""
