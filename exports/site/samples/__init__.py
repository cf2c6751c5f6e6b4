"""The data of the sample browser, in pieces that its scripts load when needed."""
