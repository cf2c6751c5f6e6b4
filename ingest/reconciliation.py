"""Settles what of a file is new: compared, row by row, with what the lake holds of its run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from warehouse.hashing import content_hash
from warehouse.lake.batch import Generation
from warehouse.lake.contents import ADDED, COMPARED, RunContent, known
from warehouse.schemas import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ingest.reading import Reading
    from warehouse.lake.batch import RunKey
    from warehouse.schemas import Table
    from warehouse.types import Row


class Outcome(StrEnum):
    """How the import of a file ended."""

    IMPORTED = "imported"
    GROWN = "grown"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"
    CONFLICT = "conflicting"
    REFUSED = "refused"
    FORGOTTEN = "forgotten"
    QUARANTINED = "quarantined"


@dataclass(frozen=True, slots=True)
class Settled:
    """What to do with a file.

    Attributes:
        outcome: how it ends.
        rows: to be written, by table name.
        generation: of the run that they belong to, where they belong to one.
        message: why not, for people.
    """

    outcome: Outcome
    rows: dict[str, Sequence[Row]]
    generation: Generation | None = None
    message: str = ""


def settle(reading: Reading, contents: dict[RunKey, RunContent], *, replace: bool) -> Settled:
    """Settle what of a reading is new, and note it in `contents`.

    The same rows again, or a part of them, change nothing. A log that has grown adds its new
    rows, and one that says something else of the run as a whole adds that. One that lacks rows
    which are there, and has rows which are not, conflicts: it is refused, or with `replace`
    opens a new generation.

    Args:
        reading: of one file.
        contents: what the lake, and this import so far, hold of the runs.
        replace: whether a conflict opens a new generation.
    """
    if reading.run is None:
        outcome = Outcome.IMPORTED if reading.rows else Outcome.QUARANTINED
        return Settled(outcome, reading.rows)
    content = contents.get(reading.run)
    if content is None:
        contents[reading.run] = content = RunContent(Generation(*reading.run))
        return _write(reading, content, Outcome.IMPORTED)
    n_missing, n_new = _differences(_of(COMPARED, reading.rows), content)
    if not n_new and (not replace or not n_missing):
        is_known = all(row["content_id"] in content.added for row in _of(ADDED, reading.rows))
        return (
            Settled(Outcome.UNCHANGED, {}) if is_known else _write(reading, content, Outcome.GROWN)
        )
    if not n_missing:
        return _write(reading, content, Outcome.GROWN)
    if not replace:
        return Settled(
            Outcome.CONFLICT, {}, message=conflict_message(reading.run[1], n_missing, n_new)
        )
    contents[reading.run] = _next_generation(reading, content)
    return _write(reading, contents[reading.run], Outcome.REPLACED)


def _differences(rows: Sequence[Row], content: RunContent) -> tuple[int, int]:
    """Count the rows that the file lacks, and those that it adds.

    A run may have been made with several templates, each in a file of its own: only rows of the
    same template are missed. But a call that is known under another template is no new call.
    A failed try that is gone is not missed: a later one took its place.
    """
    ids = {row["content_id"] for row in rows}
    templates = {row.get("template_hash") for row in rows}
    new = [known(row) for row in rows if row["content_id"] not in content.rows]
    calls = {row.call for row in new}
    n_missing = sum(
        known_row.template_hash in templates or known_row.call in calls
        for content_id, known_row in content.rows.items()
        if content_id not in ids and not known_row.is_failure
    )
    return n_missing, len(new)


def _of(tables: Iterable[Table], rows: Mapping[str, Sequence[Row]]) -> list[Row]:
    return [row for table in tables for row in rows.get(table.name, ())]


def _write(reading: Reading, content: RunContent, outcome: Outcome) -> Settled:
    """Choose the rows that the lake lacks, or has at an earlier place of a smaller file."""
    rows = dict(reading.rows)
    for table in COMPARED:
        if table.name in rows:
            rows[table.name] = [row for row in rows[table.name] if _is_new(row, content)]
    for name, written in rows.items():
        if BY_NAME[name].of_run:
            rows[name] = [{**row, "generation": content.generation.generation} for row in written]
    rows["runs"] = [{**row, "parent_generation": content.generation.parent} for row in rows["runs"]]
    content.add(_of(ADDED, rows), _of(COMPARED, rows))
    return Settled(outcome, rows, content.generation)


def _is_new(row: Row, content: RunContent) -> bool:
    before = content.rows.get(row["content_id"])
    return before is None or before.seq < known(row).seq


def _next_generation(reading: Reading, content: RunContent) -> RunContent:
    ids = [row["content_id"] for row in _of(COMPARED, reading.rows)]
    return RunContent(next_generation(content.generation, ids))


def next_generation(parent: Generation, content_ids: Iterable[str]) -> Generation:
    """Name the generation that replaces another, by what it holds: the same rows, the same name."""
    name = content_hash("generation", parent.generation, sorted(content_ids))
    return Generation(parent.suite, parent.run_id, name, parent.generation)


def conflict_message(run_id: str, n_missing: int, n_new: int) -> str:
    """Say why a source is refused, and what to do."""
    return (
        f"conflicts with run {run_id}: it lacks {n_missing} records that the "
        f"store has, and has {n_new} that the store lacks. Nothing of it was imported: "
        "`--as NEW_ID` imports it as another run, `--replace` puts it in the run's place"
    )
