"""The rows of some runs in the lake: enough to distinguish a grown source from a conflict.

DuckDB is imported by the functions that use it: most imports are of new runs.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from warehouse.core.schemas import (
    EVENTS,
    JUDGEMENTS,
    RESULTS,
    TABLES,
    Table,
    duckdb_type,
)
from warehouse.lake.batch import Generation, RunKey, current_generations

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import duckdb
    import pyarrow as pa

    from warehouse.core.types import Row
    from warehouse.lake.batch import HasRuns
    from warehouse.lake.lake import Lake

# A source that adds rows to a run must not lack rows of these tables. The run's other tables
# may grow at any time: another header, another snapshot, a regenerated report.
COMPARED: tuple[Table, ...] = (RESULTS, EVENTS, JUDGEMENTS)
ADDED: tuple[Table, ...] = tuple(t for t in TABLES if t.of_run and t not in COMPARED)

_KEY = ("suite", "run_id", "content_id")
_CALL_COLUMNS = ("started_at", "prompt", "answer", "duration_seconds")
_KNOWN_COLUMNS = (
    *("seq", "template_hash", "output_state", "overall_score", "is_correct"),
    *_CALL_COLUMNS,
)

Call = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRow:
    """A row that the lake has.

    Attributes:
        seq: its position in the source.
        template_hash: hash of its prompt template.
        call: the columns that identify the model call.
        is_failure: it has no usable output, so that a source may hold another try instead.
        is_correct: its recorded verdict, in a palindrome log.
    """

    seq: int
    template_hash: str | None
    call: Call
    is_failure: bool
    is_correct: bool | None = None

    @property
    def essence(self) -> Call:
        """What a log to the letter of the specification has of it: not the time."""
        return self.template_hash, *self.call[1:], self.is_correct


@dataclass(slots=True)
class RunContent:
    """The known rows of a run's current generation.

    Attributes:
        generation: the generation.
        added: table name and content id of the rows of `ADDED`, which describe the run as a whole.
        rows: the rows of `COMPARED`, by content id.
    """

    generation: Generation
    added: set[tuple[str, str]] = field(default_factory=set)
    rows: dict[str, KnownRow] = field(default_factory=dict)

    def add(self, rows: Mapping[str, Sequence[Row]]) -> None:
        """Record rows that are about to be written, by table name."""
        self.added |= _added(rows)
        for table in COMPARED:
            for row in rows.get(table.name, ()):
                self.rows[row["content_id"]] = known_row(row)

    def has_added(self, rows: Mapping[str, Sequence[Row]]) -> bool:
        """Return whether all given rows of `ADDED` are known, by table name."""
        return _added(rows) <= self.added


def _added(rows: Mapping[str, Sequence[Row]]) -> set[tuple[str, str]]:
    return {(t.name, row["content_id"]) for t in ADDED for row in rows.get(t.name, ())}


def known_row(row: Row) -> KnownRow:
    """Return the part of a row that is compared."""
    call = tuple(map(row.get, _CALL_COLUMNS))
    is_unjudged = "overall_score" in row and row["overall_score"] is None
    is_failure = is_unjudged or row.get("output_state") == "missing"
    return KnownRow(
        seq=row.get("seq") or 0,
        template_hash=row.get("template_hash"),
        call=call,
        is_failure=is_failure,
        is_correct=row.get("is_correct"),
    )


def read_contents(
    lake: Lake, batches: Iterable[HasRuns], runs: Iterable[RunKey]
) -> dict[RunKey, RunContent]:
    """Read the known rows of the given runs; runs that the lake does not have are left out.

    Args:
        lake: the lake.
        batches: the batches of the lake, or those that have rows of the runs.
        runs: the runs.
    """
    held = _RunRows(lake, batches, set(runs))
    contents = {run: RunContent(generation) for run, generation in held.generations.items()}
    if not contents:
        return contents
    from warehouse.core.in_memory import open_in_memory

    with open_in_memory() as connection, held.report_damage():
        for table in ADDED:
            for suite, run_id, content_id in held.rows(connection, table, _KEY):
                contents[suite, run_id].added.add((table.name, content_id))
        for table in COMPARED:
            names = [name for name in _KNOWN_COLUMNS if name in table.column_names]
            columns = [*_KEY, *names]
            for suite, run_id, content_id, *values in held.rows(connection, table, columns):
                row = known_row(dict(zip(names, values, strict=True)))
                rows = contents[suite, run_id].rows
                if content_id not in rows or rows[content_id].seq < row.seq:
                    rows[content_id] = row
    return contents


def read_positions(
    lake: Lake, batches: Iterable[HasRuns], run: RunKey, tables: Sequence[Table]
) -> dict[str, pa.Table]:
    """Read `content_id` and `seq` of a run's rows, by table name: about 50 bytes per row.

    For tables without `seq`, only `content_id` is read.
    """
    from warehouse.core.in_memory import open_in_memory

    held = _RunRows(lake, batches, {run})
    with open_in_memory() as connection, held.report_damage():
        return {
            table.name: held.relation(
                connection,
                table,
                [name for name in ("content_id", "seq") if name in table.column_names],
            ).to_arrow_table()
            for table in tables
        }


def read_added(
    lake: Lake, batches: Iterable[HasRuns], run: RunKey, tables: Iterable[Table]
) -> set[tuple[str, str]]:
    """Read table name and content id of a run's rows in some of the tables `ADDED`."""
    from warehouse.core.in_memory import open_in_memory

    held = _RunRows(lake, batches, {run})
    with open_in_memory() as connection, held.report_damage():
        return {
            (table.name, content_id)
            for table in tables
            for (content_id,) in held.rows(connection, table, ["content_id"])
        }


class _RunRows:
    """The rows of the current generations of some runs."""

    def __init__(self, lake: Lake, batches: Iterable[HasRuns], runs: set[RunKey]) -> None:
        self._lake = lake
        self._batches = [b for b in batches if any(g.run in runs for g in b.generations)]
        generations = (g for b in self._batches for g in b.generations if g.run in runs)
        self.generations = current_generations(generations)

    def rows(
        self, connection: duckdb.DuckDBPyConnection, table: Table, columns: Sequence[str]
    ) -> list[tuple[Any, ...]]:
        """Return distinct values of some columns of the runs' rows of a table."""
        return self.relation(connection, table, columns).fetchall()

    def relation(
        self, connection: duckdb.DuckDBPyConnection, table: Table, columns: Sequence[str]
    ) -> duckdb.DuckDBPyRelation:
        """Query distinct values of some columns of the runs' rows of a table."""
        paths = self._lake.files(self._batches, table.name)
        # Batches may be older than a column, or the table may not be in any of them.
        nulls = ", ".join(f"NULL::{duckdb_type(c)} AS {c.name}" for c in table.columns)
        source = f"(SELECT {nulls} WHERE len($paths::VARCHAR[]) < 0)"
        if paths:
            rows = "FROM read_parquet($paths, union_by_name = true)"
            source = f"({rows} UNION ALL BY NAME {source})"
        current = self.generations.values()
        return connection.sql(
            f"""
            SELECT DISTINCT {", ".join(columns)}
            FROM {source}
            SEMI JOIN (
                SELECT unnest($suites::VARCHAR[]) AS suite, unnest($run_ids::VARCHAR[]) AS run_id,
                    unnest($generations::VARCHAR[]) AS generation
            ) AS current USING (suite, run_id, generation)
            """,
            params={
                "paths": paths,
                "suites": [g.suite for g in current],
                "run_ids": [g.run_id for g in current],
                "generations": [g.generation for g in current],
            },
        )

    @contextmanager
    def report_damage(self) -> Iterator[None]:
        """Replace DuckDB's read error by one that names the damaged file.

        Raises:
            StoreDamaged: a file is missing or has changed since it was written.
        """
        import duckdb

        try:
            yield
        except duckdb.Error:
            self._lake.verify_folders(self._batches)
            raise
