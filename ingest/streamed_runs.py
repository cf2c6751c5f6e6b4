"""The runs of a stream: which of their rows the lake has, and which are to be written."""

from __future__ import annotations

import mmap
import tempfile
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, lru_cache
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
import pyarrow as pa

from ingest.reconciliation import FileOutcome, conflict_message, next_generation
from warehouse.core.hashing import content_hash
from warehouse.core.schemas import (
    BY_NAME,
    EVENTS,
    REPORTED_METRICS,
    RESULT_SCORES,
    RESULTS,
    arrow_schema,
)
from warehouse.lake.contents import COMPARED
from warehouse.lake.writer import ROWS_PER_GROUP, arrow_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from warehouse.core.schemas import Table
    from warehouse.core.types import Row
    from warehouse.lake.batch import Generation
    from warehouse.lake.writer import BatchWriter

    Rows: TypeAlias = pa.Table | Sequence[Row]
    _Columns: TypeAlias = tuple[list[str], list[int | None]]

_RECORDS = {table.name for table in COMPARED}
# Another score of the same result contradicts the lake; it is not growth.
_COMPARED = _RECORDS | {RESULT_SCORES.name}
_PLACES = pa.schema([("content_id", pa.string()), ("seq", pa.int64())])
_BARE_COLUMNS = {"suite", "run_id", "generation", "parent_generation", "content_id"} | {
    "origin",
    "source_rows",
}
_BUFFERED_BYTES = 4 * 2**20
_LOOSE_ROWS = 2000
_SHARED_ROWS = 2**14
_LOOSE_BYTES = 4 * 2**20
_PLACES_IN_MEMORY = 300_000
_FIRST = 1  # the place of rows whose table has no column `seq`


@dataclass(slots=True)
class Places:
    """Content ids of a run's rows and their places (`seq`): about 50 bytes for each row.

    Those of many rows are moved to temporary files, since few imports need them again.

    Attributes:
        tables: the rows by table name, as tables, or as lists of both columns for a few rows.
    """

    tables: dict[str, list[pa.Table | _Columns]] = field(default_factory=dict)
    _n_parts_waiting: Counter[str] = field(default_factory=Counter)
    _n_rows_waiting: int = 0

    def add(self, more: Places) -> None:
        """Add the rows of another stream."""
        for name, rows in more.tables.items():
            self.tables[name] = [*rows, *self.tables.get(name, ())]

    def add_rows(self, name: str, rows: Rows) -> None:
        """Add rows of a table, if its rows belong to runs."""
        if not BY_NAME[name].of_run:
            return
        self.tables.setdefault(name, []).append(_places(rows))
        self._n_parts_waiting[name] += 1
        self._n_rows_waiting += len(rows)
        if self._n_rows_waiting > _PLACES_IN_MEMORY:
            self._move()

    def _move(self) -> None:
        """Move the rows that were added last to files."""
        for name, n_parts in self._n_parts_waiting.items():
            parts = self.tables[name]
            parts[-n_parts:] = [_in_file(pa.concat_tables(map(_as_places, parts[-n_parts:])))]
        self._n_parts_waiting, self._n_rows_waiting = Counter(), 0

    def beginning_with(self, parts: frozenset[str]) -> Places:
        """Return the rows whose ids begin with one of some texts of one length; all without any."""
        if not parts:
            return self
        import pyarrow.compute as pc

        length, wanted = len(next(iter(parts))), pa.array(sorted(parts))
        found = {name: self.of(name) for name in self.tables}
        begins = {
            name: pc.utf8_slice_codeunits(rows["content_id"], 0, length)
            for name, rows in found.items()
        }
        return Places(
            {
                name: [rows.filter(pc.is_in(begins[name], value_set=wanted))]
                for name, rows in found.items()
            }
        )

    def of(self, name: str) -> pa.Table:
        """Return the rows of a table."""
        parts = self.tables.get(name, ())
        return pa.concat_tables([_PLACES.empty_table(), *map(_as_places, parts)])


@dataclass(slots=True, kw_only=True)
class StreamedRun:
    """A run of a stream.

    Attributes:
        outcome: outcome of its import.
        generation: generation of its rows.
        n_records: number of compared rows, for `source_rows`.
        n_results: number of results written that the lake lacked.
        message: why it was refused, human-readable.
        known: ids of results that the lake has; some are written again at a later place.
        wanted: ids to be written when the stream is read again, by table name; None for none.
        places: places of the rows read so far.
    """

    outcome: FileOutcome
    generation: Generation
    n_records: int = 0
    n_results: int = 0
    message: str = ""
    known: pa.Array | None = None
    wanted: dict[str, pa.Array] | None = None
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

    def add(self, rows: Mapping[str, Rows]) -> None:
        """Record the rows of a block, by table name."""
        for name, given in rows.items():
            self.places.add_rows(name, given)
            self.n_records += len(given) if name in _RECORDS else 0

    def count_results(self, rows: Rows) -> None:
        """Count the new ones of the results that are written."""
        n_known = 0
        if self.known is not None and isinstance(rows, pa.Table):
            import pyarrow.compute as pc

            n_known = int(pc.sum(pc.is_in(rows["content_id"], value_set=self.known)).as_py() or 0)
        self.n_results += len(rows) - n_known

    def compare(
        self, before: Places, *, replace: bool, is_part: bool = False, is_open: bool = False
    ) -> None:
        """Decide how to import a run that the lake has, given its earlier rows.

        Args:
            before: rows of the run in the lake and in this import.
            replace: whether a conflict opens a new generation.
            is_part: whether the stream is a part of the run, see `Stream.parts`; it cannot replace
                the run, of which it would drop the other parts.
            is_open: whether nothing is missing from the stream, see `Stream.is_open`.
        """
        now = {name: self.places.of(name) for name in self.places.tables}
        # Scores that list only the failures say by their figures what passed.
        has_failures_only = RESULTS.name not in now and EVENTS.name in now.keys() | before.tables
        compared = _COMPARED | {REPORTED_METRICS.name} if has_failures_only else _COMPARED
        known = {name: before.of(name) for name in compared | now.keys()}
        n_missing = 0
        if not is_open:
            n_missing = sum(_n_not_in(known[name], self.places.of(name)) for name in compared)
        n_new = sum(_n_not_in(rows, known[name]) for name, rows in now.items() if name in compared)
        if n_missing and replace and not is_part:
            self.outcome = FileOutcome.REPLACED
            self.wanted = {name: rows["content_id"] for name, rows in now.items()}
            ids = (self.wanted[name].to_pylist() for name in now if name in compared)
            self.generation = next_generation(self.generation, chain.from_iterable(ids))
        elif n_missing and n_new:
            self.outcome = FileOutcome.CONFLICT
            self.message = conflict_message(
                self.generation.run_id, n_missing, n_new, is_part=is_part
            )
        else:
            # Records at other places, but none of them new: a smaller part of the same log.
            news = {
                name: _new_ids(rows, known[name])
                for name, rows in now.items()
                if n_new or name not in compared
            }
            if any(map(len, news.values())):
                self.outcome, self.wanted = FileOutcome.GROWN, news
                self.known = known[RESULTS.name]["content_id"]


def header_of(run: StreamedRun, headers: Sequence[Row]) -> Row:
    """Return the run's header; a minimal one for a run that only the stream mentions."""
    generation = run.generation
    bare = {"suite": generation.suite, "run_id": generation.run_id, "origin": "import"}
    row = {**bare, **(headers[0] if headers else {}), "source_rows": run.n_records}
    parent = {"parent_generation": generation.parent}
    hashed = {n: str(value) if isinstance(value, datetime) else value for n, value in row.items()}
    return {**row, **run.columns, **parent, "content_id": content_hash("run", hashed)}


def is_bare(header: Row) -> bool:
    """Return whether a header only states that the run exists."""
    return all(value is None or name in _BARE_COLUMNS for name, value in header.items())


def check_columns(rows: Rows, table: Table) -> None:
    """Check that rows have columns of a table only.

    Raises:
        UnknownColumn: they have a column that the table lacks.
    """
    if isinstance(rows, pa.Table):
        table.check_columns(rows.column_names)
    else:
        table.check_columns(set[str]().union(*rows))


def as_table(rows: Rows, table: Table) -> pa.Table:
    """Return rows as an Arrow table with the columns that they have.

    Raises:
        UnknownColumn: a row has a column that the table lacks.
    """
    if isinstance(rows, pa.Table):
        return rows
    names, columns = _columns(rows)
    table.check_columns(names)
    fields = _arrow_fields(table)
    schema = pa.schema([fields[name] for name in names])
    arrays = [pa.array(values, each.type) for values, each in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


@cache
def _arrow_fields(table: Table) -> dict[str, pa.Field]:
    return {column.name: column for column in arrow_schema(table)}


def _columns(rows: Sequence[Row]) -> tuple[Sequence[str], Iterable[Sequence[object]]]:
    """Return the columns that rows have, and the values of each, None where a row has none."""
    names = list(rows[0]) if rows else []
    if len(names) > 1 and set(map(len, rows)) == {len(names)}:
        with suppress(KeyError):  # most rows have the same columns
            return names, list(zip(*map(itemgetter(*names), rows), strict=True))
    names = list(dict.fromkeys(chain.from_iterable(rows)))
    return names, [[row.get(name) for row in rows] for name in names]


def filtered(rows: pa.Table, wanted: pa.Array | None) -> pa.Table:
    """Return the rows with wanted content ids; none if there are none."""
    if wanted is None:
        return rows.slice(0, 0)
    import pyarrow.compute as pc

    return rows.filter(pc.is_in(rows["content_id"], value_set=wanted))


def completed(rows: pa.Table, table: Table, shared: Mapping[str, str]) -> pa.Table:
    """Return rows with all columns of a table; `shared` has the columns equal for all rows."""
    schema = arrow_schema(table)
    # Most columns of a block are equal to those of the blocks before: they share their memory.
    n_rows = max(len(rows), _SHARED_ROWS)
    columns = [
        rows[column.name]
        if column.name in rows.column_names and column.name not in shared
        else _column_of(shared.get(column.name), column.type, n_rows).slice(0, len(rows))
        for column in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


@lru_cache(maxsize=16)
def _column_of(text: str | None, arrow_type: pa.DataType, n_rows: int) -> pa.Array:
    return pa.repeat(pa.scalar(text, arrow_type), n_rows)


class RowBuffer:
    """A buffer of rows for a batch, which joins blocks into row groups of a useful size.

    Blocks of a few rows, as small files have, are joined before they become Arrow tables: a table
    of all columns takes as long as a hundred rows.
    """

    def __init__(self, writer: BatchWriter) -> None:
        self._writer = writer
        self._loose: dict[str, list[Row]] = {}
        self._loose_bytes: Counter[str] = Counter()
        self._waiting: dict[str, list[pa.Table]] = {}
        self._n_rows: Counter[str] = Counter()
        self._n_bytes: Counter[str] = Counter()

    def add(self, table: Table, rows: Rows, shared: Mapping[str, str]) -> None:
        """Add rows of a table; `shared` has the columns that are equal for all of them."""
        if isinstance(rows, pa.Table):
            self._join(table)
            self._add_table(table, completed(rows, table, shared))
            return
        loose = self._loose.setdefault(table.name, [])
        loose.extend(cast("Row", {**row, **shared}) for row in rows)
        self._loose_bytes[table.name] += sum(map(_text_size, rows))
        if len(loose) >= _LOOSE_ROWS or self._loose_bytes[table.name] >= _LOOSE_BYTES:
            self._join(table)

    def flush(self) -> None:
        """Write the buffered rows."""
        for name in list(self._loose):
            self._join(BY_NAME[name])
        for name in list(self._waiting):
            self._write(BY_NAME[name])

    def _join(self, table: Table) -> None:
        del self._loose_bytes[table.name]
        if loose := self._loose.pop(table.name, None):
            self._add_table(table, arrow_table(table, loose))

    def _add_table(self, table: Table, rows: pa.Table) -> None:
        self._waiting.setdefault(table.name, []).append(rows)
        self._n_rows[table.name] += len(rows)
        self._n_bytes[table.name] += rows.nbytes
        if (
            self._n_rows[table.name] >= ROWS_PER_GROUP
            or self._n_bytes[table.name] >= _BUFFERED_BYTES
        ):
            self._write(table)

    def _write(self, table: Table) -> None:
        del self._n_rows[table.name], self._n_bytes[table.name]
        self._writer.add_table(table, pa.concat_tables(self._waiting.pop(table.name)))


def _text_size(row: Row) -> int:
    """Return about how much memory the texts of a row take."""
    return sum(len(value) for value in row.values() if isinstance(value, str | bytes))


def _places(rows: Rows) -> pa.Table | _Columns:
    if not isinstance(rows, pa.Table):
        has_seq = any("seq" in row for row in rows)
        seqs = [row.get("seq") if has_seq else _FIRST for row in rows]
        return [row["content_id"] for row in rows], seqs
    if "seq" not in rows.column_names:
        rows = rows.append_column("seq", pa.repeat(pa.scalar(_FIRST, pa.int64()), len(rows)))
    # Copied: a slice of what DuckDB returned would keep all columns of it in memory.
    return rows.select(_PLACES.names).cast(_PLACES).take(np.arange(len(rows)))


def _as_places(part: pa.Table | _Columns) -> pa.Table:
    return part if isinstance(part, pa.Table) else pa.table(list(part), schema=_PLACES)


def _in_file(rows: pa.Table) -> pa.Table:
    """Return the same rows, read from a temporary file without a name when they are needed.

    Raises:
        OSError: the file cannot be written.
    """
    with tempfile.TemporaryFile(prefix="evalstore-") as file:
        with pa.ipc.new_file(file, rows.schema) as writer:
            writer.write_table(rows)
        file.flush()
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return pa.ipc.open_file(pa.py_buffer(mapped)).read_all()


def _n_not_in(these: pa.Table, those: pa.Table) -> int:
    import pyarrow.compute as pc

    found = pc.is_in(these["content_id"], value_set=those["content_id"])
    return len(these) - int(pc.sum(found).as_py() or 0)


def _new_ids(now: pa.Table, before: pa.Table) -> pa.Array:
    """Return the ids that are new, or at a later place than in a smaller part of the log."""
    if not len(now):
        return pa.array([], pa.string())
    # Imported here: most imports are of new runs, and do without DuckDB.
    from warehouse.core.in_memory import open_in_memory

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
