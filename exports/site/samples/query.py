"""Reads the samples of a store in the order of the pages: by run, and by their place in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from exports.site.samples.fields import ROW_FIELDS, json_array, record_fields
from exports.site.samples.items import find_items

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import duckdb

# What one query returns at most: it is sorted in memory.
_SAMPLES_AT_ONCE = 20_000
_CHARACTERS_AT_ONCE = 64 * 2**20
_FETCHED_AT_ONCE = 500

_TEXTS = ("prompt", "raw_output", "answer", "parsed_output", "extra", "source")
_SIZE = " + ".join(f"coalesce(strlen(calls.{name}), 0)" for name in _TEXTS)
_RUNS = (
    "CREATE OR REPLACE TEMP TABLE {} AS SELECT unnest($suites) AS suite, unnest($run_ids) AS run_id"
)
_CHOSEN_RUNS, _BLOCK_RUNS = _RUNS.format("chosen_runs"), _RUNS.format("block_runs")
# `number` is the place of a sample in its run, whichever samples are chosen: links stay valid.
_NUMBERS = """
CREATE OR REPLACE TEMP TABLE sample_numbers AS
SELECT suite, run_id, result_id, number
FROM (
    SELECT
        suite,
        run_id,
        result_id,
        row_number() OVER (PARTITION BY suite, run_id ORDER BY seq, result_id) - 1 AS number
    FROM results
    SEMI JOIN chosen_runs USING (suite, run_id)
)
"""
_FAILED = """
SEMI JOIN (FROM verdicts WHERE passed IS FALSE OR success IS NOT TRUE)
    USING (suite, run_id, result_id)
"""
_PLACES = f"""
CREATE OR REPLACE TEMP TABLE sample_places AS
WITH talk AS (
    SELECT suite, run_id, result_id, sum(strlen(text)) AS size
    FROM messages
    SEMI JOIN block_runs USING (suite, run_id)
    WHERE run_id BETWEEN $low AND $high
    GROUP BY suite, run_id, result_id
),

placed AS (
    SELECT
        numbers.*,
        row_number() OVER in_order AS place,
        sum({_SIZE} + coalesce(talk.size, 0)) OVER in_order AS size_so_far
    FROM sample_numbers AS numbers
    JOIN results AS calls USING (suite, run_id, result_id)
    LEFT JOIN talk USING (suite, run_id, result_id)
    SEMI JOIN block_runs USING (suite, run_id)
    WHERE calls.run_id BETWEEN $low AND $high
    WINDOW in_order AS (ORDER BY suite, run_id, number ROWS UNBOUNDED PRECEDING)
)

SELECT
    suite,
    run_id,
    result_id,
    number,
    place,
    [(place - 1) // $samples_at_once, size_so_far // {_CHARACTERS_AT_ONCE}] AS part
FROM placed
"""  # noqa: S608 - a constant
_PARTS = """
SELECT min(place), max(place), min(run_id), max(run_id)
FROM sample_places
GROUP BY part
ORDER BY min(place)
"""
_TASK = "{" + ", ".join(
    f"{name}: {name}"
    for name in ("task_name", "prompt", "reference", "question", "choices", "target",
                 "expected_tools", "image_url")
) + "}"  # fmt: skip
_TRIALS = """
CREATE OR REPLACE TEMP TABLE sample_trials AS
SELECT
    unnest($1::VARCHAR[]) AS suite,
    unnest($2::VARCHAR[]) AS run_id,
    unnest($3::VARCHAR[]) AS result_id,
    unnest($4::VARCHAR[]) AS path
"""
_MOST_VERSIONS = 5
# Of several versions of a task all are shown, if the result does not name one.
_TASKS = f"""
CREATE OR REPLACE TEMP TABLE sample_tasks AS
SELECT
    suite,
    task_set,
    task_id,
    task_hash,
    list({_TASK} ORDER BY task_version)[:{_MOST_VERSIONS}] AS tasks
FROM (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY suite, task_set, task_id, is_any, task_hash, {_TASK}
            ORDER BY task_version
        ) AS copy
    FROM (
        SELECT *, false AS is_any FROM tasks WHERE task_hash IS NOT NULL
        UNION ALL BY NAME
        SELECT * REPLACE (NULL AS task_hash), true AS is_any FROM tasks
    )
)
WHERE copy = 1
GROUP BY suite, task_set, task_id, task_hash
"""  # noqa: S608 - a constant
IS_TASK = """
    result.suite = known.suite
    AND result.task_set = known.task_set
    AND result.task_id = known.task_id
    AND result.task_hash IS NOT DISTINCT FROM known.task_hash
"""
_SCORE = "{" + ", ".join(
    f"{name}: {expression}"
    for name, expression in {
        "scorer": "scorer",
        "metric": "metric",
        "filter": "filter",
        "value": "CASE WHEN isfinite(value) THEN value END",
        "text": "text",
        "passed": "passed",
        "answer": "answer",
        "explanation": "explanation",
    }.items()
) + "}"  # fmt: skip
_MESSAGE = "{" + ", ".join(
    f"{name}: {name}" for name in ("seq", "role", "text", "tool_calls", "tool_call_id", "error")
) + "}"  # fmt: skip


class Sample(NamedTuple):
    """A sample of a run.

    Attributes:
        suite: suite of the run.
        run_id: ID of the run.
        number: its place in the run, from 0, whichever samples are chosen.
        row: JSON text of its row in the table.
        record: JSON text of its record.
    """

    suite: str
    run_id: str
    number: int
    row: str
    record: str


def number_samples(
    connection: duckdb.DuckDBPyConnection,
    runs: list[tuple[str, str]],
    *,
    only_failed: bool,
    trials: Mapping[tuple[str, str, str], str] | None = None,
) -> None:
    """Number the samples of the runs, in temporary tables of the connection.

    Args:
        connection: the store, for reading.
        runs: suite and ID of each run.
        only_failed: whether to leave out samples that passed, and those without a verdict.
        trials: paths of the pages of trials, by suite, run and result.
    """
    connection.execute(_CHOSEN_RUNS, _run_lists(runs))
    connection.execute(_NUMBERS + _FAILED if only_failed else _NUMBERS)
    connection.execute(_TASKS)
    pages = trials or {}
    keys = [list(part) for part in zip(*pages, strict=True)] or [[], [], []]
    connection.execute(_TRIALS, [*keys, list(pages.values())])
    find_items(connection)


def samples(
    connection: duckdb.DuckDBPyConnection,
    runs: list[tuple[str, str]],
    *,
    samples_at_once: int = _SAMPLES_AT_ONCE,
) -> Iterator[Sample]:
    """Yield the numbered samples of some runs by suite, run and number.

    Args:
        connection: the store, for reading.
        runs: suite and ID of each run.
        samples_at_once: samples that one query returns at most.
    """
    if not runs:
        return
    run_ids = [run_id for _, run_id in runs]
    bounds = {"low": min(run_ids), "high": max(run_ids)}
    connection.execute(_BLOCK_RUNS, _run_lists(runs))
    connection.execute(_PLACES, {"samples_at_once": samples_at_once, **bounds})
    query = samples_query(connection)
    for first, last, low, high in connection.execute(_PARTS).fetchall():
        part = {"first": first, "last": last, "low": low, "high": high}
        cursor = connection.execute(query, part)
        while rows := cursor.fetchmany(_FETCHED_AT_ONCE):
            yield from map(Sample._make, rows)


# The bounds of the run's ID let DuckDB skip most of a large store.
_CHOSEN = f"""
    WITH chosen AS (
        SELECT suite, run_id, result_id, number, place
        FROM sample_places
        WHERE place BETWEEN $first AND $last
    ),

    scored AS (
        SELECT
            suite,
            run_id,
            result_id,
            list({_SCORE} ORDER BY scorer, metric, filter, score_id) AS scores,
            -- First one that says whether the answer is right: logs have sizes and times, too.
            arg_min(metric, (passed IS NULL, scorer, metric, filter))
                FILTER (metric <> 'passed' AND value IS NOT NULL) AS name,
            arg_min(value, (passed IS NULL, scorer, metric, filter))
                FILTER (metric <> 'passed' AND value IS NOT NULL) AS value
        FROM result_scores
        SEMI JOIN chosen USING (suite, run_id, result_id)
        WHERE run_id BETWEEN $low AND $high
        GROUP BY suite, run_id, result_id
    ),

    talk AS (
        SELECT
            suite, run_id, result_id, list({_MESSAGE} ORDER BY seq, message_id) AS messages
        FROM messages
        SEMI JOIN chosen USING (suite, run_id, result_id)
        WHERE run_id BETWEEN $low AND $high
        GROUP BY suite, run_id, result_id
    )
"""  # noqa: S608 - names of our own


def _run_lists(runs: list[tuple[str, str]]) -> dict[str, list[str]]:
    return {"suites": [suite for suite, _ in runs], "run_ids": [run_id for _, run_id in runs]}


def samples_query(connection: duckdb.DuckDBPyConnection) -> str:
    """Return the query of samples, whose relations `runs.py` lists."""
    row, record = json_array(ROW_FIELDS), json_array(record_fields(connection))
    return f"""
    {_CHOSEN}
    SELECT chosen.suite, chosen.run_id, chosen.number, {row} AS row_text, {record} AS record_text
    FROM chosen
    JOIN (FROM results WHERE run_id BETWEEN $low AND $high) AS result
        ON chosen.suite = result.suite
        AND chosen.run_id = result.run_id
        AND chosen.result_id = result.result_id
    JOIN (FROM verdicts WHERE run_id BETWEEN $low AND $high) AS verdict
        ON chosen.suite = verdict.suite
        AND chosen.run_id = verdict.run_id
        AND chosen.result_id = verdict.result_id
    LEFT JOIN scored
        ON chosen.suite = scored.suite
        AND chosen.run_id = scored.run_id
        AND chosen.result_id = scored.result_id
    LEFT JOIN talk
        ON chosen.suite = talk.suite
        AND chosen.run_id = talk.run_id
        AND chosen.result_id = talk.result_id
    LEFT JOIN sample_tasks AS known
        ON {IS_TASK}
    LEFT JOIN sample_items AS shared
        ON chosen.suite = shared.suite
        AND chosen.run_id = shared.run_id
        AND chosen.result_id = shared.result_id
    LEFT JOIN sample_trials AS trial
        ON chosen.suite = trial.suite
        AND chosen.run_id = trial.run_id
        AND chosen.result_id = trial.result_id
    ORDER BY chosen.place
    """  # noqa: S608 - names of our own; values are bound
