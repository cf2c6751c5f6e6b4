"""The types of pages of a site, one module each."""
