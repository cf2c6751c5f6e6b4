"""Reads run folders of HELM, and the tables of its suites."""
