"""Databases in memory, to query files."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def open_in_memory(*, threads: int | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open an empty in-memory database, to query files.

    Args:
        threads: threads of a query; None for one per processor.
    """
    connection = duckdb.connect(config={} if threads is None else {"threads": threads})
    try:
        yield connection
    finally:
        connection.close()
