"""Scoring of openclaw answers: validators and tool detection."""
