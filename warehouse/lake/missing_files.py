"""The files of loaded batches that can no longer be read.

Figures come from the warehouse and stay complete without them, until it is rebuilt. So they are
reported while a backup may still have them.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

import duckdb

from warehouse.lake.locks import shared_lake_lock

if TYPE_CHECKING:
    from pathlib import Path

    from warehouse.lake.lake import Lake

# Many batches, merged, are few folders.
_FILES = "SELECT folder, tables FROM lake.batches GROUP BY ALL"


def unreadable_files(connection: duckdb.DuckDBPyConnection, lake: Lake) -> list[str]:
    """Return a message for each file of the loaded batches that is missing or cannot be read.

    Their content is not read: `evalstore info --verify` does that.

    Args:
        connection: the open warehouse.
        lake: the lake it was built from.
    """
    try:
        rows = connection.execute(_FILES).fetchall()
    except duckdb.Error:  # a warehouse of another version, which could not be updated
        return []
    files = {(folder, f"{table}.parquet") for folder, tables in rows for table in tables}
    files |= {(folder, "batch.json") for folder, _ in rows}
    suspects = [
        lake.path / folder / name
        for folder, name in sorted(files)
        if _problem(f"{lake.path}/{folder}/{name}") is not None
    ]
    if not suspects:
        return []
    with shared_lake_lock(lake.store_path):
        folders = lake.batch_names()  # others may have been merged or forgotten in the meantime
        return [
            f"{path}: {problem}; the figures still contain its rows, but a rebuild would lose "
            "them: restore the file from a backup"
            for path in suspects
            if path.parent.name in folders and (problem := _problem(path)) is not None
        ]


def _problem(path: Path | str) -> str | None:
    """Return why a file cannot be read; None if it can."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - of a text, which is faster to build
    except OSError as error:
        return error.strerror
    if not stat.S_ISREG(mode):
        return "not a regular file"
    return None if os.access(path, os.R_OK) else os.strerror(errno.EACCES)
