"""What is new in a reading, compared row by row with what the lake holds of its run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from warehouse.hashing import content_hash
from warehouse.lake.batch import Generation
from warehouse.lake.contents import ADDED, COMPARED, RunContent, known_row
from warehouse.schemas import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ingest.reading import Reading
    from warehouse.lake.batch import RunKey
    from warehouse.schemas import Table
    from warehouse.types import Row


class FileOutcome(StrEnum):
    """How the import of a file ended."""

    IMPORTED = "imported"
    GROWN = "grown"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"
    CONFLICT = "conflicting"
    REFUSED = "refused"
    FORGOTTEN = "forgotten"
    QUARANTINED = "quarantined"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciled:
    """What to do with a reading.

    Attributes:
        outcome: how its import ends.
        rows: to be written, by table name.
        generation: that the rows belong to; None if they belong to no run.
        message: why the reading is refused, human-readable.
    """

    outcome: FileOutcome
    rows: Mapping[str, Sequence[Row]]
    generation: Generation | None = None
    message: str = ""


def reconcile(reading: Reading, contents: dict[RunKey, RunContent], *, replace: bool) -> Reconciled:
    """Decide what to write of a reading, and record it in `contents`.

    The same rows again, or some of them, change nothing. A log that has grown adds its new rows,
    and one that says something else about the run as a whole adds that. A log that lacks rows
    which the lake has, and has rows which the lake lacks, is a conflict: it is refused, or opens
    a new generation with `replace`.

    Args:
        reading: all its rows are in memory.
        contents: what the lake, and this import so far, hold of the runs.
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
    if n_missing and n_new:
        message = conflict_message(reading.run[1], n_missing, n_new)
        return Reconciled(outcome=FileOutcome.CONFLICT, rows={}, message=message)
    is_known = all(row["content_id"] in content.added for row in _of(ADDED, reading.rows))
    if not n_new and is_known:
        return Reconciled(outcome=FileOutcome.UNCHANGED, rows={})
    return _write(reading, content, FileOutcome.GROWN)


def next_generation(parent: Generation, content_ids: Iterable[str]) -> Generation:
    """Return the generation that replaces another; the same rows give it the same name."""
    name = content_hash("generation", parent.generation, sorted(content_ids))
    return Generation(parent.suite, parent.run_id, name, parent.generation)


def conflict_message(run_id: str, n_missing: int, n_new: int) -> str:
    """Say why a log is refused, and what to do."""
    return (
        f"conflicts with run {run_id}: it lacks {n_missing:,} of the store's records and has "
        f"{n_new:,} that the store lacks. Nothing was imported from it: `--as NEW_ID` imports it "
        "as another run, `--replace` replaces the run"
    )


def _differences(rows: Sequence[Row], content: RunContent) -> tuple[int, int]:
    """Count the known rows that are missing, and the new ones.

    A run may have been made with several templates, each in a file of its own: only rows of the
    same template are missed. But a call that is known under another template is not new. A failed
    call is not missed: a later one took its place.
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
    """Select the rows that the lake lacks, or has at an earlier place from a smaller file."""
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
    content.add(_of(ADDED, rows), _of(COMPARED, rows))
    return Reconciled(outcome=outcome, rows=rows, generation=generation)


def _is_new(row: Row, content: RunContent) -> bool:
    before = content.rows.get(row["content_id"])
    return before is None or before.seq < known_row(row).seq


def _next_generation(reading: Reading, content: RunContent) -> RunContent:
    ids = [row["content_id"] for row in _of(COMPARED, reading.rows)]
    return RunContent(next_generation(content.generation, ids))
