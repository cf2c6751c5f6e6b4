"""Opens a folder as the store that it is: a lake, or tables that are only read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.app.store import Store
from warehouse.engine.base_store import warn

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def open_store(
    path: Path,
    *,
    on_warning: Callable[[str], None] = warn,
    on_rebuild: Callable[[str], None] | None = None,
) -> Store:
    """Open a folder as the store that it is: with a lake, or tables that are only read.

    Args:
        path: the folder.
        on_warning: told about data missing from the figures, and why.
        on_rebuild: told, before the warehouse is built and that takes a while, why and how long.

    Raises:
        StoreUnreachable: the object store behind it cannot be reached.
    """
    from warehouse.lake.table_location import find_tables

    place = find_tables(path)
    if place is None:
        return Store(path, on_warning=on_warning, on_rebuild=on_rebuild)
    from warehouse.app.tables_store import TablesStore

    return TablesStore(path, place, on_warning=on_warning)
