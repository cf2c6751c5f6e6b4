"""Runs a check: each batch is read, judged, and asked again for a few of its offending rows.

The warehouse is open only while DuckDB works, and closed every second or after every batch, so that
a sync that comes in between never waits for Great Expectations.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb

from warehouse.checking import gx
from warehouse.checking.frames import SAMPLE, Frame, Source
from warehouse.checking.gx import Verdict
from warehouse.errors import BadInput
from warehouse.output.formatting import exact
from warehouse.output.progress import track
from warehouse.store import query_errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from warehouse.checking.expectations import Batch, Expectation, Place
    from warehouse.store import Store
    from warehouse.types import Row

# Of a value in a sample: it shows what is wrong, the view has it in full.
_LONGEST = 300
# How long a sync may have to wait: less than it does wait.
_OPEN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an expectation.

    Attributes:
        expectation: what was expected.
        passed: whether it holds.
        n_offending: rows that do not meet it; None where it is about a figure, or has no answer.
        observed: the figure, where it is about one.
        error: why there is no answer.
        sample: some of the offending rows, long values cut.
    """

    expectation: Expectation
    passed: bool
    n_offending: int | None = None
    observed: str = ""
    error: str = ""
    sample: tuple[Row, ...] = ()

    @property
    def is_failure(self) -> bool:
        """Whether the whole check fails by it."""
        return not self.passed and self.expectation.severity == "critical"


@dataclass(frozen=True, slots=True)
class Checked:
    """A batch, how many rows it had, and what became of each expectation."""

    batch: Batch
    n_rows: int
    outcomes: tuple[Outcome, ...]


def run_checks(store: Store, batches: Sequence[Batch]) -> list[Checked]:
    """Check the batches, on a store that is brought up to date first.

    Raises:
        BadInput: an expectation or a query cannot be used; the message names its place.
    """
    gx.load()  # before anything is open
    read = track(_read_all(store, batches), len(batches), "checking")
    return [_checked(store, each) for each in read]


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read of a batch: a frame for each of its expectations."""

    batch: Batch
    n_rows: int
    prepared: list[object]
    frames: list[Frame]


def _read_all(store: Store, batches: Sequence[Batch]) -> Iterator[_Read]:
    """Read one batch after the other; the warehouse is closed whenever one is given."""
    left = list(reversed(batches))
    while left:
        read: list[_Read] = []
        close_at = time.monotonic() + _OPEN_SECONDS
        with store.reading() as connection:
            while left and (not read or time.monotonic() < close_at):
                read.append(_read(connection, left.pop()))
        yield from read


def _read(connection: duckdb.DuckDBPyConnection, batch: Batch) -> _Read:
    source = _source(connection, batch)
    prepared = [gx.prepare(e, source.types) for e in batch.expectations]
    with _placed(batch):
        source.keep()
        n_rows = source.count()
        frames = [source.frame(e, n_rows) for e in batch.expectations]
    return _Read(batch, n_rows, prepared, frames)


@contextmanager
def _placed(batch: Batch) -> Iterator[None]:
    """Tell a query's error with the place where the query is written."""
    try:
        with query_errors():
            yield
    except BadInput as error:
        batch.place.refuse(f"{batch.name}: {error}")


def _checked(store: Store, read: _Read) -> Checked:
    verdicts = [_judge(p, f) for p, f in zip(read.prepared, read.frames, strict=True)]
    told = list(zip(read.batch.expectations, verdicts, read.frames, strict=True))
    samples: list[tuple[Row, ...]] = [()] * len(told)
    if not all(verdict.passed for verdict in verdicts):
        with store.reading() as connection, _placed(read.batch):
            source = Source(connection, read.batch)
            samples = [tuple(map(_shown, _sample(source, *each))) for each in told]
    outcomes = (
        Outcome(e, v.passed, _n_offending(e, v, f), v.observed, v.error, sample)
        for (e, v, f), sample in zip(told, samples, strict=True)
    )
    return Checked(read.batch, read.n_rows, tuple(outcomes))


def _judge(prepared: object, frame: Frame) -> Verdict:
    # Where DuckDB finds no value to judge, there is none to object to.
    is_settled = frame.weights is not None and not len(frame.weights)
    return Verdict(passed=True) if is_settled else gx.judge(prepared, frame.data)


def _source(connection: duckdb.DuckDBPyConnection, batch: Batch) -> Source:
    """Open a batch, and see that it has the columns that are spoken of."""
    with _placed(batch):
        kinds = [statement.type for statement in connection.extract_statements(batch.query)]
        if kinds != [duckdb.StatementType.SELECT]:
            raise BadInput("the query has to be one SELECT")
        source = Source(connection, batch)
    for column in batch.key:
        _need(column, batch.place, source, f"{batch.name}: key")
    for expectation in batch.expectations:
        if expectation.type != "expect_column_to_exist":
            for column in expectation.columns:
                _need(column, expectation.place, source, f"{expectation.type}: column")
    return source


def _need(column: str, place: Place, source: Source, what: str) -> None:
    if column not in source.types:
        names = ", ".join(source.types)
        place.refuse(f"{what}: there is no column {column!r}; there are: {names}")


def _sample(
    source: Source, expectation: Expectation, verdict: Verdict, frame: Frame
) -> Iterable[Row]:
    if verdict.passed or verdict.error:
        return ()
    if expectation.is_of_no_rows:
        return source.rows()
    weights = frame.weights
    positions = [p for p in verdict.positions if weights is None or weights[p]][:SAMPLE]
    if not positions or frame.values is None:
        return ()
    values = frame.values.take(positions)
    return values.to_pylist() if weights is None else source.rows_with(values)


def _n_offending(expectation: Expectation, verdict: Verdict, frame: Frame) -> int | None:
    if verdict.passed or verdict.error:
        return None if verdict.error else 0
    if expectation.is_of_no_rows:
        return len(frame.data)
    if frame.weights is None:
        return len(verdict.positions) or None
    return sum(frame.weights[position] for position in verdict.positions)


def _shown(row: Row) -> Row:
    return {name: _cut(value) for name, value in row.items()}


def _cut(value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = exact(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
