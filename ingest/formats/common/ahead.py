"""Makes the next of some items in another thread while one of them is used."""

from __future__ import annotations

from concurrent.futures import wait
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Generator
    from concurrent.futures import Executor

T = TypeVar("T")


def ahead(items: Generator[T], pool: Executor) -> Generator[T]:
    """Yield items in their order; a thread of the pool makes one ahead of the caller.

    At the end, also when it is closed early, it waits for that thread and closes `items`. Errors of
    `items` are raised where the item would have come.

    Args:
        items: the items; only this generator may use them.
        pool: has a thread that is free for them.
    """
    end = object()
    waiting = pool.submit(next, items, end)
    try:
        while (item := waiting.result()) is not end:
            waiting = pool.submit(next, items, end)
            yield item  # type: ignore[misc]
            # What was used must not wait in memory for what comes next.
            del item
    finally:
        # A generator that is running cannot be closed.
        wait([waiting])
        items.close()
