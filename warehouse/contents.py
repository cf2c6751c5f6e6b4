"""What the lake holds of some runs: enough to tell a grown source from a conflicting one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from warehouse.batch import Generation, RunKey, current_generations
from warehouse.connection import open_in_memory
from warehouse.schemas import ARTIFACTS, EVENTS, JUDGEMENTS, RESOURCES, RESULTS, RUNS, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import duckdb
    import pyarrow as pa

    from warehouse.batch import Batch
    from warehouse.lake import Lake, Row

# What a source of a run must not lack where it brings something new. Of a run's other tables
# more may come at any time: another header, another snapshot.
COMPARED: tuple[Table, ...] = (RESULTS, EVENTS, JUDGEMENTS, ARTIFACTS)
ADDED: tuple[Table, ...] = (RUNS, RESOURCES)

_KNOWN_COLUMNS = ("seq", "template_hash", "started_at", "prompt", "answer", "duration_seconds")

Call = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """A row that the lake has: its place in the source, its template, the call itself."""

    seq: int
    template_hash: str | None
    call: Call


@dataclass(slots=True)
class RunContent:
    """The compared rows of a run's current generation, by content id."""

    generation: Generation
    rows: dict[str, Known] = field(default_factory=dict)

    def add(self, rows: Iterable[Row]) -> None:
        """Note rows that are about to be written."""
        for row in rows:
            self.rows[row["content_id"]] = known(row)


def known(row: Row) -> Known:
    """Give what is compared of a row."""
    seq, template_hash, *call = (row.get(column) for column in _KNOWN_COLUMNS)
    return Known(seq or 0, template_hash, tuple(call))


def read_contents(
    lake: Lake, batches: Sequence[Batch], runs: Iterable[RunKey]
) -> dict[RunKey, RunContent]:
    """Read what the lake holds of the given runs; those that it does not have are left out."""
    holding, generations = _holding(batches, set(runs))
    contents = {run: RunContent(generation) for run, generation in generations.items()}
    with open_in_memory() as connection:
        for table in COMPARED:
            names = [name for name in _KNOWN_COLUMNS if name in table.column_names]
            columns = ["suite", "run_id", "content_id", *names]
            for row in _rows(connection, lake, holding, generations, table, columns).fetchall():
                suite, run_id, content_id, *values = row
                known_row = known(dict(zip(names, values, strict=True)))
                before = contents[suite, run_id].rows.get(content_id)
                if before is None or before.seq < known_row.seq:
                    contents[suite, run_id].rows[content_id] = known_row
    return contents


def read_places(lake: Lake, batches: Sequence[Batch], run: RunKey) -> pa.Table:
    """Read `content_id` and `seq` of a run's results and events: 50 bytes a row, however many."""
    import pyarrow as pa

    holding, generations = _holding(batches, {run})
    columns = ["content_id", "max(seq) AS seq"]
    with open_in_memory() as connection:
        return pa.concat_tables(
            _rows(connection, lake, holding, generations, table, columns).to_arrow_table()
            for table in (RESULTS, EVENTS)
        )


def read_added(lake: Lake, batches: Sequence[Batch], run: RunKey) -> set[str]:
    """Read the content ids of a run's headers and snapshots."""
    holding, generations = _holding(batches, {run})
    with open_in_memory() as connection:
        return {
            content_id
            for table in ADDED
            for (content_id,) in _rows(
                connection, lake, holding, generations, table, ["content_id"]
            ).fetchall()
        }


def _holding(
    batches: Sequence[Batch], runs: set[RunKey]
) -> tuple[list[Batch], dict[RunKey, Generation]]:
    holding = [b for b in batches if any(g.run in runs for g in b.generations)]
    generations = (g for b in holding for g in b.generations if g.run in runs)
    return holding, current_generations(generations)


def _rows(
    connection: duckdb.DuckDBPyConnection,
    lake: Lake,
    batches: Sequence[Batch],
    generations: Mapping[RunKey, Generation],
    table: Table,
    columns: Sequence[str],
) -> duckdb.DuckDBPyRelation:
    paths = [str(lake.file(batch, table.name)) for batch in batches if table.name in batch.files]
    source = "read_parquet($paths, union_by_name = true)"
    if not paths:
        nulls = ", ".join(f"NULL::{column.type} AS {column.name}" for column in table.columns)
        source = f"(SELECT {nulls} WHERE len($paths) > 0)"
    current = generations.values()
    return connection.sql(
        f"""
        SELECT {", ".join(columns)}
        FROM {source}
        SEMI JOIN (
            SELECT unnest($suites) AS suite, unnest($run_ids) AS run_id,
                unnest($generations) AS generation
        ) AS current USING (suite, run_id, generation)
        GROUP BY ALL
        """,
        params={
            "paths": paths,
            "suites": [g.suite for g in current],
            "run_ids": [g.run_id for g in current],
            "generations": [g.generation for g in current],
        },
    )
