"""Serves the site of a store to a browser, live, with what needs a server: `evalstore view`."""
