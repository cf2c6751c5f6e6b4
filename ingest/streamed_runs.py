"""The runs of a stream: which of their rows the lake has, and which are to be written."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest.reconciliation import FileOutcome, conflict_message, next_generation
from warehouse.connection import open_in_memory
from warehouse.hashing import content_hash
from warehouse.lake.contents import COMPARED
from warehouse.lake.writer import ROWS_PER_GROUP
from warehouse.schemas import BY_NAME, arrow_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from warehouse.lake.batch import Generation
    from warehouse.lake.writer import BatchWriter
    from warehouse.schemas import Table
    from warehouse.types import Row

    Rows: TypeAlias = pa.Table | Sequence[Row]

_COMPARED = {table.name for table in COMPARED}
_PLACES = pa.schema([("content_id", pa.string()), ("seq", pa.int64())])
_BARE_COLUMNS = {"suite", "run_id", "generation", "parent_generation", "content_id"} | {
    "origin",
    "source_rows",
}
_BUFFERED_BYTES = 16 * 2**20
_FIRST = 1  # the place of rows whose table has no column `seq`


@dataclass(slots=True)
class Places:
    """Content ids of a run's rows and their places (`seq`): about 50 bytes for each row.

    Attributes:
        compared: of rows that a source of the run must not lack if it brings new ones.
        others: of the other rows of the run.
    """

    compared: list[pa.Table] = field(default_factory=list)
    others: list[pa.Table] = field(default_factory=list)

    def add(self, more: Places) -> None:
        """Add the rows of another stream."""
        self.compared += more.compared
        self.others += more.others

    def add_rows(self, name: str, rows: pa.Table) -> None:
        """Add rows of a table, unless they belong to no run."""
        if name in _COMPARED:
            self.compared.append(_places(rows))
        elif BY_NAME[name].of_run:
            self.others.append(_places(rows))


@dataclass(slots=True, kw_only=True)
class StreamedRun:
    """A run of a stream.

    Attributes:
        outcome: how its import ends.
        generation: that its rows belong to.
        n_records: rows that are compared, for `source_rows`.
        n_results: results written.
        message: why it was refused, human-readable.
        wanted: content ids to be written when the stream is read again; None for none.
        places: of the rows read so far.
    """

    outcome: FileOutcome
    generation: Generation
    n_records: int = 0
    n_results: int = 0
    message: str = ""
    wanted: pa.Array | None = None
    places: Places = field(default_factory=Places)

    @property
    def columns(self) -> dict[str, str]:
        """The columns that all rows of the run share."""
        generation = self.generation
        return {
            "suite": generation.suite,
            "run_id": generation.run_id,
            "generation": generation.generation,
        }

    def add(self, rows: Mapping[str, pa.Table]) -> None:
        """Record the rows of a block, by table name."""
        for name, given in rows.items():
            self.places.add_rows(name, given)
            self.n_records += len(given) if name in _COMPARED else 0

    def compare(self, before: Places, *, replace: bool) -> None:
        """Decide on a run that the lake has, by the rows that it had before."""
        now, known = _joined(self.places.compared), _joined(before.compared)
        now_others, known_others = _joined(self.places.others), _joined(before.others)
        n_missing, n_new = _n_not_in(known, now), _n_not_in(now, known)
        if n_missing and replace:
            self.outcome = FileOutcome.REPLACED
            self.wanted = _joined([now, now_others])["content_id"]
            ids = now["content_id"].to_pylist()
            self.generation = next_generation(self.generation, ids)
        elif n_missing and n_new:
            self.outcome = FileOutcome.CONFLICT
            self.message = conflict_message(self.generation.run_id, n_missing, n_new)
        else:
            wanted = _new_ids(now_others, known_others)
            if n_new:
                wanted = pa.concat_arrays([wanted, _new_ids(now, known)])
            if len(wanted):
                self.outcome, self.wanted = FileOutcome.GROWN, wanted


def header_of(run: StreamedRun, headers: Sequence[Row]) -> Row:
    """Return the run's header; a run that only the stream mentions gets a bare one."""
    generation = run.generation
    bare = {"suite": generation.suite, "run_id": generation.run_id, "origin": "import"}
    row = {**(headers[0] if headers else bare), "source_rows": run.n_records}
    parent = {"parent_generation": generation.parent}
    return {**row, **run.columns, **parent, "content_id": content_hash("run", row)}


def is_bare(header: Row) -> bool:
    """Return whether a header says only that there is a run."""
    return all(value is None or name in _BARE_COLUMNS for name, value in header.items())


def as_table(rows: Rows, table: Table) -> pa.Table:
    """Return rows in columns, those that they have.

    Raises:
        UnknownColumn: they have a column that the table lacks.
    """
    if isinstance(rows, pa.Table):
        table.check_columns(rows.column_names)
        return rows
    names = set[str]().union(*rows)
    table.check_columns(names)
    schema = pa.schema([column for column in arrow_schema(table) if column.name in names])
    return pa.Table.from_pylist([dict(row) for row in rows], schema)


def filtered(rows: pa.Table, wanted: pa.Array) -> pa.Table:
    """Return the rows whose content id is among those wanted."""
    return rows.filter(pc.is_in(rows["content_id"], value_set=wanted))


def completed(rows: pa.Table, table: Table, shared: Mapping[str, str]) -> pa.Table:
    """Return rows with all columns of a table, some of them the same for all rows."""
    schema = arrow_schema(table)
    columns = []
    for column in schema:
        if column.name in shared:
            columns.append(pa.repeat(pa.scalar(shared[column.name], column.type), len(rows)))
        elif column.name in rows.column_names:
            columns.append(rows[column.name])
        else:
            columns.append(pa.nulls(len(rows), column.type))
    return pa.Table.from_arrays(columns, schema=schema)


class RowBuffer:
    """Rows on their way to a batch: blocks of any size become row groups of a useful one."""

    def __init__(self, writer: BatchWriter) -> None:
        self._writer = writer
        self._waiting: dict[str, list[pa.Table]] = {}
        self._n_rows: Counter[str] = Counter()
        self._n_bytes: Counter[str] = Counter()

    def add(self, table: Table, rows: pa.Table) -> None:
        """Add rows that have all columns of a table."""
        self._waiting.setdefault(table.name, []).append(rows)
        self._n_rows[table.name] += len(rows)
        self._n_bytes[table.name] += rows.nbytes
        if (
            self._n_rows[table.name] >= ROWS_PER_GROUP
            or self._n_bytes[table.name] >= _BUFFERED_BYTES
        ):
            self._write(table)

    def flush(self) -> None:
        """Write what is waiting."""
        for name in list(self._waiting):
            self._write(BY_NAME[name])

    def _write(self, table: Table) -> None:
        del self._n_rows[table.name], self._n_bytes[table.name]
        self._writer.add_table(table, pa.concat_tables(self._waiting.pop(table.name)))


def _places(rows: pa.Table) -> pa.Table:
    if "seq" not in rows.column_names:
        rows = rows.append_column("seq", pa.repeat(pa.scalar(_FIRST, pa.int64()), len(rows)))
    # Copied: a slice of what DuckDB returned would keep all columns of it in memory.
    return rows.select(_PLACES.names).cast(_PLACES).take(np.arange(len(rows)))


def _joined(places: Iterable[pa.Table]) -> pa.Table:
    return pa.concat_tables([_PLACES.empty_table(), *places])


def _n_not_in(these: pa.Table, those: pa.Table) -> int:
    found = pc.is_in(these["content_id"], value_set=those["content_id"])
    return len(these) - int(pc.sum(found).as_py() or 0)


def _new_ids(now: pa.Table, before: pa.Table) -> pa.Array:
    """Return the ids that are new, or at a later place than in a smaller part of the log."""
    if not len(now):
        return pa.array([], pa.string())
    with open_in_memory() as connection:
        connection.register("now", now)
        connection.register("before", before)
        return (
            connection.sql(
                """
                SELECT now.content_id
                FROM now LEFT JOIN before ON now.content_id = before.content_id
                GROUP BY now.content_id
                HAVING coalesce(max(before.seq), 0) < max(now.seq)
                """
            )
            .to_arrow_table()["content_id"]
            .combine_chunks()
        )
