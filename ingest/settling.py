"""Settles what of a file is new: compared, row by row, with what the lake holds of its run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from warehouse.batch import Generation
from warehouse.contents import RunContent, known
from warehouse.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest.reading import Reading
    from warehouse.batch import RunKey
    from warehouse.lake import Row


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
    rows: dict[str, list[Row]]
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
    n_missing, n_new = _differences(reading.rows["results"], content)
    if not n_new and (not replace or not n_missing):
        is_known = all(row["content_id"] in content.headers for row in reading.rows["runs"])
        return (
            Settled(Outcome.UNCHANGED, {}) if is_known else _write(reading, content, Outcome.GROWN)
        )
    if not n_missing:
        return _write(reading, content, Outcome.GROWN)
    if not replace:
        return Settled(Outcome.CONFLICT, {}, message=_conflict(content, n_missing, n_new))
    contents[reading.run] = _next_generation(reading, content)
    return _write(reading, contents[reading.run], Outcome.REPLACED)


def _differences(rows: Sequence[Row], content: RunContent) -> tuple[int, int]:
    """Count the rows that the file lacks, and those that it adds.

    A run may have been made with several templates, each in a file of its own: only rows of the
    same template are missed. But a call that is known under another template is no new call.
    """
    ids = {row["content_id"] for row in rows}
    templates = {row["template_hash"] for row in rows}
    new = [known(row) for row in rows if row["content_id"] not in content.results]
    calls = {row.call for row in new}
    n_missing = sum(
        known_row.template_hash in templates or known_row.call in calls
        for content_id, known_row in content.results.items()
        if content_id not in ids
    )
    return n_missing, len(new)


def _write(reading: Reading, content: RunContent, outcome: Outcome) -> Settled:
    """Choose the rows that the lake lacks, or has at an earlier place of a smaller file."""
    results = [
        row
        for row in reading.rows["results"]
        if (before := content.results.get(row["content_id"])) is None or before.seq < row["seq"]
    ]
    content.add(reading.rows["runs"], results)
    rows = {**reading.rows, "results": results}
    for row in (*rows["runs"], *rows["results"]):
        row["generation"] = content.generation.generation
    for row in rows["runs"]:
        row["parent_generation"] = content.generation.parent
    return Settled(outcome, rows, content.generation)


def _next_generation(reading: Reading, content: RunContent) -> RunContent:
    ids = sorted(row["content_id"] for row in reading.rows["results"])
    parent = content.generation
    name = content_hash("generation", parent.generation, ids)
    return RunContent(Generation(parent.suite, parent.run_id, name, parent.generation))


def _conflict(content: RunContent, n_missing: int, n_new: int) -> str:
    return (
        f"conflicts with run {content.generation.run_id}: it lacks {n_missing} results that the "
        f"store has, and has {n_new} that the store lacks. Nothing of it was imported: "
        "`--as NEW_ID` imports it as another run, `--replace` puts it in the run's place"
    )
