"""Writes the site of a store to a folder."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from exports.site.addresses import OVERVIEW
from exports.site.folder import SiteFolder, site_lock
from exports.site.registry import PAGE_TYPES
from exports.site.rendering import assets
from exports.site.site import opened_site
from warehouse.connection import memory_limit
from warehouse.errors import OutOfMemory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from exports.site.page import Page
    from exports.site.site import Site
    from warehouse.store import Store

# Of DuckDB: what it needs beyond goes to temporary files. Charts and pages take some 400 MB more.
_MEMORY_MB = 1_000


def write_site(store: Store, folder: Path, *, samples: str = "all") -> SiteFolder:
    """Write the site of a store, and return the folder, which says what was written.

    The overview is written last: until then the folder has the one from before, or none.

    Args:
        store: the store.
        folder: a new or empty folder, or one with a site of ours.
        samples: which samples have pages: all, failed or none.

    Raises:
        BadInput: the folder holds something else, cannot be written, or another process writes to
            it.
    """
    import duckdb

    with site_lock(folder):
        # Some of what DuckDB keeps cannot go to temporary files, such as lists of texts.
        with suppress(OutOfMemory, duckdb.OutOfMemoryException), memory_limit(_MEMORY_MB):
            return _written(store, folder, samples)
        return _written(store, folder, samples)


def _written(store: Store, folder: Path, samples: str) -> SiteFolder:
    with opened_site(store, PAGE_TYPES, samples=samples) as site:
        written = SiteFolder(folder)
        for page in _files(site):
            written.add(page)
        written.finish()
    return written


def _files(site: Site) -> Iterator[Page]:
    """Yield the files of a site, the overview last."""
    yield from assets()
    overview = []
    for page_type in site.types:
        for page in page_type.pages(site):
            if page.path == OVERVIEW:
                overview.append(page)
            else:
                yield page
    yield from overview
