"""The site: static pages of what the store has, which need no server."""
