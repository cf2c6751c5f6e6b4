"""Writes OpenClaw run folders."""
