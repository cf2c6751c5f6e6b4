"""Files of judges and people as readings: each record says which run it belongs to."""

from __future__ import annotations

import csv
import io
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ingest.formats.common.collector import RowCollector
from ingest.formats.common.elements import BrokenElementsError, DeepElement, Elements
from ingest.formats.common.fields import amount, finite_number
from ingest.formats.common.judged import JudgedRows
from ingest.formats.common.records import UnreadableRecordError, json_lines
from ingest.reading import Block, Reading, Reject, Stream
from warehouse.core.formats.values import TOO_DEEP, utf8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from ingest.format import Read
    from ingest.reading import ImportContext, SourceFile
    from warehouse.core.types import Json, JsonObject, ReportedMetricRow

    # Adds the rows of a record, given its position from 1; returns why it cannot be used, if so.
    Add: TypeAlias = Callable[[JsonObject, int, "JudgedRuns"], str | None]
    _Records: TypeAlias = Callable[["JudgedRuns"], Iterator["_Record"]]

_TABLES = (
    *("results", "result_scores", "tasks", "systems", "ratings", "preferences"),
    "reported_metrics",
)
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


def records_reader(name: str, suite: str, add: Add, *, is_list: bool) -> Read:
    """Return a `Reader.read` for JSON lines or a JSON list of records, of any size.

    Args:
        name: name of the format.
        suite: suite of the runs.
        add: adds the rows of a record.
        is_list: whether the file is a list.
    """

    def read(path: Path, context: ImportContext) -> Iterator[Reading]:
        records = partial(_elements if is_list else _lines, redact=context.options.redact)
        yield _reading(name, suite, path, partial(_blocks, records, suite, path, add))

    return read


class Figure(NamedTuple):
    """A figure that a file reports.

    Attributes:
        run_id: the run that it is about.
        metric: its name.
        value: the figure, or a cell of a table; there is none if it is empty.
        columns: what else is known of it.
    """

    run_id: str
    metric: str
    value: Json
    columns: ReportedMetricRow


def figures_reader(
    name: str, suite: str, figures: Callable[[SourceFile], Iterable[Figure | Reject]]
) -> Read:
    """Return a `Reader.read` for small files of figures.

    Args:
        name: name of the format.
        suite: suite of the runs.
        figures: yields the figures of a file, and what of it cannot be used; raises
            `UnreadableRecordError` for a file of which nothing can.
    """

    def read(path: Path, context: ImportContext) -> Iterator[Reading]:
        file = context.read(path)
        if file is not None:
            runs = JudgedRuns(suite, path)
            try:
                for seq, each in enumerate(figures(file), 1):
                    if isinstance(each, Reject):
                        runs.problems.rejects.append(each)
                    else:
                        _add_figure(each, seq, runs.of(each.run_id, "").rows)
            except UnreadableRecordError as error:
                runs.problems.rejects.append(Reject(str(error), raw=file.data))
            blocks = list(runs.take())
            yield _reading(name, suite, path, lambda: iter(blocks))

    return read


def _add_figure(figure: Figure, seq: int, rows: RowCollector) -> None:
    if figure.value == "":
        return
    number = number_in(figure.value)
    value, text = (number, None) if number is not None else amount(figure.value)
    row: ReportedMetricRow = {"metric": utf8(figure.metric), "value": value, "text": text}
    row |= figure.columns
    content = [(column, str(each)) for column, each in sorted(row.items())]
    rows.add("reported_metrics", {**row, "seq": seq, "content_id": rows.id_of("figure", content)})


def number_in(value: Json) -> float | None:
    """Return a finite number, which may be written as text; None for any other value."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return finite_number(value)


def csv_records(
    file: SourceFile, delimiter: str = ","
) -> Iterator[tuple[int, dict[str, str]] | Reject]:
    """Yield line and cells, by column, of each row of a table, and what cannot be used of it."""
    try:
        text = io.StringIO(file.data.decode("utf-8-sig"), newline="")
        reader = csv.DictReader(text, restkey=_REST, delimiter=delimiter)
        for record in reader:
            if _REST in record or None in record.values():
                yield Reject("a row with other cells than there are columns", reader.line_num)
            else:
                yield reader.line_num, record
    except (UnicodeDecodeError, csv.Error) as error:
        yield Reject(f"cannot be read as a table ({error})", raw=file.data)


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
