"""The samples of an evaluation: a line for each score of each result."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from exports.eee.aggregate import SUITE, VERSION, as_text, result_id
from exports.eee.recorded import recorded_sample
from exports.rows import Document, json_object, json_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from warehouse.core.types import Row

# Line breaks of Unicode that JSON allows in a text; many programs split lines at them.
_BREAKS = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}

# A result may have no score of a metric; the verdict of one without an answer is that it did not
# pass, as in every pass rate. Messages are read only where a conversation has more than one turn.
LINES = """
WITH calls AS (
    SELECT results.*, block.result_number, block.item_hash
    FROM results
    JOIN block USING (suite, run_id, result_id)
),

asked AS (
    SELECT
        items.suite, items.item_hash,
        any_value(coalesce(question, prompt) ORDER BY task_version) AS question,
        any_value(choices ORDER BY task_version) AS choices,
        any_value(coalesce(target, reference) ORDER BY task_version) AS target
    FROM (FROM item_tasks SEMI JOIN block USING (suite, item_hash)) AS items
    JOIN tasks USING (suite, task_version)
    GROUP BY items.suite, items.item_hash
),

outcomes AS (
    SELECT result_number, suite, passed, outcome
    FROM scores.outcomes
    JOIN block USING (suite, run_id, result_id)
),

judged AS (FROM outcomes WHERE outcome IS NOT NULL),

given AS (
    SELECT *
    FROM result_scores
    JOIN block USING (suite, run_id, result_id)
),

-- A score `passed` is the verdict, but for logs that have no other.
recorded AS (
    SELECT
        result_number, scorer, metric, filter, value, answer, scorer AS method,
        false AS is_verdict
    FROM given
    WHERE value IS NOT NULL
        AND (metric <> 'passed' OR result_number NOT IN (SELECT result_number FROM judged))
    UNION ALL
    SELECT
        result_number, NULL, 'passed', NULL, CAST(outcome AS DOUBLE), verdicts.answer,
        verdicts.method, true
    FROM judged
    LEFT JOIN (
        SELECT result_number, min(answer) AS answer, min(scorer) AS method
        FROM given
        WHERE metric = 'passed' AND answer IS NOT NULL
        GROUP BY result_number
    ) AS verdicts USING (result_number)
    -- In this format itself the verdict is a part of each score.
    WHERE suite <> 'eee'
),

turns AS (
    SELECT
        result_number,
        count(*) FILTER (role = 'assistant') AS n_turns,
        list({
            role: role, text: text, tool_calls: tool_calls, tool_call_id: tool_call_id
        } ORDER BY seq) FILTER (role IS NOT NULL) AS messages
    FROM messages
    JOIN block USING (suite, run_id, result_id)
    GROUP BY result_number
)

SELECT
    calls.suite, calls.run_id, calls.result_id, calls.provider, calls.model, calls.settings,
    calls.task_set, calls.task_id, calls.task_name, calls.attempt,
    calls.seq, calls.prompt, calls.raw_output, coalesce(recorded.answer, calls.answer) AS answer,
    calls.success, calls.failure_type, calls.latency_ms, calls.ttft_ms, calls.input_tokens,
    calls.output_tokens, calls.tool_call_count, calls.cost_usd, calls.is_cached,
    calls.started_at, calls.extra, asked.question, asked.choices, asked.target, calls.item_hash,
    recorded.scorer, recorded.metric, recorded.filter, recorded.value, recorded.method,
    recorded.is_verdict, outcomes.passed, turns.n_turns, turns.messages,
    row_number() OVER (
        PARTITION BY result_number
        ORDER BY recorded.metric <> 'passed', recorded.metric, recorded.scorer, recorded.filter
    ) AS place
FROM calls
LEFT JOIN asked USING (suite, item_hash)
LEFT JOIN recorded USING (result_number)
LEFT JOIN turns USING (result_number)
LEFT JOIN outcomes USING (result_number)
ORDER BY result_number, place
"""
_LONGEST_TURN = 1


class SampleLines:
    """The lines of the samples of a model in a run.

    Args:
        evaluation_id: id of the evaluation.
        model: id of the model.
        has_task_sets: whether the ids of results name their task set.

    Attributes:
        n_lines: number of lines yielded.
        n_unscored: results without any score, which the format cannot hold.
    """

    def __init__(self, evaluation_id: str, model: str, *, has_task_sets: bool) -> None:
        self._evaluation_id = evaluation_id
        self._model = model
        self._has_task_sets = has_task_sets
        self.n_lines = 0
        self.n_unscored = 0

    def encode(self, rows: Iterable[Row]) -> Iterator[bytes]:
        """Yield the lines of rows of the query `LINES`."""
        for row in rows:
            if row["value"] is None:
                self.n_unscored += 1
                continue
            self.n_lines += 1
            document = self._document(row)
            text = json.dumps(document, ensure_ascii=False, allow_nan=False)
            yield (text.translate(_BREAKS) + "\n").encode("utf-8", "replace")

    def _document(self, row: Row) -> Document:
        is_first = row["place"] == 1
        messages = row["messages"] or []
        has_turns = (row["n_turns"] or 0) > _LONGEST_TURN or any(
            json_value(message["tool_calls"]) for message in messages
        )
        named = result_id({**row, "has_task_sets": self._has_task_sets})
        document: Document = {
            "schema_version": VERSION,
            "evaluation_id": self._evaluation_id,
            "model_id": self._model,
            "evaluation_name": row["task_set"],
            **({} if named is None else {"evaluation_result_id": named}),
            "sample_id": row["task_id"] or row["task_name"] or "",
            "sample_hash": row["item_hash"],
            "interaction_type": _interaction(messages) if has_turns else "single_turn",
            "input": _input(row),
            "output": None if has_turns else _output(row),
            "messages": [_message(*each) for each in enumerate(messages)] if has_turns else None,
            "answer_attribution": _attribution(row, has_turns=has_turns),
            "evaluation": {
                "score": row["value"],
                "is_correct": _is_correct(row),
                "num_turns": max(row["n_turns"] or 1, 1),
                "tool_calls_count": row["tool_call_count"],
            },
        }
        # A result with several scores is one call: its tokens and times stand in its first line.
        known = {"token_usage": _usage(row), "performance": _performance(row)} if is_first else {}
        document |= {name: value for name, value in known.items() if value is not None}
        failure = None if row["success"] is not False else row["failure_type"] or "error"
        document |= {"error": failure, "metadata": _metadata(row)}
        if row["suite"] == SUITE:
            return recorded_sample(document, json_object(row["extra"]))
        return document


def _is_correct(row: Row) -> bool:
    """Return the verdict; of a score without one, as the format's own converters say it."""
    if row["metric"] == "passed":
        return bool(row["value"])
    return bool(row["passed"] if row["passed"] is not None else row["value"] > 0)


def _input(row: Row) -> Document:
    question = row["question"] if row["question"] is not None else row["prompt"]
    formatted = row["prompt"] if row["prompt"] != question else None
    return {
        "raw": question or "",
        "formatted": formatted,
        "reference": _texts(row["target"] or None) or [],
        "choices": _texts(row["choices"]),
    }


def _texts(given: str | None) -> list[str] | None:
    """Return the texts of a JSON list; any other text is the only one."""
    if given is None:
        return None
    if given.startswith("["):
        try:
            value = json.loads(given)
        except ValueError:
            return [given]
        if isinstance(value, list) and value:
            return [as_text(each) for each in value]
    return [given]


def _output(row: Row) -> Document:
    return {"raw": [] if row["raw_output"] is None else [row["raw_output"]]}


def _attribution(row: Row, *, has_turns: bool) -> list[Document]:
    if row["answer"] is None:
        return []
    return [
        {
            "turn_idx": max(len(row["messages"]) - 1, 0) if has_turns else 0,
            "source": "messages" if has_turns else "output.raw",
            "extracted_value": row["answer"],
            "extraction_method": row["method"] or "unknown",
            "is_terminal": True,
        }
    ]


def _interaction(messages: Sequence[Mapping[str, Any]]) -> str:
    has_tools = any(json_value(message["tool_calls"]) for message in messages)
    return "agentic" if has_tools else "multi_turn"


def _message(place: int, message: Mapping[str, Any]) -> Document:
    given = json_value(message["tool_calls"])
    calls = [
        {"id": as_text(call.get("id") or ""), "name": as_text(call.get("function") or "")}
        | {"arguments": _arguments(call.get("arguments"))}
        for call in (given if isinstance(given, list) else ())
        if isinstance(call, dict)
    ]
    call_id = message["tool_call_id"]
    return {
        "turn_idx": place,
        "role": message["role"],
        "content": message["text"],
        "tool_calls": calls or None,
        "tool_call_id": None if call_id is None else [call_id],
    }


def _arguments(given: object) -> dict[str, str] | None:
    if given is None:
        return None
    if isinstance(given, dict):
        return {str(name): as_text(value) for name, value in given.items()}
    return {"arguments": as_text(given)}


def _usage(row: Row) -> Document | None:
    given, made = row["input_tokens"], row["output_tokens"]
    if given is None or made is None:
        return None
    return {"input_tokens": given, "output_tokens": made, "total_tokens": given + made}


def _performance(row: Row) -> Document | None:
    times = {"latency_ms": row["latency_ms"], "time_to_first_token_ms": row["ttft_ms"]}
    return times if any(value is not None for value in times.values()) else None


def _metadata(row: Row) -> dict[str, str]:
    known = {
        "epoch": row["attempt"],
        "cost_usd": row["cost_usd"],
        "started_at": row["started_at"] and row["started_at"].isoformat(),
        "is_cached": row["is_cached"] or None,
        "verdict": "unknown" if row["passed"] is None and not row["is_verdict"] else None,
    }
    return {name: as_text(value) for name, value in known.items() if value is not None}
