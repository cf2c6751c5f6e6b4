"""Samples of a store by filters on any of their columns: the query, and the rows of a page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from warehouse.core.errors import BadInput
from warehouse.engine.query import rows_by_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import duckdb

    from warehouse.analysis.sample_columns import SampleColumn
    from warehouse.analysis.search import Search
    from warehouse.core.types import Row

    # Writes a value into a query: as a literal, or as the name of a parameter.
    Write = Callable[[object], str]

OPERATORS = {
    "eq": "=",
    "ne": "≠",
    "contains": "contains",
    "lt": "<",
    "le": "≤",
    "gt": ">",
    "ge": "≥",
    "unknown": "is unknown",
    "known": "is known",
}
_SQL = {"eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_MOST_CHARACTERS = 1_000
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f]")
_LARGEST = 2**63 - 1
_EXACT_DIGITS = 15
_WORDS = {"yes": True, "true": True, "no": False, "false": False}
_KEYS = ("suite", "run_id", "result_id")
_ORDER = (
    "samples.run_date DESC NULLS LAST, samples.suite, samples.run_id, samples.seq, "
    "samples.result_id"
)
# `passed` is a column of no view that has the other columns of results.
_SAMPLES = """(
    SELECT *, coalesce(is_correct, objective_pass, computed) AS passed
    FROM scores.resolved_results
) AS samples"""
SHOWN_CHARACTERS = 200
_PAGE = """
WITH found AS MATERIALIZED (
    SELECT
        samples.suite, samples.run_id, samples.result_id, samples.run_date, samples.seq,
        samples.passed, {sort} AS sort_value
    FROM {relation}
),

page AS (
    SELECT {{suite: suite, run_id: run_id, result_id: result_id}} AS key
    FROM found AS samples
    ORDER BY {order}
    LIMIT {size} OFFSET {start}
)

SELECT
    (SELECT count(*) FROM found),
    (SELECT count(*) FROM found WHERE passed IS NULL),
    (SELECT list(key) FROM page)
"""
_ROWS = """
SELECT
    samples.suite, samples.run_id, samples.result_id, samples.trial_id, samples.failure_type,
    samples.availability_status IS DISTINCT FROM 'ok' AND samples.success IS NOT TRUE AS has_failed,
    {shown}
FROM {samples}
{joins}
SEMI JOIN (SELECT {page}) AS page
    ON {same}
ORDER BY {order}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleFilter:
    """A condition on a column; a value that is unknown meets none but `is unknown`.

    Attributes:
        column: the column.
        operator: a key of `OPERATORS`.
        text: the value as it was given; empty for `is unknown` and `is known`.
        value: the value, of the column's kind.
    """

    column: SampleColumn
    operator: str
    text: str
    value: object

    def condition(self, expression: str, write: Write) -> str:
        """Return the condition in SQL."""
        if self.operator in {"unknown", "known"}:
            return f"{expression} IS {'NOT ' if self.operator == 'known' else ''}NULL"
        if self.operator == "contains":
            return f"contains(CAST({expression} AS VARCHAR), {write(self.text)})"
        if self.column.kind == "json" and isinstance(self.value, int | float):
            expression = f"TRY_CAST({expression} AS DOUBLE)"
        return f"{expression} {_SQL[self.operator]} {write(self.value)}"


def sample_filter(column: SampleColumn, operator: str, text: str) -> SampleFilter:
    """Return a condition on a column.

    Raises:
        BadInput: there is no such operator, or the value is not of the column's kind.
    """
    if operator not in OPERATORS:
        raise BadInput(f"unknown operator {operator!r}; choose one of {', '.join(OPERATORS)}")
    if operator in {"unknown", "known"}:
        return SampleFilter(column=column, operator=operator, text="", value=None)
    check_text(f"the value of {column.title}", text)
    if operator == "contains":
        return SampleFilter(column=column, operator=operator, text=text, value=text)
    if column.kind == "boolean" and operator not in {"eq", "ne"}:
        raise BadInput(f"{column.title} is yes or no: compare it by = or ≠")
    value = _parsed(column, text)
    return SampleFilter(column=column, operator=operator, text=text, value=value)


def check_text(what: str, text: str) -> None:
    """Check that a text can be a part of a query.

    Raises:
        BadInput: it is too long, or has control characters.
    """
    if len(text) > _MOST_CHARACTERS:
        raise BadInput(f"{what} has more than {_MOST_CHARACTERS:,} characters")
    if _CONTROL.search(text):
        raise BadInput(f"{what} has control characters")


def _parsed(column: SampleColumn, text: str) -> object:
    parse, example = _PARSERS.get(column.kind, (str, ""))
    try:
        return parse(text)
    except (ValueError, KeyError):
        raise BadInput(f"{column.title}: {text!r} is not {example}") from None


def _number(text: str) -> int | float:
    try:
        value: int | float = int(text)
    except ValueError:
        value = float(text)
    if not -_LARGEST <= value <= _LARGEST:  # not a number, too
        raise ValueError(text)
    return value


def _number_or_text(text: str) -> object:
    try:
        return _number(text)
    except ValueError:
        return text


def _time(text: str) -> datetime:
    """Return a time without a zone, as the store has it: UTC."""
    time = datetime.fromisoformat(text.strip())
    return time if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None)


# By the kind of a column: what makes a value of a text, and what the text should be.
_PARSERS: Mapping[str, tuple[Callable[[str], object], str]] = {
    "number": (_number, "a number, such as 0.5"),
    "boolean": (lambda text: _WORDS[text.strip().lower()], "yes or no"),
    "date": (lambda text: date.fromisoformat(text.strip()), "a date, such as 2026-01-31"),
    "time": (_time, "a time, such as 2026-01-31 10:00"),
    "json": (_number_or_text, "a value"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleQuery:
    """Which samples are wanted, with which columns, in which order.

    Attributes:
        columns: the columns to show.
        filters: conditions that all hold.
        runs: IDs of the runs whose samples these are; empty for all.
        search: a text that one of the sample's texts has, or None.
        sort: the column to sort by; None for the newest run first, in the order of its log.
        is_descending: whether the largest comes first; unknown values come last both ways.
    """

    columns: Sequence[SampleColumn]
    filters: Sequence[SampleFilter] = ()
    runs: Sequence[str] = ()
    search: Search | None = None
    sort: SampleColumn | None = None
    is_descending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePage:
    """A page of samples.

    Attributes:
        n_found: number of samples that are wanted, on all pages.
        n_unjudged: those of them without a verdict.
        rows: the samples: suite, run_id, result_id, trial_id, then the columns by their place, `0`
            and so on; of long texts the start.
    """

    n_found: int
    n_unjudged: int
    rows: list[Row]


def all_samples(query: SampleQuery) -> str:
    """Return the query of all samples with the columns, which runs in `evalstore sql`."""
    relation = _Relation(literal)
    keys = [each for each in _KEYS if each not in {column.key for column in query.columns}]
    shown = [f'samples."{key}"' for key in keys]
    shown += [f"{relation.value(each)} AS {_quoted_name(each.key)}" for each in query.columns]
    where, order = _where(query, relation), _order(query, _sort_value(query, relation))
    lines = ",\n    ".join(shown)
    return f"SELECT\n    {lines}\nFROM {_SAMPLES}\n{relation.joins}{where}ORDER BY {order}\n"


def sample_page(
    connection: duckdb.DuckDBPyConnection, query: SampleQuery, *, start: int, size: int
) -> SamplePage:
    """Return some of the samples, from a place on, and how many there are.

    First the keys of the page are found, by the columns that filters and order need: only its rows
    are joined with texts and scores.

    Raises:
        duckdb.Error: the query was interrupted, or needs too much memory.
    """
    relation = _Relation(bound := Bound())
    where, sort = _where(query, relation), _sort_value(query, relation)
    sql = _PAGE.format(
        relation=f"{_SAMPLES}\n{relation.joins}{where}",
        sort=sort,
        order=_order(query, "samples.sort_value"),
        size=size,
        start=start,
    )
    n_found, n_unjudged, keys = connection.execute(sql, bound.values).fetchall()[0]
    rows = _page_rows(connection, query, keys) if keys else []
    return SamplePage(n_found=n_found, n_unjudged=n_unjudged, rows=rows)


def _page_rows(
    connection: duckdb.DuckDBPyConnection, query: SampleQuery, keys: list[Row]
) -> list[Row]:
    bound = Bound()
    run_ids = [key["run_id"] for key in keys]
    # Both let DuckDB skip most of a large store.
    runs = f"run_id BETWEEN {bound(min(run_ids))} AND {bound(max(run_ids))}"
    results = f"result_id IN ({', '.join(bound(key['result_id']) for key in keys)})"
    relation = _Relation(bound, runs=runs, results=results)
    shown = [
        f'{_start(each, relation.value(each))} AS "{place}"'
        for place, each in enumerate(query.columns)
    ]
    order = _order(query, _sort_value(query, relation))
    lists = {name: bound([key[name] for key in keys]) for name in _KEYS}
    page = ", ".join(f"unnest({parameter}) AS {name}" for name, parameter in lists.items())
    sql = _ROWS.format(
        shown=", ".join(shown),
        samples=_SAMPLES.replace("\n)", f"\n    WHERE {runs} AND {results}\n)"),
        joins=relation.joins,
        page=page,
        same=_same("page", _KEYS),
        order=order,
    )
    return rows_by_name(connection.execute(sql, bound.values))


class Bound:
    """Writes values as parameters of a query.

    Attributes:
        values: the values by the names of their parameters.
    """

    def __init__(self) -> None:
        self.values: dict[str, object] = {}

    def __call__(self, value: object) -> str:
        """Return the name of a value's parameter, with `$`."""
        name = f"p{len(self.values)}"
        self.values[name] = value
        return f"${name}"


def literal(value: object) -> str:
    """Return a value as SQL has it.

    Raises:
        TypeError: it is no text, number, boolean, date or time.
    """
    match value:
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case float():
            text = repr(value)
            # A number without an exponent is a DECIMAL, and exact as such up to 15 digits.
            return text if "e" in text or len(text) <= _EXACT_DIGITS else f"{text}e0"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case datetime():
            return f"TIMESTAMP '{value}'"
        case date():
            return f"DATE '{value}'"
    raise TypeError(f"no literal of {type(value)}")


class _Relation:
    """What is joined with the samples for the columns that a query uses.

    Args:
        write: writes values into the query.
        runs: a condition on `run_id` that the joined rows meet.
        results: one on `result_id`.
    """

    def __init__(self, write: Write, *, runs: str = "", results: str = "") -> None:
        self.write = write
        self._narrow = {"run_id": runs, "result_id": results}
        self._joined: dict[str, str] = {}
        self._names: dict[str, str] = {}

    @property
    def joins(self) -> str:
        """The joins, a line each."""
        return "".join(f"{join}\n" for join in self._joined.values())

    def value(self, column: SampleColumn) -> str:
        """Return the expression of a column's value; what it needs is joined."""
        if column.key in self._names:
            return self._names[column.key]
        value = column.value.format(*map(self.write, column.names))
        if not column.joined_by:
            return value
        name = f"column_{len(self._joined) + 1}"
        narrow = [self._narrow[key] for key in column.joined_by if self._narrow.get(key)]
        if narrow:
            value = f"(SELECT * FROM {value} WHERE {' AND '.join(narrow)})"  # noqa: S608 - ours
        same = _same(name, column.joined_by)
        self._joined[column.key] = f"LEFT JOIN {value} AS {name}\n    ON {same}"
        self._names[column.key] = f"{name}.value"
        return self._names[column.key]


def _where(query: SampleQuery, relation: _Relation) -> str:
    """Return the lines of a query that say which samples are wanted."""
    write, lines = relation.write, ""
    conditions = [each.condition(relation.value(each.column), write) for each in query.filters]
    if query.runs:
        conditions.append(f"samples.run_id IN ({', '.join(map(write, query.runs))})")
    if query.search is not None:
        matches = query.search.condition(write)
        lines = (
            f"SEMI JOIN (SELECT suite, run_id, result_id FROM texts WHERE {matches}) AS matches\n"  # noqa: S608 - ours
            f"    ON {_same('matches', _KEYS)}\n"
        )
    joined = "\n    AND ".join(conditions)
    return f"{lines}WHERE {joined}\n" if conditions else lines


def _same(name: str, keys: Sequence[str]) -> str:
    """Return the condition that rows of another relation are of the same sample."""
    return " AND ".join(f"samples.{key} = {name}.{key}" for key in keys)


def _sort_value(query: SampleQuery, relation: _Relation) -> str:
    return "NULL" if query.sort is None else relation.value(query.sort)


def _order(query: SampleQuery, value: str) -> str:
    """Return the order, given the expression of the value to sort by."""
    if query.sort is None:
        return _ORDER
    way = f"{'DESC' if query.is_descending else 'ASC'} NULLS LAST"
    numbers = [f"TRY_CAST({value} AS DOUBLE) {way}"] if query.sort.kind == "json" else []
    return ", ".join([*numbers, f"{value} {way}", _ORDER])


def _start(column: SampleColumn, value: str) -> str:
    if column.kind in {"text", "json"}:
        return f"left(CAST({value} AS VARCHAR), {SHOWN_CHARACTERS + 1})"
    return value


def _quoted_name(key: str) -> str:
    return '"' + key.replace('"', '""') + '"'
