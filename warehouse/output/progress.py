"""A progress bar for many files, where somebody is there to see it."""

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

FEW = 20  # items: done before a bar would be of use


def track(items: Iterable[T], total: int, label: str) -> Iterator[T]:
    """Gives the items on, with a bar on standard error if that is a terminal.

    Args:
        items: what the work is done on, taken one by one.
        total: how many there are; up to 20 there is no bar.
        label: what is being done, printed before the bar.
    """
    if total <= FEW or not sys.stderr.isatty():
        yield from items
        return
    from rich import console, markup, progress  # 45 ms, only where it is seen

    err = console.Console(stderr=True)
    yield from progress.track(items, markup.escape(label), total, console=err, transient=True)
