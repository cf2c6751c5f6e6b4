"""The pages of a store as it is now, made when a browser asks for them."""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import PurePosixPath
from threading import Lock, Timer
from typing import TYPE_CHECKING

from exports.site.addresses import OVERVIEW
from exports.site.registry import PAGE_TYPES
from exports.site.rendering import assets
from exports.site.site import Known, opened_site, shown_types
from warehouse.app.opening import open_store
from warehouse.core.errors import StoreBusy
from warehouse.engine.connection import memory_limit
from warehouse.engine.tables.state import read_state
from warehouse.engine.tables.sync import is_syncing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from exports.site.page import Contents
    from exports.site.site import PageType, ServerParts, Site
    from warehouse.app.store import Store

AS_OF = b"<!-- as of -->"

_SHARED_SECONDS = 2.0  # requests of this time share a connection, and then it is closed
_PATIENCE_SECONDS = 30.0  # for a sync of another process
_POLL_SECONDS = 0.02
_MEMORY_MB = 1_000  # of DuckDB, for a query
_CACHE_BYTES = 64 * 2**20
_UNDRAWN_BYTES = 2**18  # about what the rows of a picture take that nobody has asked for


class StorePages:
    """Makes the pages of a store, one at a time, and keeps those of its present state.

    The warehouse is open only while requests come, and never while another process syncs: its
    figures are at most two seconds old, or those from before that sync.

    Args:
        path: the store.
        name: the title of the site.
        server: returns what only pages of a server have, given the warnings about the store.
        pictures: folder with pictures of tasks, `<id of the task>.<suffix>`.
    """

    def __init__(
        self,
        path: Path,
        *,
        name: str,
        server: Callable[[Site, Sequence[str]], ServerParts],
        pictures: Path | None = None,
    ) -> None:
        self.path = path
        self.pictures = pictures
        self._warnings: list[str] = []
        self._store = open_store(path, on_warning=self._warnings.append)
        self._name = name
        self._server = server
        self._lock = Lock()
        self._opened = ExitStack()
        self.at_end = ExitStack()  # what else is closed with the pages
        self._site: Site | None = None
        self._read_at = float("-inf")
        self._as_of = ""
        self._state: object = None
        self._shown: Sequence[PageType] = ()
        self._known = Known()
        self._addresses: dict[str, tuple[PageType, tuple[str | None, ...]]] = {}
        self._searched: set[str] = set()  # the types of pages whose addresses are known
        self._cache: dict[str, bytes | Callable[[], bytes]] = {}  # as `Page.content`
        self._n_cached = 0  # bytes
        self._shared = {file.path: file.data for file in assets()}

    def file(self, path: str) -> bytes | None:
        """Return a page, or a file that pages load; None if there is none of this path.

        Raises:
            EvalstoreError: the store cannot be read now.
        """
        if path in self._shared:
            return self._shared[path]
        with self._lock:
            if not (self._is_held_elsewhere() and path in self._cache):
                site = self._fresh_site()
                if path not in self._cache:
                    self._make(site, path)
            data = self._cache.get(path)
            if callable(data):
                data = data()
                self._keep(path, data)
            return None if data is None else self._stamped(data)

    def render(self, contents: Contents) -> bytes:
        """Return a page that is not of the site, in its frame.

        Raises:
            EvalstoreError: the store cannot be read now.
        """
        with self.reading() as site:
            return self._stamped(site.page(contents).data)

    @contextmanager
    def reading(self, *, max_seconds: float | None = None) -> Iterator[Site]:
        """Yield the site, whose connection may be used until the end of the block.

        Args:
            max_seconds: time after which its query is interrupted.

        Raises:
            EvalstoreError: the store cannot be read now.
        """
        with self._lock:
            site = self._fresh_site()
            timer = Timer(max_seconds or 0, site.connection.interrupt)
            if max_seconds is not None:
                timer.start()
            try:
                yield site
            finally:
                timer.cancel()

    @contextmanager
    def writing(self) -> Iterator[Store]:
        """Yield the store, with the warehouse closed; pages made afterwards have what is added."""
        with self._lock:
            self._close()
            yield self._store

    def close(self) -> None:
        """Close the warehouse, if it is open, and what was opened for the time of the pages."""
        with self._lock:
            self._close()
        self.at_end.close()

    def close_if_idle(self) -> None:
        """Close the warehouse if no later request can share its connection."""
        if self._lock.acquire(blocking=False):
            try:
                if not self._is_fresh():
                    self._close()
            finally:
                self._lock.release()

    def _is_fresh(self) -> bool:
        return self._site is not None and time.monotonic() - self._read_at < _SHARED_SECONDS

    def _is_held_elsewhere(self) -> bool:
        if not is_syncing(self.path):
            return False
        self._close()  # it waits for us
        return True

    def _fresh_site(self) -> Site:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while self._is_held_elsewhere():
            if time.monotonic() > deadline:
                raise StoreBusy(
                    "another process is updating the warehouse; load the page again when it is done"
                )
            time.sleep(_POLL_SECONDS)
        if self._site is None or not self._is_fresh():
            self._close()
            self._site = self._open()
        return self._site

    def _open(self) -> Site:
        self._warnings.clear()
        with memory_limit(_MEMORY_MB):
            opened = opened_site(
                self._store, PAGE_TYPES, samples="all", name=self._name, choose=self._types
            )
            site = self._opened.enter_context(opened)
        site = replace(site, known=self._known)
        site = replace(site, server=self._server(site, self._warnings))
        self._read_at = time.monotonic()
        self._as_of = f"{datetime.now().astimezone():%H:%M:%S}"
        return site

    def _types(self, site: Site, types: Sequence[PageType]) -> Sequence[PageType]:
        """Return the types of pages of the site: without looking, if the store is as it was."""
        state = (read_state(site.connection), tuple(self._warnings))
        if state != self._state:
            self._state = state
            self._cache, self._n_cached = {}, 0
            self._known = Known(answers=site.known.answers, tables={})
            self._shown = shown_types(replace(site, known=self._known), types)
        return self._shown

    def _close(self) -> None:
        self._opened.close()
        self._site = None
        # What they are made from may be temporary tables of the connection.
        self._addresses, self._searched = {}, set()

    def _stamped(self, data: bytes) -> bytes:
        return data.replace(AS_OF, self._as_of.encode(), 1)

    def _make(self, site: Site, path: str) -> None:
        """Make a page or file, if there is one, and keep it with those made on the way."""
        folders = {"", path.partition("/")[0]}
        unsearched = [each for each in site.types if each.name not in self._searched]
        types = iter([each for each in unsearched if each.folder in folders])
        while path not in self._addresses and (page_type := next(types, None)) is not None:
            found = page_type.addresses(site).items()
            self._addresses |= {each: (page_type, about) for each, about in found}
            self._searched.add(page_type.name)
        page_path = _page_with(path, self._addresses)
        if page_path is None:
            return
        page_type, about = self._addresses[page_path]
        for page in site.pages(page_type, {page_path: about}):
            self._keep(page.path, page.content)
            if page.path == path:
                return

    def _keep(self, path: str, data: bytes | Callable[[], bytes]) -> None:
        self._n_cached += _size(data) - _size(self._cache.pop(path, b""))
        self._cache[path] = data
        while self._n_cached > _CACHE_BYTES and len(self._cache) > 1:
            self._n_cached -= _size(self._cache.pop(next(iter(self._cache))))


def _size(data: bytes | Callable[[], bytes]) -> int:
    return len(data) if isinstance(data, bytes) else _UNDRAWN_BYTES


def _page_with(path: str, addresses: Mapping[str, object]) -> str | None:
    """Return the path of the page that a file goes with; see `PageType.render`."""
    if path in addresses:
        return path
    folders = [str(parent) for parent in PurePosixPath(path).parents if parent.name]
    pages = (page for folder in folders for page in (f"{folder}.html", f"{folder}/{OVERVIEW}"))
    return next((page for page in pages if page in addresses), None)
