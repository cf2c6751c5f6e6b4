"""Makes batches of the journals of runs: of a run that ended, or whose process was killed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from warehouse.errors import EvalstoreError
from warehouse.hashing import content_hash
from warehouse.journal.journal import journal_paths, read_journal
from warehouse.lake.batch import Generation
from warehouse.lake.locks import abandoned_file, recovery_lock
from warehouse.schemas import BY_NAME, QUARANTINE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from warehouse.journal.journal import AbandonedJournal, Entry
    from warehouse.lake.lake import BatchWriter, Lake
    from warehouse.types import Row


@dataclass(frozen=True, slots=True)
class Pending:
    """A journal that is no batch yet: its run is at work, or it could not be taken in.

    Attributes:
        run: the run; None where it says none yet.
        n_results: results in it.
    """

    run: Generation | None
    n_results: int


def absorb_journals(lake: Lake) -> list[str]:
    """Make a batch of every journal that nobody writes any more; give what went wrong.

    What another process is taking in at this moment is waited for: who looks into the lake after
    this finds there what was answered before.
    """
    problems = []
    for path in journal_paths(lake.store):
        try:
            with recovery_lock(lake.store), abandoned_file(path) as file:
                if file is not None:
                    _absorb(lake, path, file)
        except (EvalstoreError, OSError) as error:
            problems.append(f"{path}: its results are safe, but not in the lake yet ({error})")
    return problems


def pending_journals(store: Path) -> list[Pending]:
    """Say what the journals hold."""
    pending = []
    for path in journal_paths(store):
        try:
            with path.open("rb") as file:
                journal = read_journal(file)
        except FileNotFoundError:  # taken in since they were listed
            continue
        n_results = sum(entry.table == "results" for entry in journal.entries)
        pending.append(Pending(journal.run, n_results))
    return pending


def _absorb(lake: Lake, path: Path, file: IO[bytes]) -> None:
    # A process that was killed between commit and removal has left both.
    if path.stem not in lake.batch_names():
        journal = read_journal(file)
        # A run that was killed before it could say its plan has not begun.
        if journal.entries or journal.bad_lines:
            _write_batch(lake, path, journal)
    path.with_suffix(".reserve").unlink(missing_ok=True)
    path.unlink()


def _write_batch(lake: Lake, path: Path, journal: AbandonedJournal) -> None:
    with lake.write("run", name=path.stem) as writer:
        generations = _add_rows(writer, journal)
        writer.add(QUARANTINE, [_bad_row(path, *line) for line in journal.bad_lines])
        writer.commit(generations=generations)


def _add_rows(writer: BatchWriter, journal: AbandonedJournal) -> list[Generation]:
    """Add the rows of a journal; gives the generations that they belong to, its own run's first."""
    run = journal.run
    if run is None:
        return []
    counts = Counter(entry.table for entry in journal.entries)
    others: set[Generation] = set()
    for entry in _last_of_each(journal.entries):
        table, row = BY_NAME[entry.table], entry.row
        if table.of_run:
            row = {**_key(run), **row}
            others.add(Generation(row["suite"], row["run_id"], row["generation"]))
        if table.name == "runs":
            row = {**row, "parent_generation": run.parent, "source_rows": counts["results"]}
        writer.add(table, [row])
    others.discard(Generation(*run.run, run.generation))
    return [run, *sorted(others, key=lambda g: g.run)]


def _key(run: Generation) -> Row:
    """The run that a row belongs to, where it does not name another: a judge names the judged."""
    return {"suite": run.suite, "run_id": run.run_id, "generation": run.generation}


def _last_of_each(entries: Iterable[Entry]) -> Iterable[Entry]:
    """A row that was written again, with the same id, takes the place of the first."""
    return {(entry.table, entry.row["content_id"]): entry for entry in entries}.values()


def _bad_row(path: Path, number: int, line: bytes) -> Row:
    return {
        "content_id": content_hash("journal", path.name, number),
        "path": path.name,
        "line": number,
        "raw": line,
        "reason": "a line of a journal that is no record",
    }
