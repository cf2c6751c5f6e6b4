"""Scoring of openclaw answers: validators, tool detection, tiers."""
