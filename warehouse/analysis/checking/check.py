"""The execution of a check: each relation is read, evaluated, and sampled if it fails.

The warehouse is open only while DuckDB works: it is closed after a few seconds at the latest, or
after the relation in progress, so that a sync never waits for Great Expectations.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

import duckdb

from warehouse.analysis.checking import gx
from warehouse.analysis.checking.evaluation import Evaluation, evaluate_all
from warehouse.analysis.checking.frames import SAMPLE, RelationRows, types_of_views
from warehouse.core.errors import BadInput
from warehouse.core.progress import track
from warehouse.core.text.formatting import exact
from warehouse.engine.query import query_errors
from warehouse.lake.locks import WAIT_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from warehouse.analysis.checking.expectations import Expectation, Relation
    from warehouse.analysis.checking.gx import GxResult
    from warehouse.core.types import Row
    from warehouse.engine.base_store import BaseStore

# Characters of a value in a sample; the view has the full value.
_LONGEST = 300
# How long a sync may have to wait. It gives up after twice that; each opening costs as much as
# reading a few views.
_OPEN_SECONDS = WAIT_SECONDS / 2


@dataclass(frozen=True, slots=True, kw_only=True)
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


def run_checks(store: BaseStore, relations: Sequence[Relation]) -> list[CheckedRelation]:
    """Bring the store up to date and check the relations.

    Raises:
        BadInput: an expectation or a query cannot be used; the message names its location.
    """
    gx.load()  # before anything is open
    evaluated = chain.from_iterable(map(_evaluated, _read_all(store, relations)))
    return [
        _checked(store, read, results)
        for read, results in track(evaluated, len(relations), "checking")
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReadRelation:
    """A relation that was read.

    Attributes:
        relation: the relation.
        n_rows: its number of rows.
        evaluations: how to evaluate each of its expectations.
        unwanted: some of the rows, if none are expected.
    """

    relation: Relation
    n_rows: int
    evaluations: list[Evaluation]
    unwanted: list[Row]


def _read_all(store: BaseStore, relations: Sequence[Relation]) -> Iterator[list[_ReadRelation]]:
    """Read the relations in order; the warehouse is closed whenever some are yielded."""
    left = list(reversed(relations))
    types: dict[str, dict[str, str]] = {}
    while left:
        read: list[_ReadRelation] = []
        close_at = time.monotonic() + _OPEN_SECONDS
        # Only of these: each scoring function that a query names would be registered.
        files = " ".join(relation.query for relation in left if "files" in relation.query)
        with store.reading(files) as connection:
            types = types or types_of_views(connection)
            while left and (not read or time.monotonic() < close_at):
                read.append(_read(connection, left.pop(), types))
        yield read


def _read(
    connection: duckdb.DuckDBPyConnection,
    relation: Relation,
    types_of_views: Mapping[str, dict[str, str]],
) -> _ReadRelation:
    source = _source(connection, relation, types_of_views)
    types = source.types if any(e.columns for e in relation.expectations) else {}
    prepared = [gx.prepare(e, types) for e in relation.expectations]
    with _query_errors(relation):
        source.keep()
        n_rows = source.count()
        frames = source.frames(n_rows)
        # Now, because opening the warehouse again takes longer.
        is_unwanted = n_rows and any(e.expects_no_rows for e in relation.expectations)
        unwanted = [_shown(row) for row in source.rows()] if is_unwanted else []
    evaluations = list(map(Evaluation, relation.expectations, prepared, frames))
    return _ReadRelation(
        relation=relation, n_rows=n_rows, evaluations=evaluations, unwanted=unwanted
    )


@contextmanager
def _query_errors(relation: Relation) -> Iterator[None]:
    """Add the location of the relation's query to its errors."""
    try:
        with query_errors():
            yield
    except BadInput as error:
        relation.location.fail(f"{relation.name}: {error}")


def _evaluated(read: list[_ReadRelation]) -> Iterator[tuple[_ReadRelation, list[GxResult]]]:
    """Yield each relation with the results of its expectations."""
    results = iter(evaluate_all([evaluation for each in read for evaluation in each.evaluations]))
    for each in read:
        yield each, list(islice(results, len(each.evaluations)))


def _checked(store: BaseStore, read: _ReadRelation, answers: list[GxResult]) -> CheckedRelation:
    evaluated = list(zip(read.evaluations, answers, strict=True))
    if any(map(_needs_reading, read.evaluations, answers)):
        with store.reading() as connection, _query_errors(read.relation):
            source = RelationRows(connection, read.relation, {})
            samples = [_sample(source, read, *each) for each in evaluated]
    else:
        samples = [_sample(None, read, *each) for each in evaluated]
    results = (
        ExpectationResult(
            expectation=evaluation.expectation,
            passed=answer.passed,
            n_offending=_n_offending(evaluation, answer),
            observed=answer.observed,
            error=answer.error,
            sample=tuple(map(_shown, sample)),
        )
        for (evaluation, answer), sample in zip(evaluated, samples, strict=True)
    )
    return CheckedRelation(read.relation, read.n_rows, tuple(results))


def _source(
    connection: duckdb.DuckDBPyConnection,
    relation: Relation,
    types_of_views: Mapping[str, dict[str, str]],
) -> RelationRows:
    """Open a relation and check that it has the columns its expectations name."""
    named = [(column, relation.location, f"{relation.name}: key") for column in relation.key]
    named += [
        (column, expectation.location, f"{expectation.type}: column")
        for expectation in relation.expectations
        if expectation.type != "expect_column_to_exist"
        for column in expectation.columns
    ]
    with _query_errors(relation):
        kinds = [statement.type for statement in connection.extract_statements(relation.query)]
        if kinds != [duckdb.StatementType.SELECT]:
            raise BadInput("the query must be a single SELECT")
        source = RelationRows(connection, relation, types_of_views)
        has_columns = relation.key or any(each.columns for each in relation.expectations)
        types = source.types if has_columns else {}
    for column, location, what in named:
        if column not in types:
            names = ", ".join(types)
            location.fail(f"{what}: unknown column {column!r}; the columns are: {names}")
    return source


def _needs_reading(evaluation: Evaluation, answer: GxResult) -> bool:
    """Return whether rows for a sample have to be read."""
    frame = evaluation.frame
    return bool(answer.positions) and frame.weights is not None and frame.rows is None


def _sample(
    source: RelationRows | None, read: _ReadRelation, evaluation: Evaluation, answer: GxResult
) -> Sequence[Row]:
    """Return some of the offending rows."""
    if evaluation.expectation.expects_no_rows:
        return read.unwanted
    if answer.passed or answer.error:
        return ()
    frame = evaluation.frame
    weights = frame.weights
    positions = [p for p in answer.positions if weights is None or weights[p]][:SAMPLE]
    if not positions or frame.values is None:
        return ()
    if frame.rows is not None:
        columns = dict.fromkeys((*read.relation.key, *evaluation.expectation.columns))
        return [{name: frame.rows[p][name] for name in columns} for p in positions]
    values = frame.values.take(positions)
    if source is None or weights is None:
        unread: list[Row] = values.to_pylist()
        return unread
    return source.rows_with(values)


def _n_offending(evaluation: Evaluation, answer: GxResult) -> int | None:
    if answer.passed or answer.error:
        return None if answer.error else 0
    if evaluation.expectation.expects_no_rows:
        return evaluation.frame.n_rows
    weights = evaluation.frame.weights
    if weights is None:
        return len(answer.positions) or None
    return sum(weights[position] for position in answer.positions)


def _shown(row: Row) -> Row:
    return {name: _cut(value) for name, value in row.items()}


def _cut(value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = exact(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
