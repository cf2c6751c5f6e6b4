"""Collects rows as columns, which take a small part of the memory of rows."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pyarrow as pa

from ingest.streamed_runs import as_table
from warehouse.core.schemas import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.core.types import Row

# Few enough that the rows are still in the processor's cache when columns are made of them.
_ROWS_AT_ONCE = 256


class CollectedRows:
    """The rows of a block of a stream."""

    def __init__(self) -> None:
        self._rows: dict[str, list[Row]] = defaultdict(list)
        self._columns: dict[str, list[pa.Table]] = {}

    def add(self, table: str, row: Row) -> None:
        """Add a row of a table."""
        rows = self._rows[table]
        rows.append(row)
        if len(rows) >= _ROWS_AT_ONCE:
            self._convert(table)

    def extend(self, table: str, new: Sequence[Row]) -> None:
        """Add rows of a table."""
        rows = self._rows[table]
        rows += new
        if len(rows) >= _ROWS_AT_ONCE:
            self._convert(table)

    def taken(self) -> dict[str, pa.Table | Sequence[Row]]:
        """Return the rows by table name, which are then no longer held.

        A few are returned as they are: the import joins them with those of other files.

        Raises:
            UnknownColumn: a row has a column that its table lacks.
        """
        for table in self._columns:
            self._convert(table)
        rows, self._rows = self._rows, defaultdict(list)
        columns, self._columns = self._columns, {}
        joined = {
            table: pa.concat_tables(parts, promote_options="default")
            for table, parts in columns.items()
        }
        return {**rows, **joined}

    def _convert(self, table: str) -> None:
        rows = self._rows[table]
        if rows:
            self._columns.setdefault(table, []).append(as_table(rows, BY_NAME[table]))
            self._rows[table] = []
