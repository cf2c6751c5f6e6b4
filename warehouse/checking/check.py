"""The execution of a check: each relation is read, evaluated, and sampled where it fails.

The warehouse is open only while DuckDB works: it is closed after a second at the latest, or after
the relation in progress, so that a sync never waits for Great Expectations.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb

from warehouse.checking import gx
from warehouse.checking.frames import SAMPLE, Frame, RelationRows
from warehouse.checking.gx import GxResult
from warehouse.errors import BadInput
from warehouse.output.formatting import exact
from warehouse.output.progress import track
from warehouse.store import query_errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from warehouse.checking.expectations import Expectation, Location, Relation
    from warehouse.store import Store
    from warehouse.types import Row

# Characters of a value in a sample; the view has it in full.
_LONGEST = 300
# How long a sync may have to wait; it gives up later than that.
_OPEN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class ExpectationResult:
    """The result of an expectation.

    Attributes:
        expectation: the expectation.
        passed: whether it is met.
        n_offending: rows that do not meet it; None if it is about a figure, or on an error.
        observed: the figure, if it is about one.
        error: why it could not be evaluated.
        sample: some of the offending rows, with long values truncated.
    """

    expectation: Expectation
    passed: bool
    n_offending: int | None = None
    observed: str = ""
    error: str = ""
    sample: tuple[Row, ...] = ()

    @property
    def is_failure(self) -> bool:
        """Whether it makes the check fail."""
        return not self.passed and self.expectation.severity == "critical"


@dataclass(frozen=True, slots=True)
class CheckedRelation:
    """A relation, its number of rows, and the result of each of its expectations."""

    relation: Relation
    n_rows: int
    results: tuple[ExpectationResult, ...]


def run_checks(store: Store, relations: Sequence[Relation]) -> list[CheckedRelation]:
    """Bring the store up to date and check the relations.

    Raises:
        BadInput: an expectation or a query cannot be used; the message names its location.
    """
    gx.load()  # before anything is open
    read = track(_read_all(store, relations), len(relations), "checking")
    return [_checked(store, each) for each in read]


@dataclass(frozen=True, slots=True)
class _ReadRelation:
    """A relation that was read: a frame for each of its expectations."""

    relation: Relation
    n_rows: int
    prepared: list[object]
    frames: list[Frame]


def _read_all(store: Store, relations: Sequence[Relation]) -> Iterator[_ReadRelation]:
    """Read the relations in order; the warehouse is closed whenever one is yielded."""
    left = list(reversed(relations))
    while left:
        read: list[_ReadRelation] = []
        close_at = time.monotonic() + _OPEN_SECONDS
        with store.reading() as connection:
            while left and (not read or time.monotonic() < close_at):
                read.append(_read(connection, left.pop()))
        yield from read


def _read(connection: duckdb.DuckDBPyConnection, relation: Relation) -> _ReadRelation:
    source = _source(connection, relation)
    prepared = [gx.prepare(e, source.types) for e in relation.expectations]
    with _query_errors(relation):
        source.keep()
        n_rows = source.count()
        frames = [source.frame(e, n_rows) for e in relation.expectations]
    return _ReadRelation(relation, n_rows, prepared, frames)


@contextmanager
def _query_errors(relation: Relation) -> Iterator[None]:
    """Add the location of the relation's query to its errors."""
    try:
        with query_errors():
            yield
    except BadInput as error:
        relation.location.fail(f"{relation.name}: {error}")


def _checked(store: Store, read: _ReadRelation) -> CheckedRelation:
    answers = [_evaluate(p, f) for p, f in zip(read.prepared, read.frames, strict=True)]
    evaluated = list(zip(read.relation.expectations, answers, read.frames, strict=True))
    samples: list[tuple[Row, ...]] = [()] * len(evaluated)
    if not all(answer.passed for answer in answers):
        with store.reading() as connection, _query_errors(read.relation):
            source = RelationRows(connection, read.relation)
            samples = [tuple(map(_shown, _sample(source, *each))) for each in evaluated]
    results = (
        ExpectationResult(
            expectation=expectation,
            passed=answer.passed,
            n_offending=_n_offending(expectation, answer, frame),
            observed=answer.observed,
            error=answer.error,
            sample=sample,
        )
        for (expectation, answer, frame), sample in zip(evaluated, samples, strict=True)
    )
    return CheckedRelation(read.relation, read.n_rows, tuple(results))


def _evaluate(prepared: object, frame: Frame) -> GxResult:
    # Without a value that could offend, the expectation is met.
    is_met = frame.weights is not None and not len(frame.weights)
    return GxResult(passed=True) if is_met else gx.evaluate(prepared, frame.data)


def _source(connection: duckdb.DuckDBPyConnection, relation: Relation) -> RelationRows:
    """Open a relation and check that it has the columns its expectations name."""
    with _query_errors(relation):
        kinds = [statement.type for statement in connection.extract_statements(relation.query)]
        if kinds != [duckdb.StatementType.SELECT]:
            raise BadInput("the query must be a single SELECT")
        source = RelationRows(connection, relation)
    for column in relation.key:
        _need(column, relation.location, source, f"{relation.name}: key")
    for expectation in relation.expectations:
        if expectation.type != "expect_column_to_exist":
            for column in expectation.columns:
                _need(column, expectation.location, source, f"{expectation.type}: column")
    return source


def _need(column: str, location: Location, source: RelationRows, what: str) -> None:
    if column not in source.types:
        names = ", ".join(source.types)
        location.fail(f"{what}: unknown column {column!r}; the columns are: {names}")


def _sample(
    source: RelationRows, expectation: Expectation, answer: GxResult, frame: Frame
) -> Iterable[Row]:
    if answer.passed or answer.error:
        return ()
    if expectation.expects_no_rows:
        return source.rows()
    weights = frame.weights
    positions = [p for p in answer.positions if weights is None or weights[p]][:SAMPLE]
    if not positions or frame.values is None:
        return ()
    values = frame.values.take(positions)
    return values.to_pylist() if weights is None else source.rows_with(values)


def _n_offending(expectation: Expectation, answer: GxResult, frame: Frame) -> int | None:
    if answer.passed or answer.error:
        return None if answer.error else 0
    if expectation.expects_no_rows:
        return len(frame.data)
    if frame.weights is None:
        return len(answer.positions) or None
    return sum(frame.weights[position] for position in answer.positions)


def _shown(row: Row) -> Row:
    return {name: _cut(value) for name, value in row.items()}


def _cut(value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = exact(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
