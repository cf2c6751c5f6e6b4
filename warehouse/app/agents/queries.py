"""Queries of agents, with limits: rows, characters of a value, size of the answer, time."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from signal import ITIMER_REAL, setitimer
from threading import Timer
from typing import Annotated, Any

import duckdb
from pydantic import Field

from warehouse.app.agents.parameters import Text, Value
from warehouse.app.agents.session import AgentSession
from warehouse.core.errors import BadInput
from warehouse.core.text.formatting import as_json
from warehouse.engine.query import query_errors
from warehouse.engine.rows import first_of_query

_SQL = "one SELECT statement in DuckDB's dialect; it may begin with FROM. Values as $name."
_CHARACTERS = "characters of a value; longer texts are cut and end with …"
_MAX_ANSWER = 200_000  # characters
_CUT = "…"
_GRACE_SECONDS = 1.0


def run_query(
    session: AgentSession,
    *,
    sql: Annotated[Text, Field(description=_SQL)],
    parameters: Annotated[
        dict[str, Value],
        Field(default_factory=dict, description="values of the $names in the query"),
    ],
    max_rows: Annotated[int, Field(description="rows to return", ge=1, le=1_000)] = 100,
    max_characters: Annotated[int, Field(description=_CHARACTERS, ge=10, le=100_000)] = 1_000,
) -> dict[str, object]:
    """Return the first rows of a query, each a list of values in the order of the columns.

    Raises:
        BadInput: the query is not one SELECT statement, is wrong, or takes too long.
    """
    with session.store.reading(sql) as connection, time_limit(session, connection):
        statement = _only_statement(connection, sql, parameters)
        rows = first_of_query(
            connection, statement, {**parameters}, limit=max_rows + 1, max_characters=max_characters
        )
        found = list(islice(chain.from_iterable(rows.batches()), max_rows + 1))
    shown, cut = _shortened(found[:max_rows], rows.columns, max_characters)
    fitting = _fitting(shown)
    return {
        "columns": rows.columns,
        "rows": fitting,
        "notes": [
            *_notes_of_rows(len(found) > max_rows, len(fitting), len(shown)),
            *_notes_of_texts(cut, max_characters),
        ],
    }


@contextmanager
def time_limit(session: AgentSession, connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Stop the queries of a connection after some seconds, and turn DuckDB's errors into ours.

    DuckDB stops between two blocks of rows, and one of them can take minutes. A process that may be
    ended is ended then, by the kernel.

    Raises:
        BadInput: a query was stopped, or is wrong.
        OutOfMemory: a query needs too much memory.
        StoreDamaged: the warehouse file is damaged.
    """
    timer = Timer(session.max_seconds, connection.interrupt)
    timer.start()
    if session.is_expendable:
        setitimer(ITIMER_REAL, session.max_seconds + _GRACE_SECONDS)
    try:
        with query_errors():
            yield
    except BadInput as error:
        if isinstance(error.__cause__, duckdb.InterruptException):
            raise BadInput(stopped_message(session.max_seconds)) from error
        raise
    finally:
        timer.cancel()
        if session.is_expendable:
            setitimer(ITIMER_REAL, 0)


def stopped_message(max_seconds: float) -> str:
    """Return what the agent reads about a query that took too long."""
    return (
        f"the query was stopped after {max_seconds:g} seconds; select fewer rows, or filter by "
        "suite, run_id or model before joining"
    )


def _only_statement(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: dict[str, Value]
) -> str:
    statements = connection.extract_statements(sql)
    if len(statements) != 1 or not _is_select(statements[0]):
        raise BadInput(
            "send one SELECT statement (also FROM, WITH, DESCRIBE or SUMMARIZE); the store is "
            "read-only"
        )
    names = statements[0].named_parameters
    if missing := sorted(names - parameters.keys()):
        raise BadInput(f"no value for ${', $'.join(missing)}: give it in `parameters`")
    if unused := sorted(parameters.keys() - names):
        raise BadInput(f"the query has no ${', $'.join(unused)}")
    return statements[0].query


def _is_select(statement: duckdb.Statement) -> bool:
    try:
        return bool(statement.type == duckdb.StatementType.SELECT)
    except ValueError:  # DuckDB's client lacks some types, such as that of UPDATE EXTENSIONS
        return False


def _shortened(
    rows: Sequence[Sequence[Any]], columns: Sequence[str], max_characters: int
) -> tuple[list[list[object]], list[str]]:
    """Return rows without the character that was selected only to see which texts are longer."""
    cut: dict[str, None] = {}
    shown: list[list[object]] = []
    for row in rows:
        shown.append([])
        for column, value in zip(columns, row, strict=True):
            is_long = isinstance(value, str) and len(value) > max_characters
            if is_long:
                cut[column] = None
            shown[-1].append(value[:max_characters] + _CUT if is_long else value)
    return shown, list(cut)


def _fitting(rows: Sequence[list[object]]) -> list[list[object]]:
    """Return the first rows that make an answer of at most `_MAX_ANSWER` characters."""
    left = _MAX_ANSWER
    fitting: list[list[object]] = []
    for row in rows:
        left -= len(as_json(row))
        if left < 0 and fitting:
            break
        fitting.append(row)
    return fitting


def _notes_of_rows(has_more: bool, n_shown: int, n_found: int) -> Iterator[str]:  # noqa: FBT001
    if n_shown < n_found:
        yield (
            f"only the first {n_shown} rows are shown: the answer has a limit of {_MAX_ANSWER:,} "
            "characters; select fewer columns, or use a smaller max_characters"
        )
    elif has_more:
        yield f"there are more rows than the {n_shown} shown; use max_rows, LIMIT or an aggregate"


def _notes_of_texts(columns: Sequence[str], max_characters: int) -> Iterator[str]:
    if columns:
        yield (
            f"texts of {', '.join(columns)} are cut after {max_characters:,} characters; use "
            "max_characters, or substr(column, from, length)"
        )
