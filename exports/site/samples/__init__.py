"""The sample browser: the data of its pages, in pieces that a page loads when it needs them."""
