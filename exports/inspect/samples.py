"""The samples of a log, built from rows of views; those of Inspect's own logs as they were."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from exports.inspect.events import step_events
from exports.inspect.messages import made_message, own_message
from exports.rows import Document, iso, json_object, json_value
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from warehouse.core.types import Row

SUITE = "inspect"
# The results of a block, each with its task and lists of its scores and messages, in order.
SAMPLES = """
WITH calls AS (
    SELECT results.*, block.result_number, block.item_hash
    FROM results
    JOIN block USING (suite, run_id, result_id)
),

versions AS (
    SELECT
        suite, task_set, task_id, task_hash,
        arg_min({prompt: prompt, choices: choices, target: target}, task_version) AS task
    FROM tasks
    SEMI JOIN calls USING (suite, task_set, task_id, task_hash)
    GROUP BY suite, task_set, task_id, task_hash
),

asked AS (
    SELECT
        items.suite, items.item_hash,
        arg_min({
            prompt: coalesce(question, prompt), choices: choices,
            target: coalesce(target, reference)
        }, task_version) AS task
    FROM (FROM item_tasks SEMI JOIN block USING (suite, item_hash)) AS items
    JOIN tasks USING (suite, task_version)
    GROUP BY items.suite, items.item_hash
),

-- The verdict of one of Inspect's own samples is that of its first score, not another score. The
-- verdict of other results has no scorer, as in `metrics`.
recorded AS (
    SELECT
        * REPLACE (
            CASE WHEN suite = 'inspect' OR metric <> 'passed' OR filter IS NOT NULL THEN scorer END
            AS scorer
        )
    FROM result_scores
    JOIN block USING (suite, run_id, result_id)
    WHERE suite <> 'inspect' OR score_id <> result_id || ' passed'
),

outcomes AS (
    SELECT result_number, suite, passed, outcome
    FROM scores.outcomes
    JOIN block USING (suite, run_id, result_id)
),

-- A call without an answer counts as failed, but has no score that says so.
uncounted AS (
    SELECT
        result_number, NULL AS scorer, 'passed' AS metric, NULL AS filter,
        CAST(outcome AS DOUBLE) AS value
    FROM outcomes
    ANTI JOIN (FROM recorded WHERE metric = 'passed') AS judged USING (result_number)
    WHERE suite <> 'inspect' AND outcome IS NOT NULL
),

scored AS (
    SELECT
        result_number,
        list({
            scorer: scorer, metric: metric, filter: filter, position: position, value: value,
            text: text, answer: answer, explanation: explanation, extra: extra
        -- Inspect's verdict is the first score's; a text may look like one.
        } ORDER BY position, metric <> 'passed', text IS NOT NULL, scorer, metric, filter, score_id
        ) AS scores
    FROM (FROM recorded UNION ALL BY NAME FROM uncounted)
    GROUP BY result_number
),

turns AS (
    SELECT
        result_number,
        list({
            seq: seq, role: role, text: text, parts: parts, tool_calls: tool_calls,
            tool_call_id: tool_call_id, error: error, extra: extra
        } ORDER BY seq) AS messages
    FROM messages
    JOIN block USING (suite, run_id, result_id)
    GROUP BY result_number
),

-- Inspect's own samples have their events.
did AS (
    SELECT result_number, list(steps ORDER BY steps.seq) AS steps
    FROM (SELECT * EXCLUDE (extra) FROM steps WHERE suite <> 'inspect') AS steps
    JOIN block USING (suite, run_id, result_id)
    GROUP BY result_number
)

SELECT
    calls.suite, calls.run_id, calls.result_id, calls.seq, calls.task_set, calls.task_id,
    calls.task_name, calls.attempt, calls.prompt, calls.raw_output, calls.provider,
    calls.model, calls.settings, calls.success, calls.failure_type, calls.scorer,
    calls.started_at, calls.ended_at, calls.duration_seconds, calls.latency_ms,
    calls.input_tokens, calls.output_tokens, calls.cost_usd, calls.extra, calls.source,
    coalesce(versions.task, asked.task) AS task, outcomes.passed, scored.scores, turns.messages,
    did.steps
FROM calls
LEFT JOIN versions USING (suite, task_set, task_id, task_hash)
LEFT JOIN asked USING (suite, item_hash)
LEFT JOIN outcomes USING (result_number)
LEFT JOIN scored USING (result_number)
LEFT JOIN turns USING (result_number)
LEFT JOIN did USING (result_number)
ORDER BY result_number
"""


def sample_documents(rows: Iterable[Row], scorers: Sequence[str]) -> Iterator[Document]:
    """Yield a sample for each row; no two have the same id and epoch.

    Args:
        rows: rows of the query `SAMPLES`.
        scorers: names of the scorers in the order of the log's header.
    """
    following: dict[tuple[str, int], int] = {}  # of a sample, the next epoch that may be free
    for row in rows:
        sample = _own(row, scorers) if row["suite"] == SUITE else _made(row)
        wanted = key = str(sample["id"]), sample["epoch"]
        while key in following:
            key = key[0], following[key]
        following[key] = following[wanted] = key[1] + 1
        sample["epoch"] = key[1]
        yield sample


def summary_of(sample: Mapping[str, Any]) -> Document:
    """Return the summary of a sample, by which viewers list it."""
    scores = sample.get("scores") or {}
    summary = {
        "id": sample["id"],
        "epoch": sample["epoch"],
        "input": sample["input"] if isinstance(sample["input"], str) else _text_of(sample["input"]),
        "target": sample["target"],
        "metadata": {},
        "scores": {
            name: {"value": score.get("value"), "answer": score.get("answer")}
            for name, score in scores.items()
            if isinstance(score, dict)
        },
        "model_usage": sample.get("model_usage") or {},
        "uuid": sample.get("uuid"),
        "total_time": sample.get("total_time"),
        "completed": True,
        "message_count": len(sample.get("messages") or ()),
    }
    error = sample.get("error")
    if isinstance(error, dict):
        summary["error"] = error.get("message")
    return {key: value for key, value in summary.items() if value is not None}


def _own(row: Row, scorers: Sequence[str]) -> Document:
    """Return a sample of one of Inspect's logs as it was."""
    if row["source"] is not None:
        recorded: Document = json.loads(row["source"])
        return recorded
    extra = json_object(row["extra"])
    task = row["task"] or {}
    sample: Document = {"id": row["task_id"], "epoch": row["attempt"], "input": task.get("prompt")}
    if task.get("choices") is not None:
        sample["choices"] = json_value(task["choices"])
    if task.get("target") is not None:
        sample["target"] = _target(task["target"])
    sample["messages"] = [own_message(message) for message in row["messages"] or ()]
    scores = _own_scores(_in_header_order(row, scorers))
    if scores and "score" not in extra:
        sample["scores"] = scores
    if row["duration_seconds"] is not None:
        sample["total_time"] = row["duration_seconds"]
    return {**sample, **extra}


def _in_header_order(row: Row, scorers: Sequence[str]) -> list[Mapping[str, Any]]:
    """Return the scores of a sample; without a position, that of its verdict comes first."""
    scores: list[Mapping[str, Any]] = row["scores"] or []
    if any(score["position"] is not None for score in scores):
        return scores
    order = [row["scorer"], *scorers]
    return sorted(
        scores,
        key=lambda score: order.index(score["scorer"]) if score["scorer"] in order else len(order),
    )


def _own_scores(scores: Iterable[Mapping[str, Any]]) -> Document:
    """Return the scores of one of Inspect's samples by scorer."""
    by_scorer: dict[str, list[Mapping[str, Any]]] = {}
    for score in scores:
        by_scorer.setdefault(score["scorer"] or score["metric"], []).append(score)
    documents: Document = {}
    for scorer, parts in by_scorer.items():
        is_one = len(parts) == 1 and parts[0]["metric"] == scorer
        named = {part["metric"]: _value(part) for part in parts}
        document: Document = {"value": named[scorer] if is_one else named}
        for name in ("answer", "explanation"):
            if parts[0][name] is not None:
                document[name] = parts[0][name]
        for part in parts:
            document |= json_object(part["extra"])
        documents[scorer] = document
    return documents


def _made(row: Row) -> Document:
    """Return a sample of a result that another tool made."""
    task = row["task"] or {}
    question = task.get("prompt") or row["prompt"] or row["task_name"] or row["task_id"] or ""
    messages = [made_message(message) for message in row["messages"] or ()]
    if not messages:
        messages = [{"role": "user", "content": row["prompt"] or question, "source": "input"}]
        if row["raw_output"] is not None:
            messages.append(_answer(row))
    sample: Document = {
        "id": row["task_id"] or row["task_name"] or str(row["seq"]),
        "epoch": max(row["attempt"] or 1, 1),
        "input": question,
        "target": _target(task.get("target") or ""),
        "messages": messages,
        "output": _output(row),
        "scores": _made_scores(row),
        "metadata": _metadata(row),
        "store": {},
        "events": step_events(row),
        "model_usage": _usage(row),
        "started_at": iso(row["started_at"]),
        "completed_at": iso(row["ended_at"]),
        "total_time": row["duration_seconds"],
        # Runs share results; Inspect takes samples of the same uuid for one.
        "uuid": content_hash("inspect sample", row["suite"], row["run_id"], row["result_id"]),
        "error_retries": [],
        "attachments": {},
    }
    choices = json_value(task.get("choices"))
    if isinstance(choices, list) and choices:
        sample["choices"] = [
            each if isinstance(each, str) else json.dumps(each) for each in choices
        ]
    if row["success"] is False:
        message = row["failure_type"] or "error"
        sample["error"] = {"message": message, "traceback": message, "traceback_ansi": message}
    return {key: value for key, value in sample.items() if value is not None}


def _made_scores(row: Row) -> Document:
    """Return the scores of a result that another tool made, each under a name of its own.

    Only where there is a verdict, a letter says so: a number counts in the figures alone.
    """
    scores: Document = {}
    for score in row["scores"] or ():
        parts = [score["scorer"], score["metric"], score["filter"]]
        if parts[0] == parts[1]:
            parts.pop(0)
        name = base = "/".join(part for part in parts if part is not None)
        place = 1
        while name in scores:
            place += 1
            name = f"{base} ({place})"
        value = _value(score)
        if score["metric"] == "passed" and row["passed"] is not None and value in {0.0, 1.0}:
            value = "C" if value else "I"
        known = {name: score[name] for name in ("answer", "explanation") if score[name] is not None}
        if isinstance(value, str) and score["value"] is None:
            # Inspect counts any text as a number, most as 0; this score is none.
            known["metadata"] = {"is_text": True}
        scores[name] = {"value": value, **known}
    return scores


def _value(score: Mapping[str, Any]) -> object:
    """Return a score as recorded: a letter, or a number, also one that is not finite.

    A score without a value is NaN, as Inspect has it: it refuses null.
    """
    text = score["text"]
    if text is None:
        return math.nan if score["value"] is None else score["value"]
    if score["value"] is None:
        try:
            return float(text)
        except ValueError:
            return text
    return text


def _answer(row: Row) -> Document:
    return {
        "role": "assistant",
        "content": row["raw_output"],
        "source": "generate",
        "model": row["model"],
    }


def _output(row: Row) -> Document:
    output: Document = {"model": row["model"] or "unknown", "choices": []}
    if row["raw_output"] is not None:
        output["choices"] = [{"message": _answer(row), "stop_reason": "stop"}]
        output["completion"] = row["raw_output"]
        usage = _usage(row)
        if usage:
            output["usage"] = next(iter(usage.values()))
    if row["latency_ms"] is not None:
        output["time"] = row["latency_ms"] / 1000
    return output


def _usage(row: Row) -> Document:
    given, made = row["input_tokens"], row["output_tokens"]
    if given is None and made is None:
        return {}
    usage = {"input_tokens": given or 0, "output_tokens": made or 0}
    usage["total_tokens"] = sum(usage.values())
    cost = {} if row["cost_usd"] is None else {"total_cost": row["cost_usd"]}
    return {named_model(row["provider"], row["model"]): {**usage, **cost}}


def named_model(provider: str | None, model: str | None) -> str:
    """Return a model's name as Inspect writes it: by the way to reach it first."""
    model = model or "unknown"
    return model if "/" in model else f"{provider or 'none'}/{model}"


def _metadata(row: Row) -> Document:
    known = {"task_name": row["task_name"], "latency_ms": row["latency_ms"]}
    metadata: Document = {name: value for name, value in known.items() if value is not None}
    if row["cost_usd"] is not None:
        metadata["cost_usd"] = row["cost_usd"]
    return metadata


def _target(text: str) -> object:
    """Return the right answer, or the right answers."""
    if text.startswith("["):
        try:
            value = json.loads(text)
        except ValueError:
            return text
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return value
    return text


def _text_of(messages: object) -> str:
    if not isinstance(messages, list):
        return ""
    texts = (each.get("content") for each in messages if isinstance(each, dict))
    return "\n".join(text for text in texts if isinstance(text, str))
