"""The page of runs in progress, and the stream of events that fills it and the overview."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING

from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from exports.view.feature import Feature, page_response
from exports.view.live.watch import Watch
from warehouse.core.errors import EvalstoreError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from exports.view.store_pages import StorePages

PAGE = "view/live"
_SECONDS = 0.5  # between two looks at the journals
_SHARE = 0.1  # of a processor at most: runs of a million calls are looked at less often
_MOST_LISTENERS = 50
_KEPT_SECONDS = 60.0  # what was read, for a page that comes back


class Feed:
    """What pages show of runs in progress, looked up only while a page listens.

    Args:
        pages: the pages of the store.
    """

    def __init__(self, pages: StorePages) -> None:
        self._path = pages.path
        self._watch: Watch | None = None
        self._lock = asyncio.Lock()
        self._n_listeners = 0
        self._data = b""
        self._next_at = 0.0
        self._left_at = 0.0

    @property
    def is_full(self) -> bool:
        """Whether no more pages can listen."""
        return self._n_listeners >= _MOST_LISTENERS

    async def listen(self) -> AsyncIterator[bytes]:
        """Yield an event at once, and whenever something has changed."""
        self._n_listeners += 1
        sent = b""
        try:
            while True:
                data = await self._latest()
                if data != sent:
                    yield b"data: " + data + b"\n\n"
                    sent = data
                await asyncio.sleep(max(self._next_at - time.monotonic(), 0.01))
        finally:
            self._n_listeners -= 1
            self._left_at = time.monotonic()
            asyncio.get_running_loop().call_later(_KEPT_SECONDS, self._forget)

    async def _latest(self) -> bytes:
        async with self._lock:
            if time.monotonic() >= self._next_at:
                self._data, self._next_at = await asyncio.to_thread(self._look)
        return self._data

    def _look(self) -> tuple[bytes, float]:
        """Return what is in progress, and when to look at it again."""
        self._watch = self._watch or Watch(self._path)
        began, used = time.monotonic(), time.thread_time()
        try:
            state = {**self._watch.poll(), "problem": ""}
        except (EvalstoreError, OSError) as error:
            state = {"runs": [], "n_more": 0, "writing": [], "problem": str(error)}
        took = time.thread_time() - used
        return json.dumps(state).encode(), began + max(_SECONDS, took / _SHARE)

    def _forget(self) -> None:
        is_unused = time.monotonic() - self._left_at >= _KEPT_SECONDS
        if self._watch is not None and not self._n_listeners and is_unused:
            self._watch.close()
            self._watch = None


def _routes(pages: StorePages) -> Sequence[BaseRoute]:
    feed = Feed(pages)

    def page(_: Request) -> Response:
        return page_response(pages, PAGE, "live.html", "Live")

    async def events(_: Request) -> Response:
        if feed.is_full:
            return Response("too many pages listen; close some\n", 503)
        return StreamingResponse(feed.listen(), media_type="text/event-stream")

    return [Route(f"/{PAGE}", page), Route("/view/events", events)]


FEATURE = Feature(title="Live", entry=PAGE, routes=_routes, scripts=("view/assets/live.js",))
