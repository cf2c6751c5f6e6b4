"""The types of pages of a site, in the order in which they are written and stand in the menu."""

from __future__ import annotations

from exports.site.pages import overview, samples

PAGE_TYPES = (overview.PAGE_TYPE, samples.PAGE_TYPE)
