"""The events of an openai/evals log as rows.

A run may be cut off between any two events, and threads interleave their samples. A row therefore
depends only on its own event and on earlier ones: the first answer to a sample is its result, the
scores that follow are rows of their own, and all other events are kept as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.fields import (
    Fields,
    amount,
    object_of,
    plain_text,
    task_position,
    texts_of,
)
from ingest.formats.openai_evals.figures import scorer_of
from warehouse.core.formats.json_text import canonical_json, json_text
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.common.collector import RowCollector
    from ingest.formats.common.records import LineRecord
    from warehouse.core.types import (
        EventRow,
        Json,
        JsonObject,
        MessageRow,
        ResultRow,
        ResultScoreRow,
    )

# Events that only occur once a sample was answered.
_JUDGED = ("match", "metrics", "error")


class EventRows:
    """Makes rows of events, in the order of the log.

    Args:
        spec: what the log's first line says.
        task_set: the eval and its split.
        rows: collects the rows.
    """

    def __init__(self, spec: JsonObject, task_set: str | None, rows: RowCollector) -> None:
        self._scorer = scorer_of(spec)
        self._task_set = task_set
        self._set_hash = content_hash("openai/evals", task_set, spec.get("eval_name"))
        self._rows = rows
        # Of each sample with a result, in a few bytes: a log may have millions.
        self._results: dict[int, bytes] = {}

    def add(self, record: LineRecord, event: JsonObject) -> None:
        """Add the rows of an event."""
        kind, sample_id = event.get("type"), event.get("sample_id")
        if not isinstance(sample_id, str):
            self.keep(record, event, name=plain_text(kind))
            return
        result_id = self._result_of(sample_id)
        if result_id is None and kind in ("sampling", *_JUDGED):
            result_id = self._add_result(record, event, sample_id)
            if kind == "sampling":
                return
        if result_id is not None and kind in ("match", "metrics"):
            self._add_scores(record, event, sample_id, result_id)
        else:
            self.keep(record, event, name=plain_text(kind))

    def keep(self, record: LineRecord, event: JsonObject, *, name: str | None) -> None:
        """Keep an event as it is."""
        sample_id = event.get("sample_id")
        row: EventRow = {
            "content_id": self._rows.id_of("event", event),
            "seq": record.line,
            "event": name,
            "tag": utf8(sample_id) if isinstance(sample_id, str) else None,
            "document": json_text(event),
            "source": record.source,
        }
        self._rows.add("events", row)

    def _result_of(self, sample_id: str) -> str | None:
        found = self._results.get(_key(sample_id))
        return None if found is None else found.hex()

    def _add_result(self, record: LineRecord, event: JsonObject, sample_id: str) -> str:
        content_id = self._rows.id_of("result", event)
        self._results[_key(sample_id)] = bytes.fromhex(content_id)
        is_error = event["type"] == "error"
        fields = Fields(event if event["type"] == "sampling" else {"data": _sent(event)})
        for name in ("run_id", "sample_id", "type"):
            fields.value(name)
        data = fields.inside("data")
        usage = data.inside("usage")
        prompt, sampled = data.peek("prompt"), data.peek("sampled")
        row: ResultRow = {
            "content_id": content_id,
            "seq": record.line,
            "task_set": self._task_set,
            "task_id": utf8(sample_id),
            "attempt": 1,
            "prompt": self._prompt(data, content_id, prompt, sampled),
            "availability_status": "error" if is_error else "ok",
            "success": not is_error,
            "failure_type": _failure(event) if is_error else None,
            "ended_at": fields.moment("created_at"),
            "input_tokens": usage.integer("prompt_tokens"),
            "output_tokens": usage.integer("completion_tokens"),
            "raw_output": _answer(data, sampled),
            "extra": None,
            "source": record.source,
        }
        row["extra"] = fields.extra()
        self._rows.add("results", row)
        return content_id

    def _prompt(self, data: Fields, result_id: str, prompt: Json, sampled: Json) -> str | None:
        """Return what was sent as text; a conversation becomes messages, with the answer."""
        if isinstance(prompt, list) and all(isinstance(part, dict) for part in prompt):
            data.value("prompt")
            answer: list[Json] = []
            if sampled is not None:
                answer = [{"role": "assistant", "content": _only(sampled)}]
            for row in self._messages(result_id, [*prompt, *answer]):
                self._rows.add("messages", row)
            texts = [texts_of(part.get("content")) for part in prompt if isinstance(part, dict)]
            return "\n".join(text for text in texts if text is not None)
        return plain_text(data.value("prompt"))

    def _messages(self, result_id: str, messages: list[Json]) -> Iterator[MessageRow]:
        for seq, message in enumerate(messages, 1):
            fields = Fields(message)
            content = fields.value("content")
            yield {
                "content_id": self._rows.id_of("message", result_id, seq),
                "result_id": result_id,
                "seq": seq,
                "role": fields.text("role"),
                "text": texts_of(content),
                "parts": None if isinstance(content, str | None) else json_text(content),
                "extra": fields.extra(),
            }

    def _add_scores(
        self, record: LineRecord, event: JsonObject, sample_id: str, result_id: str
    ) -> None:
        fields = Fields(event)
        for name in ("run_id", "sample_id", "type"):
            fields.value(name)
        data = fields.inside("data")
        if event["type"] == "match":
            scores = {"passed": data.value("correct")}
            answer = plain_text(data.value("picked"))
            expected = data.value("expected")
            self._add_task(sample_id, expected)
        else:
            scores, answer = data.left(), None
            fields.value("data")
            data = Fields({})
        left = {**fields.left(), "line": record.line}
        if event["type"] == "match":
            left |= {"data": {**data.left(), "expected": event_data(event).get("expected")}}
        extra, is_first = json_text(left), True
        for name, score in scores.items():
            value, text = amount(score)
            row: ResultScoreRow = {
                "content_id": self._rows.id_of("score", event, name),
                "result_id": result_id,
                "scorer": self._scorer,
                "metric": utf8(name),
                "value": value,
                "text": text,
                "passed": score if name == "passed" and isinstance(score, bool) else None,
                "answer": answer,
                "extra": extra if is_first else None,
            }
            self._rows.add("result_scores", row)
            is_first = False
        if not record.is_exact or not scores:
            self.keep(record, event, name=plain_text(event["type"]))

    def _add_task(self, sample_id: str, expected: Json) -> None:
        if expected is None or self._task_set is None:
            return
        reference = expected if isinstance(expected, str) else canonical_json(expected)
        task_hash = content_hash("task", sample_id, reference)
        self._rows.add(
            "tasks",
            {
                "content_id": content_hash("task", self._set_hash, task_hash),
                "suite": "openai_evals",
                "task_set": self._task_set,
                "task_set_hash": self._set_hash,
                "seq": task_position(sample_id),
                "task_id": utf8(sample_id),
                "task_hash": task_hash,
                "reference": utf8(reference),
            },
        )


def event_data(event: JsonObject) -> JsonObject:
    """Return the data of an event; nothing if it is not an object."""
    return object_of(event.get("data"))


def _sent(event: JsonObject) -> JsonObject:
    """Return prompt and answer of an event that is not the record of a call, if it has them."""
    data = event_data(event)
    return {name: data[name] for name in ("prompt", "sampled") if name in data}


def _only(sampled: Json) -> Json:
    return sampled[0] if isinstance(sampled, list) and len(sampled) == 1 else sampled


def _answer(data: Fields, sampled: Json) -> str | None:
    if not isinstance(sampled, list):
        data.value("sampled")  # a list stays in `extra`
    return plain_text(_only(sampled))


def _failure(event: JsonObject) -> str:
    kind = event_data(event).get("type")
    return f"error:{utf8(kind)}" if isinstance(kind, str) else "error"


def _key(sample_id: str) -> int:
    return int(content_hash("sample", sample_id)[:16], 16)
