"""The samples of an evaluation: a result, its score and its task for each line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.fields import Fields, amount, plain_text, task_position, texts_of
from warehouse.core.formats.json_text import canonical_json, json_text
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.common.collector import RowCollector
    from ingest.formats.common.records import LineRecord
    from ingest.reading import Block
    from warehouse.core.types import (
        Json,
        JsonObject,
        MessageRow,
        ResultRow,
        ResultScoreRow,
        TaskRow,
    )

_LONGEST_EPOCH = 9
_IDENTITY = ("evaluation_id", "evaluation_name", "model_id", "sample_id")


class SampleRows:
    """Makes the rows of the samples of one run.

    Args:
        rows: collects the rows.
        model: model of the run's first sample.
    """

    def __init__(self, rows: RowCollector, model: str | None) -> None:
        self._rows = rows
        self._model = model
        # How often each sample was seen: nothing else distinguishes its epochs.
        self._attempts: dict[int, int] = {}

    def add(self, record: LineRecord) -> Iterator[Block]:
        """Add the rows of a line that holds a sample; yield a block if there are enough."""
        sample = record.value if isinstance(record.value, dict) else {}
        name, sample_id = utf8(str(sample["evaluation_name"])), utf8(str(sample["sample_id"]))
        fields = Fields(sample)
        for field in _IDENTITY:
            fields.value(field)
        line = self._nth(name, sample_id, fields.peek("evaluation_result_id"))
        task = self._task(fields, name, sample_id)
        result = self._result(record, fields, task, line)
        model = sample.get("model_id")
        if model is not None and model != self._model:
            result["model"] = plain_text(model)
        self._rows.add("results", result)
        yield from self._rows.full()

    def rest(self) -> Iterator[Block]:
        """Yield what was not yet yielded."""
        return self._rows.rest()

    def _nth(self, name: str, sample_id: str, result_id: Json) -> int:
        """Return which line of a sample this is, of those of the same result."""
        key = int(content_hash(name, sample_id, result_id)[:16], 16)
        self._attempts[key] = self._attempts.get(key, 0) + 1
        return self._attempts[key]

    def _result(self, record: LineRecord, fields: Fields, task: TaskRow, nth: int) -> ResultRow:
        content_id = self._rows.id_of("sample", record.value, nth)
        recorded = Fields(fields.peek("metadata"))
        usage, timing = fields.inside("token_usage"), fields.inside("performance")
        evaluation, output = fields.inside("evaluation"), fields.inside("output")
        asked = fields.inside("input").text("formatted") or task.get("question")
        error = fields.value("error")
        # The format demands a verdict; an export of ours says where it is none.
        is_judged = error is None and recorded.peek("verdict") != "unknown"
        self._add_messages(content_id, fields)
        self._add_score(content_id, fields, evaluation)
        latency_ms = timing.peek("latency_ms")
        whole_ms = timing.integer("latency_ms")
        row: ResultRow = {
            "content_id": content_id,
            "seq": record.line,
            "task_set": task["task_set"],
            "task_id": task["task_id"],
            "task_hash": task["task_hash"],
            # A result may have two scores of one name.
            "attempt": _epoch(recorded.peek("epoch")) or nth,
            "prompt": asked,
            "availability_status": "ok" if error is None else "error",
            "success": error is None,
            "failure_type": None if error is None else "error",
            "e2e_ms": whole_ms,
            "duration_seconds": None if whole_ms is not None else _seconds(timing, latency_ms),
            "ttft_ms": timing.integer("time_to_first_token_ms"),
            "input_tokens": usage.integer("input_tokens"),
            "output_tokens": usage.integer("output_tokens"),
            "raw_output": _output(output),
            "answer": _answer(fields.peek("answer_attribution")),
            # Without an answer there is no verdict; what is recorded stays in `extra`.
            "objective_pass": evaluation.boolean("is_correct") if is_judged else None,
            "tool_call_count": evaluation.integer("tool_calls_count"),
            "source": record.source,
        }
        row["extra"] = fields.extra(error=error)
        return row

    def _task(self, fields: Fields, name: str, sample_id: str) -> TaskRow:
        asked = fields.inside("input")
        question, target = plain_text(asked.value("raw")), _target(asked.peek("reference"))
        if not _is_list_in_text(asked.peek("reference")):
            asked.value("reference")
        choices = asked.peek("choices")
        listed = asked.value("choices") if _is_texts(choices) and choices else None
        task_hash = content_hash("task", question, listed, target)
        set_hash = content_hash("eee", name)
        row: TaskRow = {
            "content_id": content_hash("task", name, sample_id, task_hash),
            "suite": "eee",
            "task_set": name,
            "task_set_hash": set_hash,
            "seq": task_position(sample_id),
            "task_id": sample_id,
            "task_hash": task_hash,
            "question": question,
            "choices": None if listed is None else json_text(listed),
            "target": target,
            "reference": target,
        }
        self._rows.add("tasks", row)
        return row

    def _add_score(self, result_id: str, fields: Fields, evaluation: Fields) -> None:
        value, text = amount(evaluation.value("score"))
        scorer = fields.text("evaluation_result_id")
        if value is None and text is None:
            return
        row: ResultScoreRow = {
            "content_id": self._rows.id_of("score", result_id),
            "result_id": result_id,
            "scorer": scorer,
            "metric": "score",
            "value": value,
            "text": text,
        }
        self._rows.add("result_scores", row)

    def _add_messages(self, result_id: str, fields: Fields) -> None:
        for name in ("messages", "interactions"):
            messages = fields.peek(name)
            if isinstance(messages, list) and all(isinstance(each, dict) for each in messages):
                fields.value(name)
                for seq, message in enumerate(messages, 1):
                    self._rows.add("messages", self._message(result_id, seq, message))
                return

    def _message(self, result_id: str, seq: int, message: Json) -> MessageRow:
        fields = Fields(message)
        content, calls = fields.value("content"), fields.peek("tool_calls")
        called = isinstance(calls, list) and all(isinstance(call, dict) for call in calls)
        answered = fields.peek("tool_call_id")
        only = answered[0] if isinstance(answered, list) and len(answered) == 1 else answered
        if isinstance(only, str):
            fields.value("tool_call_id")
        return {
            "content_id": self._rows.id_of("message", result_id, seq),
            "result_id": result_id,
            "seq": seq,
            "role": fields.text("role"),
            "text": texts_of(content),
            "parts": None if isinstance(content, str | None) else json_text(content),
            "tool_calls": _calls(fields.value("tool_calls")) if called else None,
            "tool_call_id": utf8(only) if isinstance(only, str) else None,
            "extra": fields.extra(),
        }


def _calls(calls: Json) -> str | None:
    """Return the calls of a message as in `messages.tool_calls`; None if there are none."""
    made: list[JsonObject] = []
    for call in calls if isinstance(calls, list) else ():
        fields = Fields(call)
        known: JsonObject = {"id": fields.value("id"), "function": fields.value("name")}
        known["arguments"] = fields.value("arguments")
        made.append({**known, **fields.left()})
    return json_text(made) if made else None


def _output(output: Fields) -> str | None:
    """Return the model's answer: the only text, or the first; others stay in `extra`."""
    raw = output.peek("raw")
    if not isinstance(raw, list):
        return plain_text(output.value("raw"))
    if len(raw) == 1:
        output.value("raw")
    return plain_text(raw[0]) if raw else None


def _answer(attributions: Json) -> str | None:
    """Return the last value that was extracted from the answer."""
    if not isinstance(attributions, list):
        return None
    values = [each.get("extracted_value") for each in attributions if isinstance(each, dict)]
    return next((plain_text(value) for value in reversed(values) if value is not None), None)


def _target(reference: Json) -> str | None:
    """Return the right answer; several as a JSON list."""
    if isinstance(reference, list) and len(reference) == 1:
        reference = reference[0]
    if reference is None or (isinstance(reference, str | list) and not reference):
        return None
    return utf8(reference) if isinstance(reference, str) else canonical_json(reference)


def _is_list_in_text(reference: Json) -> bool:
    """Return whether a right answer is a text that looks like a list of several."""
    only = reference[0] if isinstance(reference, list) and len(reference) == 1 else None
    return isinstance(only, str) and only.startswith("[")


def _epoch(text: Json) -> int | None:
    is_number = isinstance(text, str) and text.isdecimal() and len(text) <= _LONGEST_EPOCH
    return int(str(text)) if is_number else None


def _seconds(timing: Fields, latency_ms: Json) -> float | None:
    found = timing.number("latency_ms") if latency_ms is not None else None
    return None if found is None else found / 1000


def _is_texts(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
