"""What a piece holds of each sample: a row of the table, and the whole record.

Both are JSON arrays, written by DuckDB, whose fields are named once for all samples. Texts of the
store, JSON too, are strings, so that no key of theirs becomes a name in a page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

# JavaScript's numbers are exact up to here.
_EXACT = 2**53 - 1
_ANSWER_CHARACTERS = 200
_PROMPT_CHARACTERS = 120


def text_start(text: str, n_characters: int) -> str:
    """Return the expression for a text, or its start with an ellipsis."""
    return f"if(length({text}) > {n_characters}, left({text}, {n_characters}) || '…', {text})"


# By name: the expression. `result`, `verdict`, `scored`, `known`, `shared` and `trial` are
# relations of the query in `query.py`.
ROW_FIELDS = {
    "task_set": "result.task_set",
    "task_id": "result.task_id",
    "task_name": "result.task_name",
    "attempt": "result.attempt",
    "model": "result.model",
    "settings": "result.settings",
    "passed": "verdict.passed",
    # Why there is no answer; NULL if there is one.
    "failure": "CASE WHEN result.success IS NOT TRUE THEN "
    "coalesce(result.failure_type, result.availability_status) END",
    "score_name": "scored.name",
    "score": "CASE WHEN isfinite(scored.value) THEN scored.value END",
    "latency_ms": "CASE WHEN isfinite(result.latency_ms) THEN result.latency_ms END",
    "tokens": "result.input_tokens + result.output_tokens",
    "cost_usd": "CASE WHEN isfinite(result.cost_usd) THEN result.cost_usd END",
    "answer": text_start(
        "coalesce(nullif(result.answer, ''), result.raw_output, result.answer)", _ANSWER_CHARACTERS
    ),
    "prompt": text_start(
        "coalesce(result.prompt, known.tasks[1].question, known.tasks[1].prompt)",
        _PROMPT_CHARACTERS,
    ),
    # The start of the item's hash, if it was asked as another task, too; see `items.py`.
    "item": "shared.item",
}
# Fields of a record that follow the columns of `results`.
_OF_OTHER_VIEWS = {
    "passed": "verdict.passed",
    "recorded": "verdict.recorded",
    "computed": "verdict.computed",
    "verdict_source": "verdict.verdict_source",
    "scores": "scored.scores",
    "messages": "talk.messages",
    "tasks": "known.tasks",
    "trial_page": "trial.path",
}
# Where the store keeps a result: not of the data, and different in a store with the same logs.
_OF_THE_STORE = {"batch"}
_INTEGERS = ("BIGINT", "HUGEINT", "UBIGINT")
_FLOATS = ("DOUBLE", "FLOAT")


def record_fields(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return the fields of a record by name: the columns of `results`, then other views'."""
    columns = connection.execute("DESCRIBE results").fetchall()
    own = {name: _exact(name, kind) for name, kind, *_ in columns if name not in _OF_THE_STORE}
    return own | _OF_OTHER_VIEWS


def json_array(fields: dict[str, str]) -> str:
    """Return the SQL expression of the fields as the text of a JSON array."""
    return f"CAST(json_array({', '.join(fields.values())}) AS VARCHAR)"


def _exact(name: str, kind: str) -> str:
    """Return the expression of a column: numbers that JSON or JavaScript cannot hold as text."""
    column = f'result."{name}"'
    if kind in _FLOATS:
        return f"if(isfinite({column}), to_json({column}), to_json(CAST({column} AS VARCHAR)))"
    if kind in _INTEGERS:
        is_exact = f"{column} BETWEEN -{_EXACT} AND {_EXACT}"
        return f"if({is_exact}, to_json({column}), to_json(CAST({column} AS VARCHAR)))"
    return column
