"""Recognises a folder that is a store."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from warehouse.lake.lake import Lake

if TYPE_CHECKING:
    from pathlib import Path

_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")


def is_store(path: Path) -> bool:
    """Return whether a folder is a store: its lake has batches, or it has a warehouse and lock.

    Raises:
        StoreUnreadable: its lake cannot be listed.
    """
    if any(map(is_batch_name, Lake(path).batch_names())):
        return True
    return (path / "warehouse.duckdb").is_file() and (path / "lake.lock").is_file()


def is_batch_name(name: str) -> bool:
    """Return whether a name is that of a batch, a ULID."""
    return _ULID.fullmatch(name) is not None
