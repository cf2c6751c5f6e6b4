"""Writes the site of a store to a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.site.folder import SiteFolder
from exports.site.registry import PAGE_TYPES
from exports.site.rendering import assets
from exports.site.site import opened_site

if TYPE_CHECKING:
    from pathlib import Path

    from warehouse.store import Store


def write_site(store: Store, folder: Path, *, samples: str = "all") -> SiteFolder:
    """Write the site of a store, and return the folder, which says what was written.

    Args:
        store: the store.
        folder: a new or empty folder, or one with a site of ours.
        samples: which samples have pages: all, failed or none.

    Raises:
        BadInput: the folder holds something else, or cannot be written.
    """
    with opened_site(store, PAGE_TYPES, samples=samples) as site:
        written = SiteFolder(folder)
        for page in assets():
            written.add(page)
        for page_type in site.types:
            for page in page_type.pages(site):
                written.add(page)
        written.finish()
    return written
