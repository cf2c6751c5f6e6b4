"""Asks people what they think of answers: queues, blind, and single answers."""
