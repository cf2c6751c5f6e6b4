"""The columns by which samples are found: of results, scores, tags, settings, metadata, tools."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from warehouse.core.errors import BadInput
from warehouse.core.suggestions import did_you_mean
from warehouse.core.text.headings import heading
from warehouse.engine.query import query_errors, rows_by_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import duckdb

    from warehouse.core.types import Row

_KEYS = ("suite", "run_id", "result_id")
_KINDS = {"BOOLEAN": "boolean", "DATE": "date", "TIMESTAMP": "time", "VARCHAR": "text"}
_NUMBER = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*")
_OF_RESULTS = """
SELECT column_name AS name, data_type AS type, comment AS meaning
FROM duckdb_columns()
WHERE table_name = 'results' AND schema_name = 'main'
ORDER BY column_index
"""
_TAGS = "SELECT DISTINCT name FROM run_tags ORDER BY name"
# The verdict is a column of its own.
_SCORES = """
SELECT metric, scorer, filter, count(value) > 0 AS is_number
FROM result_scores
WHERE metric <> 'passed'
GROUP BY metric, scorer, filter
ORDER BY metric, scorer NULLS FIRST, filter NULLS FIRST
"""
# Keys of few results: any other key can be named in an address.
_JSON_KEYS = """
SELECT DISTINCT unnest(json_keys({column})) AS name
FROM (SELECT {column} FROM results WHERE {column} IS NOT NULL LIMIT 2000)
ORDER BY name
"""
_ANSWER = "coalesce(samples.answer, samples.raw_output)"
_JSON = {"parameters": "settings", "extra": "metadata"}
_TOOLS = """(
    SELECT suite, run_id, result_id, string_agg(DISTINCT tool, ', ' ORDER BY tool) AS value
    FROM (
        SELECT suite, run_id, result_id, unnest(tool_calls) AS tool FROM results
        UNION ALL
        SELECT
            suite, run_id, result_id,
            unnest(json_extract_string(tool_calls, '$[*].function')) AS tool
        FROM messages
        WHERE tool_calls IS NOT NULL
        UNION ALL
        SELECT suite, run_id, result_id, name AS tool FROM steps WHERE arguments IS NOT NULL
    )
    GROUP BY suite, run_id, result_id
)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleColumn:
    """A column by which samples can be shown, filtered and sorted.

    Attributes:
        key: what an address calls it: `cost_usd`, `tag/release`, `score/accuracy`.
        title: its header, in words.
        meaning: what it says, from the data dictionary; empty if unknown.
        group: `results`, `scores`, `tags`, `settings` or `metadata`.
        kind: `text`, `number`, `boolean`, `date`, `time`, or `json` for a value of any kind.
        value: the expression of its value, of the relation `samples`; or a query with the column
            `value`, which is joined. It has `{}` for each of `names`.
        joined_by: the columns by which the query is joined; none for an expression.
        names: texts in the value.
    """

    key: str
    title: str
    meaning: str
    group: str
    kind: str
    value: str
    joined_by: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def sample_columns(connection: duckdb.DuckDBPyConnection) -> dict[str, SampleColumn]:
    """Return the columns that samples of a store have, by key."""

    def rows(query: str) -> list[Row]:
        with query_errors(is_users=False):
            return rows_by_name(connection.execute(query))

    columns = [
        *_result_columns(rows(_OF_RESULTS)),
        *(_score_column(row) for row in rows(_SCORES)),
        *(_tag_column(row["name"]) for row in rows(_TAGS)),
    ]
    for name in _JSON:
        columns += [
            _json_column(name, _pointer(row["name"]))
            for row in rows(_JSON_KEYS.format(column=name))
        ]
    return {column.key: column for column in columns}


def find_column(columns: Mapping[str, SampleColumn], key: str) -> SampleColumn:
    """Return the column of a key, such as `extra/metadata/language`, a value inside another.

    Raises:
        BadInput: there is none; the message names the similar ones.
    """
    name, _, pointer = key.partition("/")
    if key in columns:
        return columns[key]
    if name in _JSON and pointer:
        return _json_column(name, pointer)
    raise BadInput(
        f"samples have no column {key!r}; {did_you_mean(key, columns, 'choose another')}"
    )


def _result_columns(rows: list[Row]) -> Iterator[SampleColumn]:
    for row in rows:
        kind = "number" if _NUMBER.fullmatch(row["type"]) else _KINDS.get(row["type"], "text")
        column = _result_column(row["name"], row["meaning"] or "", kind)
        if column.key == "answer":  # many logs have the whole text only
            meaning = f"{column.meaning}, else the text"
            column = replace(column, meaning=meaning, value=_ANSWER)
        yield column
        if row["name"] == "task_id":
            yield _result_column(
                "passed", "whether the sample passed: recorded, else computed", "boolean"
            )
    meaning = "names of the tools that were called, sorted"
    yield SampleColumn(
        key="tools",
        title="tools",
        meaning=meaning,
        group="results",
        kind="text",
        value=_TOOLS,
        joined_by=_KEYS,
    )


def _result_column(name: str, meaning: str, kind: str) -> SampleColumn:
    return SampleColumn(
        key=name,
        title=heading(name),
        meaning=meaning,
        group="results",
        kind=kind,
        value=f'samples."{name}"',
    )


def _score_column(row: Row) -> SampleColumn:
    names = [row["metric"], row["scorer"], row["filter"]]
    key = "/".join(quote(name or "", safe="") for name in names).rstrip("/")
    value = "value" if row["is_number"] else "text"
    same = " AND ".join(
        f"{column} IS NULL" if name is None else f"{column} = {{}}"
        for column, name in zip(("metric", "scorer", "filter"), names, strict=True)
    )
    return SampleColumn(
        key=f"score/{key}",
        title=", ".join(name for name in names if name),
        meaning="score of the sample",
        group="scores",
        kind="number" if row["is_number"] else "text",
        value=f"""(
    SELECT suite, run_id, result_id, min({value}) AS value
    FROM result_scores
    WHERE {same}
    GROUP BY suite, run_id, result_id
)""",  # noqa: S608 - names are bound
        joined_by=_KEYS,
        names=tuple(name for name in names if name is not None),
    )


def _tag_column(name: str) -> SampleColumn:
    return SampleColumn(
        key=f"tag/{quote(name, safe='')}",
        title=name,
        meaning="tag of the run",
        group="tags",
        kind="text",
        value="(SELECT suite, run_id, value FROM run_tags WHERE name = {})",
        joined_by=("suite", "run_id"),
        names=(name,),
    )


def _json_column(column: str, pointer: str) -> SampleColumn:
    return SampleColumn(
        key=f"{column}/{pointer}",
        title=pointer,
        meaning=f"part of the column {column}",
        group=_JSON[column],
        kind="json",
        value=f"json_extract_string(samples.{column}, {{}})",
        names=(f"/{pointer}",),
    )


def _pointer(name: str) -> str:
    """Return a key as a part of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")
