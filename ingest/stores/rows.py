"""Copies the rows of another store's batches, without those of runs that are not imported."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from warehouse.core.errors import StoreDamaged
from warehouse.core.formats.values import arrow_array, import_pyarrow
from warehouse.core.schemas import BATCH, BY_NAME, RESULTS, TASKS, merged_schema
from warehouse.lake.compaction import rows_of
from warehouse.lake.unused_tasks import unused_tasks

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from ingest.stores.decisions import Decisions
    from ingest.stores.other import OtherStore
    from ingest.stores.parts import Parts
    from warehouse.core.schemas import Table
    from warehouse.core.types import Row
    from warehouse.lake.batch import Batch
    from warehouse.lake.writer import BatchWriter


class RowCopy:
    """The rows of an import of a store.

    Attributes:
        counts: the number of rows written, by batch and table.
        n_results: the number of results written.
    """

    def __init__(
        self,
        other: OtherStore,
        decisions: Decisions,
        parts: Parts,
        writer: BatchWriter,
    ) -> None:
        folders = other.folders
        self._other = other.lake
        self._folders = folders
        self._decisions = decisions
        self._parts = parts
        self._writer = writer
        self._new = {batch.name for batch in other.batches.new}
        self._missing = {(name, *g.run, g.generation) for name, g in decisions.missing}
        self._incomplete = {name for name, _ in decisions.missing}
        self._unused = [
            unused_tasks(other.lake, folders, run) for run in sorted(decisions.forgotten)
        ]
        self._is_whole = False
        self.counts: dict[str, Counter[str]] = {}

    @property
    def n_results(self) -> int:
        """The number of results written."""
        return sum(count[RESULTS.name] for count in self.counts.values())

    def copy(self) -> None:
        """Write all rows that are imported.

        Raises:
            StoreDamaged: a file of the other store cannot be read.
        """
        for folder in self._folders:
            names = {part.name for part in folder.contents}
            if names & (self._new | self._incomplete):
                self._is_whole = names <= self._new and not self._drops(folder)
                for name in folder.files:
                    self._copy_table(folder, BY_NAME[name])
        for compared in self._decisions.compared.values():
            for name, rows in compared.rows.items():
                self._write_rows(BY_NAME[name], rows)

    def _drops(self, folder: Batch) -> bool:
        """Return whether anything in a folder is not imported."""
        takes = self._decisions.takes
        if self._decisions.refuses_any and any(BY_NAME[name].about for name in folder.files):
            return True
        return any(
            not all(takes(g.run) for g in part.generations)
            or any(source.sha256 in self._parts.dropped_files for source in part.sources)
            for part in folder.contents
        )

    def _copy_table(self, folder: Batch, table: Table) -> None:
        pa = import_pyarrow()
        try:
            rows = rows_of(self._other, folder, table)
        except (OSError, ValueError, pa.ArrowException) as error:
            path = self._other.file(folder, table.name)
            raise StoreDamaged(f"{path}: cannot be read ({error})") from error
        if table is TASKS:
            for unused in self._unused:
                rows = unused.without(rows)
        self._write(table, self._placed(rows, table))

    def _placed(self, rows: pa.Table, table: Table) -> pa.Table:
        """Return the rows that are imported, each with the batch that it is written under."""
        if self._is_whole:
            return rows
        pa = import_pyarrow()
        names = [BATCH]
        names += sorted({column for pair in table.runs_named for column in pair})
        if table.of_run:
            names.append("generation")
        if "sha256" in table.column_names:
            names.append("sha256")
        places: dict[tuple[object, ...], str | None] = {}
        found = []
        for key in zip(*(rows[name].to_pylist() for name in names), strict=True):
            if key not in places:
                places[key] = self._place(table, dict(zip(names, key, strict=True)))
            found.append(places[key])
        column = pa.array(found, pa.string())
        index = rows.schema.get_field_index(BATCH)
        placed = rows.set_column(index, merged_schema(table).field(BATCH), column)
        return placed.filter(column.is_valid())

    def _place(self, table: Table, key: Row) -> str | None:
        """Return the batch under which a row is written; None if it is not."""
        batch: str = key[BATCH]
        for suite, run_id in table.about:
            about = (key[suite] or key["suite"], key[run_id] or key["run_id"])
            if self._decisions.refuses(about):
                return None
        if table.of_run:
            run = key["suite"], key["run_id"]
            if batch in self._new:
                return batch if self._decisions.takes(run) else None
            return self._parts.extra if (batch, *run, key["generation"]) in self._missing else None
        if key.get("sha256") in self._parts.dropped_files:
            return None
        if batch in self._new:
            return batch
        return self._parts.extra if batch in self._incomplete else None

    def _write_rows(self, table: Table, rows: Sequence[Row]) -> None:
        pa = import_pyarrow()
        schema = merged_schema(table)
        extra = {BATCH: self._parts.extra}
        arrays = [
            arrow_array([{**row, **extra}.get(f.name) for row in rows], f.type) for f in schema
        ]
        self._write(table, pa.Table.from_arrays(arrays, schema=schema))

    def _write(self, table: Table, rows: pa.Table) -> None:
        if rows.num_rows == 0:
            return
        self._writer.add_table(table, rows)
        for value in rows[BATCH].value_counts().to_pylist():
            count = self.counts.setdefault(value["values"], Counter())
            count[table.name] += value["counts"]
