"""Writes the site of a store to a folder."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from exports.site.addresses import OVERVIEW
from exports.site.folder import ALL, SiteFolder, site_lock
from exports.site.page import Contents
from exports.site.registry import PAGE_TYPES
from exports.site.rendering import assets, code_digest
from exports.site.site import opened_site
from warehouse.core.errors import OutOfMemory
from warehouse.engine.connection import memory_limit
from warehouse.engine.tables.state import read_state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from exports.site.page import Page
    from exports.site.site import PageType, Site
    from warehouse.app.store import Store

    OnPage = Callable[[str, int], None]

# Of DuckDB: what it needs beyond goes to temporary files. Charts and pages take some 400 MB more.
_MEMORY_MB = 1_000


def write_site(
    store: Store,
    folder: Path,
    *,
    samples: str = "all",
    name: str = "evalstore",
    on_page: OnPage | None = None,
) -> SiteFolder:
    """Write the site of a store, and return the folder, which says what was written.

    The overview is written last: until then the folder has the one from before, or a page that
    says that the others are still being written.

    Args:
        store: the store.
        folder: a new or empty folder, or one with a site of ours.
        samples: which samples have pages: all, failed or none.
        name: the title of the site.
        on_page: called with the type of the page that comes next, before it is made, and with the
            number of files so far.

    Raises:
        BadInput: the folder holds something else, cannot be written, or another process writes to
            it.
    """
    import duckdb

    with site_lock(folder):
        # Some of what DuckDB keeps cannot go to temporary files, such as lists of texts.
        with suppress(OutOfMemory, duckdb.OutOfMemoryException), memory_limit(_MEMORY_MB):
            return _written(store, folder, samples, name, on_page)
        return _written(store, folder, samples, name, on_page)


def _written(
    store: Store, folder: Path, samples: str, name: str, on_page: OnPage | None
) -> SiteFolder:
    with opened_site(store, PAGE_TYPES, samples=samples, name=name) as site:
        written = SiteFolder(folder)
        if written.keep(ALL, _made_from(site)):
            return written
        for file in assets():
            written.add(file)
        unfinished = Contents(
            path=OVERVIEW, template="unfinished.html", title="Not finished", values={}
        )
        written.stand_in(replace(site, types=()).page(unfinished))
        for page_type, page in _pages(replace(site, keeps=written.keep)):
            if on_page is not None:
                on_page(page_type, written.n_files)
            if page is not None:
                written.add(page)
        written.finish()
    return written


def _made_from(site: Site) -> str:
    """Return a hash of all that the pages are made from: data, choices, templates and code."""
    state = read_state(site.connection)
    runs = sorted(site.run_names.items())  # an excerpt of a store has fewer, in the same batches
    types = [page_type.name for page_type in site.types]
    data = [state.schema, state.definitions, sorted(state.batches), runs, site.store.left_out]
    return sha256(repr([data, site.samples, site.name, types, code_digest()]).encode()).hexdigest()


def _pages(site: Site) -> Iterator[tuple[str, Page | None]]:
    """Yield the pages to write with the names of their types, the overview last.

    Before the first page of a type is made there is None, because that can take long.
    """
    overview: list[PageType] = []
    for page_type in site.types:
        yield page_type.name, None
        addresses = dict(page_type.addresses(site))
        if addresses.pop(OVERVIEW, None) is not None:
            overview.append(page_type)
        for page in site.pages(page_type, addresses):
            yield page_type.name, page
    for page_type in overview:
        for page in site.pages(page_type, {OVERVIEW: ()}):
            yield page_type.name, page
