"""Copies of imported files, which the cache of an object store fetches when a query reads them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from warehouse.core.schemas import FILES
from warehouse.engine.connection import open_for_writing
from warehouse.engine.tables.loading import lake_rows
from warehouse.engine.tables.sync import sync_lock
from warehouse.lake.locks import shared_lake_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from pathlib import Path

    import duckdb

    from warehouse.lake.lake import Lake

# What has the copies; the view `files` says which there are.
_TABLE = re.compile(r'\b"?lake"?\s*\.\s*"?files\b', re.IGNORECASE)
_VIEW = re.compile(r"\bpublished_files\b", re.IGNORECASE)
_LACKING = """
SELECT DISTINCT folder
FROM lake.files
JOIN lake.batches USING (batch)
WHERE octet_length(content) = 0 AND size_bytes > 0
"""
_LOAD = f"""
UPDATE lake.files SET content = fetched.content
FROM {lake_rows(FILES)} AS fetched
WHERE octet_length(files.content) = 0
    AND files.content_id = fetched.content_id AND files.batch = fetched.batch
"""
_OF_REPORTS = "AND sha256 IN (SELECT sha256 FROM published_files)"


def folders_without_copies(connection: duckdb.DuckDBPyConnection, query: str) -> list[str]:
    """Return the folders of the lake whose copies a query may read and the warehouse lacks.

    Which it reads is found by the names in it: all for `lake.files`.
    """
    if _TABLE.search(query):
        condition = ""
    elif _VIEW.search(query):
        condition = _OF_REPORTS
    else:
        return []
    return sorted(name for (name,) in connection.execute(_LACKING + condition).fetchall())


def fetch(
    lake: Lake, names: Collection[str], on_fetch: Callable[[str], None] | None
) -> dict[str, str]:
    """Fetch the copies of imported files that the cache of an object store lacks; say so.

    Args:
        lake: the lake.
        names: the folders whose copies are read.
        on_fetch: told how much is fetched, and from where, if anything is.

    Returns:
        What is wrong with those that cannot be used, by the name of their folder.

    Raises:
        StoreUnreachable: the object store cannot be reached.
    """
    lists = [each for each in map(lake.file_list, names) if each is not None]
    if lake.mirror is None or not lists:
        return {}
    if on_fetch is not None:
        mib = sum(each.whole_bytes for each in lists) / 2**20
        on_fetch(
            f"fetching the copies of imported files ({mib:,.1f} MiB in {len(lists):,} "
            f"object{'s' * (len(lists) > 1)}) from {lake.mirror.address}"
        )
    return lake.mirror.fetch_copies(names)


def load_copies(warehouse: Path, lake: Lake, folders: Iterable[str], wait_seconds: float) -> None:
    """Load copies that were fetched into the warehouse, one folder of the lake at a time.

    Raises:
        StoreBusy: another program holds the warehouse, or a sync is active.
        StoreDamaged: a folder was replaced meanwhile.
    """
    with (
        sync_lock(lake.store_path),
        shared_lake_lock(lake.store_path),
        open_for_writing(warehouse, wait_seconds=wait_seconds, has_functions=False) as connection,
    ):
        for name in folders:
            connection.execute(_LOAD, {"paths": lake.files([lake.read(name)], FILES.name)})
