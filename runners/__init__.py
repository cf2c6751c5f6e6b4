"""Runs of models: the plan, what is completed, the journal, costs and progress."""
