"""What pages are: files of the site."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A file of the site: a page, or a piece of data that pages load.

    Attributes:
        path: its path in the site, from `exports.site.addresses`, with slashes.
        data: its bytes.
    """

    path: str
    data: bytes
