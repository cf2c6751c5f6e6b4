"""Tables of labels: a row for each answer that a person was asked about."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ingest.formats.common.judged_files import JudgedRuns, csv_records
from ingest.reading import Reading, Reject, Stream
from warehouse.app.labelling.labels import GivenLabel
from warehouse.app.labelling.sheets import plain_cell
from warehouse.core.rating_scales import RATINGS_SUITE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ingest.reading import ImportContext, SourceFile
    from warehouse.app.labelling.labels import RaterLabels

_LONGEST_CELL = 2**27  # characters


@dataclass(slots=True)
class RaterOption:
    """Whose labels a table has, and what became of its rows.

    Attributes:
        labels: the rater's labels in the store, by the id of each answer of any sample.
        now: when labels were given for which the table has no time, UTC.
        counts: rows with a label that is `new` or `unchanged`, and those `without` one.
    """

    labels: Mapping[str, RaterLabels]
    now: datetime
    counts: Counter[str] = field(default_factory=Counter)


def read_labels(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a table, if it is known whose labels it has."""
    option = context.options.format_option(RaterOption)
    if option is None:
        hint = "`evalstore label import FILE --rater NAME` imports them"
        context.decline(path, f"labels of people: {hint}")
        return
    file = context.read(path)
    if file is not None:
        runs = JudgedRuns(RATINGS_SUITE, path)
        runs.problems.rejects += _rejects(file, option, runs)
        blocks = list(runs.take())
        stream = Stream(
            paths=(path,), tables=("ratings",), blocks=lambda: iter(blocks), is_open=True
        )
        # The same table of two raters is two sets of labels.
        yield Reading("labels of people", run=(RATINGS_SUITE, ""), stream=stream, is_restated=True)


def _rejects(file: SourceFile, option: RaterOption, runs: JudgedRuns) -> Iterator[Reject]:
    """Add the labels to their runs; yield what cannot be used."""
    try:
        header = file.data.decode("utf-8-sig").partition("\n")[0]
    except UnicodeDecodeError:
        yield Reject("not UTF-8: save the table as `CSV UTF-8`")
        return
    csv.field_size_limit(_LONGEST_CELL)
    lines: dict[str, int] = {}
    for record in csv_records(file, delimiter=max(",;\t", key=header.count)):
        if isinstance(record, Reject):
            yield record
            continue
        line, row = record
        cells = {name.strip().lower(): plain_cell(text) for name, text in row.items()}
        answer_id = cells.get("id", "")
        if not cells.get("label"):
            option.counts["without"] += 1
        elif first := lines.get(answer_id):
            yield Reject(f"{answer_id}: labelled in line {first}, too", line)
        elif problem := _add(cells, file, option, runs):
            yield Reject(problem, line)
        else:
            lines[answer_id] = line


def _add(
    cells: Mapping[str, str], file: SourceFile, option: RaterOption, runs: JudgedRuns
) -> str | None:
    """Add a label, if the store does not have it; return why it cannot be used, if so."""
    answer_id = cells.get("id", "")
    labels = option.labels.get(answer_id)
    if labels is None:
        return f"{answer_id!r} is no answer that this store has asked about"
    label = labels.sample.scale.label(cells["label"])
    if label is None:
        return (
            f"{answer_id}: {cells['label'][:50]!r} is not on the scale {labels.sample.scale.text}"
        )
    rated_at = _time(cells.get("rated_at", ""))
    given = GivenLabel(label, cells.get("note") or None, min(rated_at or option.now, option.now))
    row = labels.row(answer_id, given, rated_at.isoformat() if rated_at else file.sha256)
    newest = labels.newest.get(answer_id)
    if row["content_id"] in labels.stored or (newest is not None and newest[:2] == given[:2]):
        option.counts["unchanged"] += 1
    else:
        option.counts["new"] += 1
        runs.of(labels.sample.run_id, "").rows.add("ratings", row)
    return None


def _time(text: str) -> datetime | None:
    """Return a time, UTC; None for other texts, such as what a spreadsheet made of one."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None)
    except ValueError:
        return None
