"""The rows of a table as blocks of a stream, run by run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ingest.formats.tables.batches import TableBatch, UnusableTableError
from ingest.formats.tables.opening import open_table
from ingest.formats.tables.repeats import ContradictionError, Repeats, score_keys
from ingest.formats.tables.rows import RowMaker
from ingest.formats.tables.tasks import TaskSets
from ingest.formats.tables.wide import ByModel
from ingest.reading import Block
from warehouse.core.errors import BadInput
from warehouse.core.in_memory import open_in_memory
from warehouse.core.schemas import RESULT_SCORES, RESULTS, TASKS, arrow_schema

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

    from ingest.formats.tables.batches import TableFile
    from ingest.formats.tables.columns.column_map import TableSpec
    from warehouse.core.schemas import Table


class TableBlocks:
    """The blocks of a table."""

    def __init__(self, path: Path, spec: TableSpec, *, redact: bool) -> None:
        self._path = path
        self._spec = spec
        self._file: TableFile | ByModel = open_table(path, redact=redact)
        if spec.map.models:
            self._file = ByModel(self._file, spec.map)

    def read(self) -> Iterator[Block]:
        """Read the table from the start.

        Raises:
            BadInput: it is not a table, or rows contradict each other.
            OSError: it cannot be read.
        """
        with open_in_memory() as connection:
            maker = RowMaker(self._spec, connection)
            try:
                yield from self._blocks(maker)
            except UnusableTableError as error:
                raise BadInput(f"{self._path}: {error}") from error
            except ContradictionError as error:
                raise BadInput(self._described(error, maker)) from error

    def _blocks(self, maker: RowMaker) -> Iterator[Block]:
        repeats, tasks = Repeats(is_long=maker.is_long), TaskSets(self._spec.suite)
        for batch in self._batches():
            rows = maker.rows(batch)
            rejects = [*batch.rejects, *rows.rejects]
            if rejects or batch.secrets:
                yield Block(path=self._path, run_id=None, rejects=rejects, secrets=batch.secrets)
            results, scores = repeats.without(rows)
            if maker.has_tasks and len(results):
                tasks.add(results)
            run_of = rows.results.select("row", "run_id")
            scores = scores.join(run_of, on="row", how="left", maintain_order="left")
            for run_id, of_run in _by_run(results, scores):
                tables = {table.name: _arrow(frame, table) for table, frame in of_run if len(frame)}
                yield Block(path=self._path, run_id=run_id, rows=tables)
        if not tasks.is_empty:
            yield from self._task_blocks(maker, tasks)

    def _task_blocks(self, maker: RowMaker, tasks: TaskSets) -> Iterator[Block]:
        """Read the table again, as far as it has rows with new tasks."""
        chosen = tasks.chosen()
        last = chosen["line"].max()
        for batch in self._batches() if last is not None else ():
            is_chosen = batch.lines.is_in(chosen["line"].implode())
            some = TableBatch(
                lines=batch.lines.filter(is_chosen),
                values=batch.values.filter(is_chosen),
                extra=batch.extra.filter(is_chosen),
            )
            for run_id, rows in tasks.rows(maker.rows(some).results, chosen):
                content_ids = maker.hashes(rows["content_id"]).alias("content_id")
                tables = {TASKS.name: _arrow(rows.with_columns(content_ids), TASKS)}
                yield Block(path=self._path, run_id=run_id, rows=tables)
            if len(batch.lines) and batch.lines[-1] >= last:
                break

    def _batches(self) -> Iterator[TableBatch]:
        return self._file.batches(self._spec.map.used)

    def _described(self, error: ContradictionError, maker: RowMaker) -> str:
        """Return what contradicts what; the table is read again to find the first row."""
        what = "a score" if error.is_score else "a result"
        first = self._first_line(error, maker)
        return (
            f"{self._path}:{error.line}: {what} with the run, model, task"
            f"{' ' if not error.is_score else ', metric '}and attempt of line {first}, but other "
            "content. Nothing was imported: remove one of them, or name a column with the number "
            "of the attempt (`attempt` in `--columns map.yaml`)"
        )

    def _first_line(self, error: ContradictionError, maker: RowMaker) -> int | None:
        for batch in self._batches():
            rows = maker.rows(batch)
            frame = rows.scores if error.is_score else rows.results
            keys = score_keys(frame) if error.is_score else frame["key"]
            lines = frame["line"].filter(keys == error.key)
            if len(lines):
                return int(lines[0])
        return None


def _by_run(
    results: pl.DataFrame, scores: pl.DataFrame
) -> Iterator[tuple[str, list[tuple[Table, pl.DataFrame]]]]:
    """Yield each run with its rows by table."""
    runs = pl.concat([results["run_id"], scores["run_id"]]).unique(maintain_order=True).to_list()
    of_results, of_scores = (
        {runs[0]: each}
        if len(runs) == 1
        else {run: part for (run,), part in each.partition_by("run_id", as_dict=True).items()}
        for each in (results, scores)
    )
    for run in runs:
        parts = (RESULTS, of_results.get(run)), (RESULT_SCORES, of_scores.get(run))
        yield run, [(table, part) for table, part in parts if part is not None]


def _arrow(frame: pl.DataFrame, table: Table) -> pa.Table:
    """Return the columns of a frame that a table has, with its types."""
    import pyarrow as pa

    frame = frame.rename({"line": "seq"}) if "line" in frame.columns else frame
    given_by_import = {"suite", "run_id", "generation"} if table.of_run else set()
    names = [n for n in table.column_names if n in frame.columns and n not in given_by_import]
    schema = pa.schema([arrow_schema(table).field(name) for name in names])
    return frame.select(names).to_arrow().cast(schema)
