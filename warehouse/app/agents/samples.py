"""A sample for agents: a result with prompt, answer, reference, verdict, scores, messages."""

from typing import Annotated, Any

import duckdb
from pydantic import Field

from warehouse.app.agents.parameters import Text
from warehouse.app.agents.queries import time_limit
from warehouse.app.agents.session import AgentSession
from warehouse.core.errors import BadInput
from warehouse.core.text.figures import counted
from warehouse.core.types import Row
from warehouse.engine.query import rows_by_name

_N_MATCHES = 20
_N_MESSAGES = 50
_CUT = "…"

_MATCHES = f"""
SELECT suite, run_id, result_id, model, settings, task_set, task_id, attempt, passed
FROM verdicts
WHERE ($result_id IS NULL OR result_id = $result_id)
    AND ($suite IS NULL OR suite = $suite)
    AND ($run_id IS NULL OR run_id = $run_id)
    AND ($model IS NULL OR model = $model)
    AND ($task_id IS NULL OR task_id = $task_id)
    AND ($attempt IS NULL OR attempt = $attempt)
ORDER BY run_date DESC NULLS LAST, suite, run_id, seq, result_id
LIMIT {_N_MATCHES + 1}
"""  # noqa: S608 - a constant
_IS_RESULT = "suite = $suite AND run_id = $run_id AND result_id = $result_id"
_RESULT = f"""
SELECT
    suite, run_id, result_id, run_date, provider, model, settings, is_replay, is_cached,
    task_set, task_id, task_name, task_hash, attempt, availability_status, success, failure_type,
    started_at, latency_ms, ttft_ms, input_tokens, output_tokens, cost_usd, prompt, raw_output,
    answer, parsed_output, violation, tool_calls
FROM results
WHERE {_IS_RESULT}
"""  # noqa: S608 - a constant
_VERDICT = f"SELECT passed, recorded, computed, verdict_source FROM verdicts WHERE {_IS_RESULT}"  # noqa: S608 - a constant
_SCORES = f"""
SELECT scorer, metric, filter, value, text, passed, answer, explanation
FROM result_scores
WHERE {_IS_RESULT}
ORDER BY ALL
"""  # noqa: S608 - a constant
_MESSAGES = f"""
SELECT seq, role, text, tool_calls, tool_call_id, error
FROM messages
WHERE {_IS_RESULT}
ORDER BY seq
LIMIT {_N_MESSAGES + 1}
"""  # noqa: S608 - a constant
# Of several versions of the task all are shown, if the result does not name one.
_TASKS = """
SELECT DISTINCT reference, target, choices, question, expected_tools
FROM tasks
WHERE suite = $suite AND task_set = $task_set AND task_id = $task_id
    AND ($task_hash IS NULL OR task_hash = $task_hash)
ORDER BY ALL
LIMIT 5
"""


def show_sample(
    session: AgentSession,
    *,
    result_id: Annotated[Text | None, Field(description="id of the result")] = None,
    suite: Annotated[Text | None, Field(description="only results of this suite")] = None,
    run_id: Annotated[Text | None, Field(description="only results of this run")] = None,
    model: Annotated[Text | None, Field(description="only results of this model")] = None,
    task_id: Annotated[Text | None, Field(description="only results of this task")] = None,
    attempt: Annotated[
        int | None, Field(description="only this attempt, from 1", ge=1, lt=2**31)
    ] = None,
    max_characters: Annotated[
        int,
        Field(
            description="characters of a text; longer texts are cut and end with …",
            ge=100,
            le=100_000,
        ),
    ] = 10_000,
) -> Row:
    """Return a result with everything about it; if several match, their list.

    Raises:
        BadInput: nothing was asked for, or no result matches.
    """
    wanted = {
        "result_id": result_id,
        "suite": suite,
        "run_id": run_id,
        "model": model,
        "task_id": task_id,
        "attempt": attempt,
    }
    if all(value is None for value in wanted.values()):
        raise BadInput("name a result: result_id, or run_id, model and task_id")
    with session.store.reading() as connection, time_limit(session, connection):
        matches = _rows(connection, _MATCHES, wanted)
        if not matches:
            raise BadInput(
                "no result matches; query `results` with run_query for the suites, runs, models "
                "and tasks that there are"
            )
        if len(matches) > 1:
            return _list_of(matches)
        sample = _sample(connection, matches[0])
    return {name: _shortened(part, max_characters) for name, part in sample.items()}


def _sample(connection: duckdb.DuckDBPyConnection, match: Row) -> Row:
    key = {name: match[name] for name in ("suite", "run_id", "result_id")}
    [result] = _rows(connection, _RESULT, key)
    task = {name: result[name] for name in ("suite", "task_set", "task_id", "task_hash")}
    messages = _rows(connection, _MESSAGES, key)
    has_more = len(messages) > _N_MESSAGES
    note = f"the conversation has more messages than the {_N_MESSAGES} shown; query `messages`"
    return {
        "result": result,
        "tasks": _rows(connection, _TASKS, task),
        "verdict": _rows(connection, _VERDICT, key)[0],
        "scores": _rows(connection, _SCORES, key),
        "messages": messages[:_N_MESSAGES],
        "notes": [note] if has_more else [],
    }


def _list_of(matches: list[Row]) -> Row:
    more = "at least " if len(matches) > _N_MATCHES else ""
    n_matches = min(len(matches), _N_MATCHES + 1)
    found = counted(n_matches, "result matches", "results match")
    note = f"{more}{found}; call show_sample with the run_id and result_id of one"
    return {"matches": matches[:_N_MATCHES], "notes": [note]}


def _rows(
    connection: duckdb.DuckDBPyConnection, query: str, parameters: dict[str, Any]
) -> list[Row]:
    return rows_by_name(connection.execute(query, parameters))


def _shortened(value: object, limit: int) -> object:
    if isinstance(value, str):
        return value if len(value) <= limit else value[:limit] + _CUT
    if isinstance(value, dict):
        return {name: _shortened(inner, limit) for name, inner in value.items()}
    if isinstance(value, list):
        return [_shortened(inner, limit) for inner in value]
    return value
