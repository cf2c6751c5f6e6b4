"""What the store has of a recorded run: its results by task and attempt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warehouse.core.errors import BadInput, StoreUnreadable
from warehouse.core.files import open_regular, problem
from warehouse.core.in_memory import open_in_memory
from warehouse.core.schemas import RESULTS, RUNS, rows_sql
from warehouse.lake.batch import Generation, current_generations
from warehouse.lake.journal.journal import Entry, journal_paths
from warehouse.lake.journal.reading import read_journal
from warehouse.lake.locks import shared_lake_lock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from warehouse.core.types import Row
    from warehouse.lake.journal.reading import AbandonedJournal
    from warehouse.lake.lake import Lake

ORIGIN = "recorded"

# Model, task set, task, attempt.
ResultKey = tuple[str | None, str | None, str | None, int | None]

_QUERY = """
SELECT $columns
FROM $rows
WHERE suite = $suite AND run_id = $run_id AND generation = $generation
"""
_COLUMNS = {
    RUNS: ("origin", "config"),
    RESULTS: ("content_id", "model", "task_set", "task_id", "attempt"),
}


@dataclass(slots=True)
class RecordedRun:
    """The content of a run.

    Attributes:
        generation: its current generation.
        origins: where its content comes from; all `recorded`, unless it is not such a run.
        config: its configuration as JSON; None if it has none.
        results: content ID of the result of each task and attempt.
    """

    generation: Generation
    origins: set[str | None] = field(default_factory=set)
    config: str | None = None
    results: dict[ResultKey, str] = field(default_factory=dict)

    def add(self, entry: Entry) -> None:
        """Add a row of the run.

        Raises:
            BadInput: the same attempt at the same task is there, with other content.
        """
        row = entry.row
        if entry.table == RUNS.name:
            self.origins.add(row.get("origin"))
            self.config = self.config or row.get("config")
        elif entry.table == RESULTS.name:
            known = self.results.setdefault(result_key(row), row["content_id"])
            if known != row["content_id"]:
                raise BadInput(
                    f"run {self.generation.run_id!r} has different results for task "
                    f"{row.get('task_id')!r}, attempt {row.get('attempt')}: several processes "
                    "logged it. Record into another run; `evalstore show "
                    "checks.conflicting_results` lists what is in conflict"
                )


def result_key(row: Row) -> ResultKey:
    """Return what only one result of a run may have."""
    return row.get("model"), row.get("task_set"), row.get("task_id"), row.get("attempt")


def find_recorded(lake: Lake, suite: str, run_id: str) -> RecordedRun:
    """Read what the store has of a run; an empty one if it has no such run.

    Raises:
        BadInput: it has several results for a task and attempt.
        StoreDamaged, StoreUnreadable: the store cannot be read.
    """
    # The journals first: one that becomes a batch in between is then in the lake.
    journals = list(_journals(lake.store_path))
    with shared_lake_lock(lake.store_path):
        run, entries = _in_lake(lake, suite, run_id)
    for journal in journals:
        if journal.run == run.generation:
            entries += journal.entries
    for entry in entries:
        run.add(entry)
    return run


def _journals(store_path: Path) -> Iterator[AbandonedJournal]:
    """Yield the journals that are not batches yet, such as those of other processes."""
    for path in journal_paths(store_path):
        try:
            with open_regular(path) as file:
                yield read_journal(file)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StoreUnreadable(
                f"{path}: cannot be read ({problem(error)}), so it is not known what the run has"
            ) from error


def _in_lake(lake: Lake, suite: str, run_id: str) -> tuple[RecordedRun, list[Entry]]:
    batches = lake.register().holding([(suite, run_id)])
    generations = [g for batch in batches for g in batch.generations]
    current = current_generations(generations)
    generation = current.get((suite, run_id), Generation(suite, run_id))
    bound = {"suite": suite, "run_id": run_id, "generation": generation.generation}
    lake.verify_folders(batches)
    entries = []
    with open_in_memory() as connection:
        for table, columns in _COLUMNS.items():
            if paths := lake.files(batches, table.name):
                query = _QUERY.replace("$columns", ", ".join(columns))
                query = query.replace("$rows", rows_sql(table))
                found = connection.execute(query, {"paths": paths, **bound})
                while rows := found.fetchmany(10_000):
                    entries += [
                        Entry(table.name, dict(zip(columns, row, strict=True))) for row in rows
                    ]
    return RecordedRun(generation), entries
