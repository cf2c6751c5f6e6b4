"""The site, which needs no server: its folder, names of pages, templates, style sheet, scripts."""
