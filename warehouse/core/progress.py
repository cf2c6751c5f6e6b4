"""A progress bar, shown on terminals only."""

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

FEW = 20  # items: fewer are finished before a bar would be useful


def track(items: Iterable[T], total: int, label: str) -> Iterator[T]:
    """Yield the items, with a progress bar on standard error if that is a terminal.

    Args:
        items: the items of work, read one at a time.
        total: the number of items; no bar is shown for 20 or fewer.
        label: the kind of work, shown before the bar.
    """
    if total <= FEW or not sys.stderr.isatty():
        yield from items
        return
    from rich import console, markup, progress  # takes 45 ms; needed on terminals only

    err = console.Console(stderr=True)
    yield from progress.track(items, markup.escape(label), total, console=err, transient=True)
