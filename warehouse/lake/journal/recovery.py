"""The recovery of journals: batches from runs that ended or whose process was killed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from warehouse.core.errors import EvalstoreError, StoreUnreadable
from warehouse.core.files import open_regular, problem
from warehouse.core.hashing import content_hash
from warehouse.core.schemas import BY_NAME, QUARANTINE
from warehouse.lake.batch import Generation
from warehouse.lake.journal.journal import journal_paths, missing_bytes, remove_journal
from warehouse.lake.journal.reading import read_journal
from warehouse.lake.locks import abandoned_file, recovery_lock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from warehouse.core.types import Row
    from warehouse.lake.journal.journal import Entry
    from warehouse.lake.journal.reading import AbandonedJournal
    from warehouse.lake.lake import Lake
    from warehouse.lake.writer import BatchWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingJournal:
    """A journal that is not a batch yet: its run is active, or its recovery failed.

    Attributes:
        run: the run; None if the journal does not name it yet.
        n_results: number of results.
        path: the file.
        n_bad_lines: lines that cannot be used; recovery moves them to quarantine.
        n_missing: bytes at its end that were written and are gone.
        problem: why it cannot be read at all.
    """

    run: Generation | None
    n_results: int
    path: Path
    n_bad_lines: int
    n_missing: int = 0
    problem: str | None = None


def recover_journals(lake: Lake) -> list[str]:
    """Turn every journal that no process writes any more into a batch; return the problems.

    Problems are journals that cannot be recovered, lines that cannot be used, and lost ones.

    Journals that another process is recovering are waited for, so that the lake then holds every
    result recorded before the call.
    """
    problems: list[str] = []
    try:
        paths = journal_paths(lake.store_path)
    except StoreUnreadable as error:
        return [f"{error}; results of killed runs may be missing"]
    for path in paths:
        try:
            with recovery_lock(lake.store_path), abandoned_file(path) as file:
                if file is not None:
                    problems += _recover(lake, path, file)
        except (EvalstoreError, OSError) as error:
            problems.append(
                f"{path}: could not be recovered; its results are safe ({problem(error)})"
            )
    return problems


def pending_journals(store_path: Path) -> list[PendingJournal]:
    """Return the journals that are not batches yet.

    Raises:
        StoreUnreadable: their folder cannot be listed.
    """
    pending = []
    for path in journal_paths(store_path):
        try:
            n_missing = missing_bytes(path)
            with open_regular(path) as file:
                journal = read_journal(file)
        except FileNotFoundError:  # recovered since they were listed
            continue
        except OSError as error:
            pending.append(
                PendingJournal(
                    run=None, n_results=0, path=path, n_bad_lines=0, problem=problem(error)
                )
            )
            continue
        n_results = sum(entry.table == "results" for entry in journal.entries)
        pending.append(
            PendingJournal(
                run=journal.run,
                n_results=n_results,
                path=path,
                n_bad_lines=len(journal.bad_lines),
                n_missing=n_missing,
            )
        )
    return pending


def _recover(lake: Lake, path: Path, file: IO[bytes]) -> Iterator[str]:
    """Turn a journal into a batch; yield what is wrong with it."""
    # A process killed between commit and removal leaves both.
    if path.stem not in lake.batch_names():
        n_missing = missing_bytes(path)
        journal = read_journal(file)
        # A run killed before it recorded its plan has not begun.
        if journal.entries or journal.bad_lines or n_missing:
            _write_batch(lake, path, journal, n_missing)
        if journal.bad_lines:
            yield (
                f"{path}: damaged lines moved to quarantine: {len(journal.bad_lines):,}; "
                '`evalstore sql "from quarantine"` lists them'
            )
        if n_missing:
            yield (
                f"{path}: {cut_message(n_missing)}; what is left is recovered: resume or record "
                "the run again"
            )
    remove_journal(path)


def cut_message(n_missing: int) -> str:
    """Return what is said of a journal that has lost its end."""
    return f"cut short: its last {n_missing:,} bytes are missing, with the results in them"


def _write_batch(lake: Lake, path: Path, journal: AbandonedJournal, n_missing: int) -> None:
    unusable = [
        _unusable(path, number, "not an entry of a journal", line)
        for number, line in journal.bad_lines
    ]
    if n_missing:
        unusable.append(_unusable(path, None, cut_message(n_missing)))
    with lake.write("run", name=path.stem) as writer:
        generations = _add_rows(writer, journal)
        writer.add(QUARANTINE, unusable)
        writer.commit(generations=generations)


def _add_rows(writer: BatchWriter, journal: AbandonedJournal) -> list[Generation]:
    """Add the rows of a journal; return their generations, that of its own run first."""
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
    """Return the key of rows that do not name another run, as a judge names the judged run."""
    return {"suite": run.suite, "run_id": run.run_id, "generation": run.generation}


def _last_of_each(entries: Iterable[Entry]) -> Iterable[Entry]:
    """Return the rows without those that a later row with the same id replaces."""
    return {(entry.table, entry.row["content_id"]): entry for entry in entries}.values()


def _unusable(path: Path, number: int | None, reason: str, line: bytes | None = None) -> Row:
    return {
        "content_id": content_hash("journal", path.name, number or 0),
        "path": path.name,
        "line": number,
        "raw": line,
        "reason": reason,
    }
