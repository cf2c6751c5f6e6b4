"""Rows by what they are about: one query serves all pages of a type."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warehouse.core.types import Row

T = TypeVar("T")


def by(rows: Iterable[Row], *names: str) -> defaultdict[tuple[object, ...], list[Row]]:
    """Return rows by the values of some columns, in their order; an empty list for others."""
    groups: defaultdict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in names)].append(row)
    return groups


def parts(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """Return items in parts of at most a size."""
    return [items[at : at + size] for at in range(0, len(items), size)]
