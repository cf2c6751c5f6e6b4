"""Finds what is new in a reading, compared row by row with the same run in the lake."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from warehouse.core.hashing import content_hash
from warehouse.core.schemas import BY_NAME
from warehouse.lake.batch import Generation
from warehouse.lake.contents import COMPARED, RunContent, known_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ingest.reading import Reading
    from warehouse.core.schemas import Table
    from warehouse.core.types import Row
    from warehouse.lake.batch import RunKey


# Columns that a log without additional fields leaves empty.
_BEYOND_SPECIFICATION = (
    *("started_at", "input_tokens", "output_tokens", "cost_usd", "cost_source", "attempt"),
    *("extra", "source"),
)


class FileOutcome(StrEnum):
    """How the import of a file ended."""

    IMPORTED = "imported"
    GROWN = "grown"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"
    CONFLICT = "conflicting"
    REFUSED = "refused"
    FORGOTTEN = "forgotten"
    DECLINED = "declined"
    QUARANTINED = "quarantined"


# The store has the content of files with these outcomes.
IN_THE_STORE = {
    FileOutcome.IMPORTED,
    FileOutcome.GROWN,
    FileOutcome.REPLACED,
    FileOutcome.UNCHANGED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciled:
    """What to do with a reading.

    Attributes:
        outcome: outcome of the import.
        rows: rows to write, by table name.
        n_new_results: results that the store lacks. Others among the rows only change their place:
            the store has them from a smaller part of the log.
        generation: generation of the rows; None if they do not belong to a run.
        message: why the reading is refused, human-readable.
    """

    outcome: FileOutcome
    rows: Mapping[str, Sequence[Row]]
    n_new_results: int = 0
    generation: Generation | None = None
    message: str = ""


def reconcile(reading: Reading, contents: dict[RunKey, RunContent], *, replace: bool) -> Reconciled:
    """Decide what to write of a reading, and record it in `contents`.

    The same rows, or some of them, change nothing. A log that has grown adds its new rows, and one
    with other information about the run as a whole adds that. A log that lacks rows of the lake and
    has rows that the lake lacks is a conflict: it is refused or, with `replace`, opens a new
    generation.

    Args:
        reading: a reading without a stream.
        contents: the runs in the lake, including what this import has added so far.
        replace: whether a conflict opens a new generation.
    """
    if reading.run is None:
        outcome = FileOutcome.IMPORTED if reading.rows else FileOutcome.QUARANTINED
        return Reconciled(outcome=outcome, rows=reading.rows)
    content = contents.get(reading.run)
    if content is None:
        contents[reading.run] = content = RunContent(Generation(*reading.run))
        return _write(reading, content, FileOutcome.IMPORTED)
    n_missing, n_new = _differences(_of(COMPARED, reading.rows), content)
    if n_missing and replace:
        contents[reading.run] = _next_generation(reading, content)
        return _write(reading, contents[reading.run], FileOutcome.REPLACED)
    is_abridged = n_missing > 0 and n_new > 0 and _is_abridged(reading, content)
    if n_missing and n_new and not is_abridged:
        message = conflict_message(reading.run[1], n_missing, n_new)
        return Reconciled(outcome=FileOutcome.CONFLICT, rows={}, message=message)
    is_known = content.has_added(reading.rows)
    if is_abridged or (not n_new and is_known):
        return Reconciled(outcome=FileOutcome.UNCHANGED, rows={})
    return _write(reading, content, FileOutcome.GROWN)


def _is_abridged(reading: Reading, content: RunContent) -> bool:
    """Return whether a log says nothing but what the lake has, without times and costs.

    Our own exports are such logs: they have only the fields of the specification.
    """
    rows = _of(COMPARED, reading.rows)
    if any(row.get("prompt") is None or row.get("answer") is None for row in rows):
        return False
    if any(row.get(name) is not None for row in rows for name in _BEYOND_SPECIFICATION):
        return False
    known = Counter(row.essence for row in content.rows.values())
    return Counter(known_row(row).essence for row in rows) <= known


def next_generation(parent: Generation, content_ids: Iterable[str]) -> Generation:
    """Return the generation that replaces another, named by a hash of its rows."""
    name = content_hash("generation", parent.generation, sorted(content_ids))
    return Generation(parent.suite, parent.run_id, name, parent.generation)


def conflict_message(run_id: str, n_missing: int, n_new: int, *, is_part: bool = False) -> str:
    """Return why a log is refused, and what to do.

    Args:
        run_id: the run.
        n_missing: records of the store that the log lacks.
        n_new: records that the store lacks.
        is_part: whether the log is one of several files of the run.
    """
    instead = (
        f"`evalstore forget {run_id}` and an import of all files of the run replace it"
        if is_part
        else "`--replace` replaces the run"
    )
    return (
        f"conflicts with run {run_id}: it lacks {n_missing:,} of the store's records and has "
        f"{n_new:,} that the store lacks. Nothing was imported from it: `--as NEW_ID` imports it "
        f"as another run, {instead}"
    )


def _differences(rows: Sequence[Row], content: RunContent) -> tuple[int, int]:
    """Count the known rows that are missing, and the new ones.

    A run may have several templates, each with its own file, so only rows of the same template
    count as missing. But a call that is known with another template is not new. A failed call does
    not count as missing, since a later one may have replaced it.
    """
    ids = {row["content_id"] for row in rows}
    templates = {row.get("template_hash") for row in rows}
    new = [known_row(row) for row in rows if row["content_id"] not in content.rows]
    calls = {row.call for row in new}
    n_missing = sum(
        held.template_hash in templates or held.call in calls
        for content_id, held in content.rows.items()
        if content_id not in ids and not held.is_failure
    )
    return n_missing, len(new)


def _of(tables: Iterable[Table], rows: Mapping[str, Sequence[Row]]) -> list[Row]:
    return [row for table in tables for row in rows.get(table.name, ())]


def _write(reading: Reading, content: RunContent, outcome: FileOutcome) -> Reconciled:
    """Return the rows that the lake lacks, or has at an earlier place from a smaller file."""
    rows = dict(reading.rows)
    for table in COMPARED:
        if table.name in rows:
            rows[table.name] = [row for row in rows[table.name] if _is_new(row, content)]
    generation = content.generation
    for name, given in rows.items():
        if BY_NAME[name].of_run:
            rows[name] = [{**row, "generation": generation.generation} for row in given]
    parent = {"parent_generation": generation.parent}
    rows["runs"] = [{**row, **parent} for row in rows["runs"]]
    n_new = sum(row["content_id"] not in content.rows for row in rows.get("results", ()))
    content.add(rows)
    return Reconciled(outcome=outcome, rows=rows, n_new_results=n_new, generation=generation)


def _is_new(row: Row, content: RunContent) -> bool:
    before = content.rows.get(row["content_id"])
    return before is None or before.seq < known_row(row).seq


def _next_generation(reading: Reading, content: RunContent) -> RunContent:
    ids = [row["content_id"] for row in _of(COMPARED, reading.rows)]
    return RunContent(next_generation(content.generation, ids))
