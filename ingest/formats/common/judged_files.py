"""Files of judges and people as readings: each record says which run it belongs to."""

from __future__ import annotations

import csv
import io
import math
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ingest.formats.common.collector import RowCollector
from ingest.formats.common.elements import BrokenElementsError, DeepElement, Elements
from ingest.formats.common.judged import JudgedRows
from ingest.formats.common.records import json_lines
from ingest.reading import Block, Reading, Reject, Stream
from warehouse.core.formats.values import TOO_DEEP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from ingest.reading import SourceFile
    from warehouse.core.types import JsonObject, ReportedMetricRow

    # Adds the rows of a record, given its position from 1; returns why it cannot be used, if so.
    Add: TypeAlias = Callable[[JsonObject, int, "JudgedRuns"], str | None]
    _Records: TypeAlias = Callable[["JudgedRuns"], Iterator["_Record"]]

_TABLES = ("results", "tasks", "ratings", "preferences", "reported_metrics")
_RECORDS_PER_BLOCK = 500
_REST = "\0"  # no column has this name


class JudgedRuns:
    """The rows of the runs in a file that were read and not yet yielded."""

    def __init__(self, suite: str, path: Path) -> None:
        self.suite = suite
        self.path = path
        self.problems = Block(path=path, run_id=None)
        self._runs: dict[tuple[str, str], JudgedRows] = {}
        self._collectors: dict[str, RowCollector] = {}

    def of(self, run_id: str, task_set: str) -> JudgedRows:
        """Return the rows of a run and a task set; without a name, rows that are of no run."""
        if (run_id, task_set) not in self._runs:
            collector = self._collectors.setdefault(run_id, RowCollector(self.path, run_id))
            self._runs[run_id, task_set] = JudgedRows(self.suite, task_set, collector)
        return self._runs[run_id, task_set]

    def take(self) -> Iterator[Block]:
        """Yield what was collected."""
        if self.problems.rejects or self.problems.secrets:
            yield self.problems
            self.problems = Block(path=self.path, run_id=None)
        for rows in self._collectors.values():
            for block in rows.rest():
                block.run_id = block.run_id or None
                yield block


def list_reading(name: str, suite: str, path: Path, add: Add, *, redact: bool) -> Reading:
    """Return the reading of a JSON list of records, of any size.

    Args:
        name: name of the format.
        suite: suite of the runs.
        path: the file.
        add: adds the rows of a record.
        redact: whether possible secrets are masked.
    """
    return _reading(
        name, suite, path, partial(_blocks, partial(_elements, redact=redact), suite, path, add)
    )


def lines_reading(name: str, suite: str, path: Path, add: Add, *, redact: bool) -> Reading:
    """Return the reading of JSON lines, of any size; see `list_reading`."""
    return _reading(
        name, suite, path, partial(_blocks, partial(_lines, redact=redact), suite, path, add)
    )


class Figure(NamedTuple):
    """A figure that a file reports.

    Attributes:
        run_id: the run that it is about.
        row: its row without ids; one without `value` and `text` is no figure.
    """

    run_id: str
    row: ReportedMetricRow


def figures_reading(
    name: str, suite: str, file: SourceFile, figures: Iterable[Figure | Reject]
) -> Reading:
    """Return the reading of a small file of figures.

    Args:
        name: name of the format.
        suite: suite of the runs.
        file: the file.
        figures: the figures, and what of the file cannot be used.
    """
    runs = JudgedRuns(suite, file.path)
    for seq, each in enumerate(figures, 1):
        if isinstance(each, Reject):
            runs.problems.rejects.append(each)
        elif (each.row["value"], each.row["text"]) != (None, None):
            rows = runs.of(each.run_id, "").rows
            content = [(column, str(value)) for column, value in sorted(each.row.items())]
            ids = {"seq": seq, "content_id": rows.id_of("figure", content)}
            rows.add("reported_metrics", {**each.row, **ids})
    blocks = list(runs.take())
    return _reading(name, suite, file.path, lambda: iter(blocks))


def csv_records(file: SourceFile) -> Iterator[tuple[int, dict[str, str]] | Reject]:
    """Yield line and cells, by column, of each row of a table, and what cannot be used of it."""
    try:
        text = io.StringIO(file.data.decode("utf-8-sig"), newline="")
        reader = csv.DictReader(text, restkey=_REST)
        for record in reader:
            if _REST in record or None in record.values():
                yield Reject("a row with other cells than there are columns", reader.line_num)
            else:
                yield reader.line_num, record
    except (UnicodeDecodeError, csv.Error) as error:
        yield Reject(f"cannot be read as a table ({error})", raw=file.data)


def cell_amount(cell: str) -> tuple[float | None, str | None]:
    """Return a cell as a finite number, or as text; neither if it is empty."""
    try:
        number = float(cell)
    except ValueError:
        return None, cell or None
    return (number, None) if math.isfinite(number) else (None, cell)


def _reading(name: str, suite: str, path: Path, blocks: Callable[[], Iterator[Block]]) -> Reading:
    stream = Stream(paths=(path,), tables=_TABLES, blocks=blocks, is_open=True)
    return Reading(name, run=(suite, ""), stream=stream)


class _Record(NamedTuple):
    """A value in a file, its place from 1, and its text."""

    value: object
    place: int
    raw: bytes


def _blocks(records: _Records, suite: str, path: Path, add: Add) -> Iterator[Block]:
    runs = JudgedRuns(suite, path)
    for n_read, (value, place, raw) in enumerate(records(runs), 1):
        if isinstance(value, dict):
            problem = add(value, place, runs)
        else:
            problem = TOO_DEEP if isinstance(value, DeepElement) else "not a JSON object"
        if problem:
            runs.problems.rejects.append(Reject(problem, place, raw=raw))
        if n_read % _RECORDS_PER_BLOCK == 0:
            yield from runs.take()
    yield from runs.take()


def _elements(runs: JudgedRuns, *, redact: bool) -> Iterator[_Record]:
    """Yield the elements of a JSON list; the place of one is its position."""
    elements, place = Elements(runs.path, is_masked=redact), 0
    try:
        for place, value in enumerate(elements.read(), 1):
            runs.problems.secrets += elements.take_secrets()
            yield _Record(value, place, elements.raw().encode("utf-8", "replace"))
    except BrokenElementsError as error:
        runs.problems.rejects.append(Reject(f"after record {place}: {error}", place + 1))
    runs.problems.secrets += elements.take_secrets()


def _lines(runs: JudgedRuns, *, redact: bool) -> Iterator[_Record]:
    for block in json_lines(runs.path, redact=redact):
        runs.problems.rejects += block.rejects
        runs.problems.secrets += block.secrets
        for record in block.records:
            yield _Record(record.value, record.line, record.raw)
