"""Tables of labels: a row for each answer that a person was asked about."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ingest.formats.common.judged_files import csv_records
from ingest.reading import Block, Reading, Reject, Stream
from warehouse.app.labelling.labels import GivenLabel
from warehouse.app.labelling.sheets import plain_cell
from warehouse.core.formats.values import utf8
from warehouse.core.rating_scales import RATINGS_SUITE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ingest.reading import ImportContext, SourceFile
    from warehouse.app.labelling.labels import RaterLabels
    from warehouse.core.types import RatingRow

_LONGEST_CELL = 2**27  # characters
_LONGEST_NOTE = 10_000
_NO_RATER = "labels of people: `evalstore label import FILE --rater NAME` imports them"
_NOT_UTF8 = "not UTF-8: save the table as `CSV UTF-8`"


@dataclass(slots=True)
class RaterOption:
    """Whose labels a table has, and what became of its rows.

    Attributes:
        labels: the rater's labels in the store, by the id of each answer of any sample.
        now: when labels were given for which the table has no time, UTC.
        n_new: labels that the store did not have.
        n_known: labels that it had.
        n_without: rows without a label.
        n_wrong: rows that cannot be used.
    """

    labels: Mapping[str, RaterLabels]
    now: datetime
    n_new: int = 0
    n_known: int = 0
    n_without: int = 0
    n_wrong: int = 0


def read_labels(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a table, if it is known whose labels it has."""
    option = context.options.format_option(RaterOption)
    if option is None:
        context.decline(path, _NO_RATER)
        return
    file = context.read(path)
    if file is not None:
        table = _Table(file, option)
        table.read()
        stream = Stream(paths=(path,), tables=("ratings",), blocks=table.blocks, is_open=True)
        # The same table of two raters is two sets of labels.
        yield Reading("labels of people", run=(RATINGS_SUITE, ""), stream=stream, is_restated=True)


@dataclass(slots=True)
class _Table:
    """The rows of a table: ratings by run, and what cannot be used."""

    file: SourceFile
    option: RaterOption
    rows: dict[str, list[RatingRow]] = field(default_factory=dict)
    rejects: list[Reject] = field(default_factory=list)
    lines: dict[str, int] = field(default_factory=dict)

    def blocks(self) -> Iterator[Block]:
        """Yield a block for each run, and one of what cannot be used."""
        path = self.file.path
        if self.rejects:
            yield Block(path=path, run_id=None, rejects=self.rejects)
        for run_id, rows in self.rows.items():
            yield Block(path=path, run_id=run_id, rows={"ratings": rows})

    def read(self) -> None:
        """Read all rows."""
        try:
            header = self.file.data.decode("utf-8-sig").partition("\n")[0]
        except UnicodeDecodeError:
            self._reject(_NOT_UTF8, None)
            return
        csv.field_size_limit(_LONGEST_CELL)
        for record in csv_records(self.file, delimiter=max(",;\t", key=header.count)):
            if isinstance(record, Reject):
                self._reject(record.reason, record.line)
            else:
                line, cells = record
                self._add({name.strip().lower(): each for name, each in cells.items()}, line)

    def _add(self, cells: Mapping[str, str], line: int) -> None:
        answer_id = cells.get("id", "").strip()
        text = plain_cell(cells.get("label", "").strip())
        if not text:
            self.option.n_without += 1
            return
        labels = self.option.labels.get(answer_id)
        if labels is None:
            self._reject(f"{answer_id!r} is no answer that this store has asked about", line)
            return
        scale = labels.sample.scale
        label = scale.label(text)
        if label is None:
            self._reject(f"{answer_id}: {text[:50]!r} is not on the scale {scale.text}", line)
        elif answer_id in self.lines:
            self._reject(f"{answer_id}: labelled in line {self.lines[answer_id]}, too", line)
        else:
            self.lines[answer_id] = line
            note = plain_cell(cells.get("note", "").strip())[:_LONGEST_NOTE]
            self._add_label(answer_id, labels, label, note or None, cells.get("rated_at", ""))

    def _add_label(
        self, answer_id: str, labels: RaterLabels, label: str, note: str | None, time: str
    ) -> None:
        rated_at = _time(time, self.option.now)
        given = GivenLabel(utf8(label), note, rated_at or self.option.now)
        origin = time if rated_at else self.file.sha256
        row = labels.row(answer_id, given, origin=origin)
        newest = labels.newest.get(answer_id)
        is_same = newest is not None and newest[:2] == given[:2]
        if is_same or row["content_id"] in labels.stored:
            self.option.n_known += 1
        else:
            self.option.n_new += 1
            self.rows.setdefault(row["run_id"], []).append(row)

    def _reject(self, reason: str, line: int | None) -> None:
        self.option.n_wrong += 1
        self.rejects.append(Reject(reason, line))


def _time(text: str, now: datetime) -> datetime | None:
    """Return a time, UTC; none in the future, and None for other texts."""
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return min(time.astimezone(UTC).replace(tzinfo=None), now)
