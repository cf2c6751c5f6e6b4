"""The types of pages of a site, in the order in which they are written and stand in the menu."""

from __future__ import annotations

from exports.site.pages import compare, openclaw, overview, palindrome, samples

PAGE_TYPES = (
    overview.PAGE_TYPE,
    compare.PAGE_TYPE,
    samples.PAGE_TYPE,
    openclaw.PAGE_TYPE,
    palindrome.PAGE_TYPE,
)
