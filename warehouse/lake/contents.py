"""What the lake holds of some runs: enough to tell a grown source from a conflicting one."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import duckdb

from warehouse.connection import open_in_memory
from warehouse.lake.batch import Generation, RunKey, current_generations
from warehouse.schemas import (
    ARTIFACTS,
    EVENTS,
    JUDGEMENTS,
    RESOURCES,
    RESULTS,
    RUNS,
    Table,
    duckdb_type,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from warehouse.lake.batch import Batch
    from warehouse.lake.lake import Lake
    from warehouse.types import Row

# What a source of a run must not lack where it brings something new. Of a run's other tables
# more may come at any time: another header, another snapshot, a report written anew.
COMPARED: tuple[Table, ...] = (RESULTS, EVENTS, JUDGEMENTS)
ADDED: tuple[Table, ...] = (RUNS, RESOURCES, ARTIFACTS)

_KEY = ("suite", "run_id", "content_id")
_CALL_COLUMNS = ("started_at", "prompt", "answer", "duration_seconds")
_KNOWN_COLUMNS = ("seq", "template_hash", "output_state", "overall_score", *_CALL_COLUMNS)

Call = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """A row that the lake has.

    Attributes:
        seq: its place in the source.
        template_hash: of its prompt template.
        call: the call itself.
        is_failure: nothing usable came of it, so that a source may have another try in its place.
    """

    seq: int
    template_hash: str | None
    call: Call
    is_failure: bool


@dataclass(slots=True)
class RunContent:
    """What is known of a run's current generation.

    Attributes:
        generation: the generation.
        added: content ids of what its sources say of the run as a whole.
        rows: what is compared, by content id.
    """

    generation: Generation
    added: set[str] = field(default_factory=set)
    rows: dict[str, Known] = field(default_factory=dict)

    def add(self, added: Iterable[Row], rows: Iterable[Row]) -> None:
        """Note rows that are about to be written."""
        self.added.update(row["content_id"] for row in added)
        for row in rows:
            self.rows[row["content_id"]] = known(row)


def known(row: Row) -> Known:
    """Give what is compared of a row."""
    call = tuple(map(row.get, _CALL_COLUMNS))
    is_unjudged = "overall_score" in row and row["overall_score"] is None
    is_failure = is_unjudged or row.get("output_state") == "missing"
    return Known(row.get("seq") or 0, row.get("template_hash"), call, is_failure)


def read_contents(
    lake: Lake, batches: Sequence[Batch], runs: Iterable[RunKey]
) -> dict[RunKey, RunContent]:
    """Read what the lake holds of the given runs; those that it does not have are left out."""
    held = _Held(lake, batches, set(runs))
    contents = {run: RunContent(generation) for run, generation in held.generations.items()}
    if not contents:
        return contents
    with open_in_memory() as connection, _damage_named(lake, batches):
        for table in ADDED:
            for suite, run_id, content_id in held.rows(connection, table, _KEY):
                contents[suite, run_id].added.add(content_id)
        for table in COMPARED:
            names = [name for name in _KNOWN_COLUMNS if name in table.column_names]
            columns = [*_KEY, *names]
            for suite, run_id, content_id, *values in held.rows(connection, table, columns):
                row = known(dict(zip(names, values, strict=True)))
                rows = contents[suite, run_id].rows
                if content_id not in rows or rows[content_id].seq < row.seq:
                    rows[content_id] = row
    return contents


def read_places(
    lake: Lake, batches: Sequence[Batch], run: RunKey, tables: Sequence[Table]
) -> dict[str, pa.Table]:
    """Read `content_id` and `seq` of a run's rows, by table name: 50 bytes a row.

    Tables without places give `content_id` only.
    """
    held = _Held(lake, batches, {run})
    with open_in_memory() as connection, _damage_named(lake, batches):
        return {
            table.name: held.relation(
                connection,
                table,
                [name for name in ("content_id", "seq") if name in table.column_names],
            ).to_arrow_table()
            for table in tables
        }


def read_added(lake: Lake, batches: Sequence[Batch], run: RunKey) -> set[str]:
    """Read the content ids of a run's headers and snapshots."""
    held = _Held(lake, batches, {run})
    with open_in_memory() as connection, _damage_named(lake, batches):
        return {
            content_id
            for table in ADDED
            for (content_id,) in held.rows(connection, table, ["content_id"])
        }


class _Held:
    """The batches that hold some runs, and the runs' current generations."""

    def __init__(self, lake: Lake, batches: Sequence[Batch], runs: set[RunKey]) -> None:
        self._lake = lake
        self._batches = [b for b in batches if any(g.run in runs for g in b.generations)]
        generations = (g for b in self._batches for g in b.generations if g.run in runs)
        self.generations = current_generations(generations)

    def rows(
        self, connection: duckdb.DuckDBPyConnection, table: Table, columns: Sequence[str]
    ) -> list[tuple[Any, ...]]:
        return self.relation(connection, table, columns).fetchall()

    def relation(
        self, connection: duckdb.DuckDBPyConnection, table: Table, columns: Sequence[str]
    ) -> duckdb.DuckDBPyRelation:
        """Query columns of the runs' rows of a table, each combination once."""
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
def _damage_named(lake: Lake, batches: Iterable[Batch]) -> Iterator[None]:
    """Say which file of the batches is damaged, where DuckDB could not read one.

    Raises:
        StoreDamaged: a file is missing or has other bytes than were written.
    """
    try:
        yield
    except duckdb.Error:
        for batch in batches:
            lake.verify(batch)
        raise
