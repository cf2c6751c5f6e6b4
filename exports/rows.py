"""Rows of views as exporters read them, and the documents that they make of them."""

from __future__ import annotations

import json
from datetime import UTC
from typing import TYPE_CHECKING, Any, TypeAlias

from warehouse.core.errors import BadInput
from warehouse.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    import duckdb

    from warehouse.core.types import Json, Row

# A JSON or YAML document that is being put together from rows.
Document: TypeAlias = dict[str, Any]

_FETCHED_AT_ONCE = 1000


def fetch_rows(
    connection: duckdb.DuckDBPyConnection, query: str, parameters: Mapping[str, object]
) -> list[Row]:
    """Return all rows of a query."""
    return list(iterate_rows(connection, query, parameters))


def iterate_rows(
    connection: duckdb.DuckDBPyConnection, query: str, parameters: Mapping[str, object]
) -> Iterator[Row]:
    """Yield the rows of a query, holding only a thousand of them in memory."""
    cursor = connection.execute(query, dict(parameters))
    names = [column[0] for column in cursor.description or ()]
    while rows := cursor.fetchmany(_FETCHED_AT_ONCE):
        for row in rows:
            yield dict(zip(names, row, strict=True))


def unknown_run(
    connection: duckdb.DuckDBPyConnection, suite: str | None, run_id: str | None
) -> BadInput:
    """Return the error for a run that the store does not have; None stands for any suite or run."""
    query = "SELECT run_id FROM runs WHERE $suite IS NULL OR suite = $suite ORDER BY suite, run_id"
    known = [str(row["run_id"]) for row in fetch_rows(connection, query, {"suite": suite})]
    of_suite = "" if suite is None else f"{suite} "
    if run_id is None or not known:
        return BadInput(f"the store has no {of_suite}runs; `evalstore runs` lists the runs")
    hint = did_you_mean(run_id, known, "`evalstore runs` lists the runs")
    return BadInput(f"there is no {of_suite}run {run_id!r}; {hint}")


def json_value(text: str | None) -> Json:
    """Return the value of a JSON column; None for NULL."""
    value: Json = None if text is None else json.loads(text)
    return value


def json_object(text: str | None) -> Document:
    """Return the value of a JSON column that holds an object; an empty one for NULL."""
    value = json_value(text)
    return value if isinstance(value, dict) else {}


def known(**members: object) -> Document:
    """Return the members that have a value."""
    return {name: value for name, value in members.items() if value is not None}


def iso(moment: datetime | None) -> str | None:
    """Return a time in ISO 8601, UTC."""
    return None if moment is None else moment.replace(tzinfo=UTC).isoformat()
