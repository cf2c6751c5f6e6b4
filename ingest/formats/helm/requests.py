"""Makes rows of the requests of a run: `request_states` in its `scenario_state.json`."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ingest.formats.common.fields import finite_number, list_of, object_of, text_of, unix_moment
from ingest.formats.helm.layout import SUITE
from warehouse.core.formats.json_text import canonical_json, json_text
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from warehouse.core.types import Json, JsonObject, JudgementRow, MessageRow, ResultRow, TaskRow

# Fields of a request that are not parameters.
_NOT_SENT = {"prompt", "messages", "model"}
_MOST_MS = 2**53
_CORRECT = "correct"
_ID_BYTES = 16
_SHORT_HASH_DIGITS = 16
_NO_INSTANCE = "a request without an instance that has an `id`"

# What a result and the statistics of its instance share: instance, perturbation, trial.
InstanceKey = tuple[str, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRows:
    """The rows of a request.

    Attributes:
        key: the instance whose statistics may belong to it.
        result: the result.
        task: its task.
        messages: the messages sent, where they were a chat.
        judgements: what annotators said of the answer.
    """

    key: InstanceKey
    result: ResultRow
    task: TaskRow
    messages: list[MessageRow]
    judgements: list[JudgementRow]


class InstanceResults:
    """The results of each instance of a run: 24 bytes for each result."""

    def __init__(self) -> None:
        self._keys = array("Q")
        self._ids = bytearray()
        self._order: np.ndarray | None = None
        self._ordered = np.array([], np.uint64)

    def add(self, key: InstanceKey, result_id: str) -> None:
        """Add a result."""
        self._keys.append(_short_hash(key))
        self._ids += bytes.fromhex(result_id)
        self._order = None

    def of(self, key: InstanceKey, nth: int = 0) -> str | None:
        """Return the id of a result of an instance; None if it has none.

        Args:
            key: the instance.
            nth: which of its results, from 0; after the last one the first again.
        """
        if self._order is None:
            keys = np.array(self._keys, np.uint64)
            self._order = np.argsort(keys, kind="stable")
            self._ordered = keys[self._order]
        wanted = np.uint64(_short_hash(key))
        at = int(np.searchsorted(self._ordered, wanted))
        if at == len(self._ordered) or self._ordered[at] != wanted:
            return None
        if nth:
            end = int(np.searchsorted(self._ordered, wanted, side="right"))
            at += nth % (end - at)
        start = int(self._order[at]) * _ID_BYTES
        return self._ids[start : start + _ID_BYTES].hex()


def _short_hash(key: InstanceKey) -> int:
    return int(content_hash(*key)[:_SHORT_HASH_DIGITS], 16)


def instance_key(instance_id: Json, perturbation: Json, trial: Json) -> InstanceKey:
    """Return the key of an instance in a run."""
    changed = canonical_json(perturbation) if perturbation else ""
    number = trial if isinstance(trial, int) and 0 <= trial < 2**31 - 1 else 0
    return utf8(str(instance_id)), changed, number


def request_rows(record: JsonObject, seq: int, task_set: str) -> RequestRows:
    """Return the rows of a request.

    Args:
        record: an element of `request_states`.
        seq: its position, from 1.
        task_set: task set of the run.

    Raises:
        ValueError: it is not of an instance; the message says what is missing.
    """
    instance = record.get("instance")
    if not isinstance(instance, dict) or not isinstance(instance.get("id"), str | int):
        raise ValueError(_NO_INSTANCE)  # noqa: TRY004 - of the file, not of an argument
    key = instance_key(
        instance["id"], instance.get("perturbation"), record.get("train_trial_index")
    )
    task = _task_row(record, instance, key, task_set)
    result = _result_row(record, key, task, seq=seq, task_set=task_set)
    return RequestRows(
        key=key,
        result=result,
        task=task,
        messages=list(_message_rows(record, result["content_id"])),
        judgements=list(_judgement_rows(record, result)),
    )


def row_without_request(
    key: InstanceKey, nth: int, seq: int, *, model: str | None, task_set: str
) -> ResultRow:
    """Return the result of an instance whose request was not logged, only its statistics.

    Args:
        key: the instance.
        nth: which of its results, from 0.
        seq: position of its statistics, from 1.
        model: model of the run.
        task_set: task set of the run.
    """
    return {
        "content_id": content_hash("instance without a request", *key, nth, model),
        "seq": seq,
        "model": model,
        "task_set": task_set,
        "task_id": _task_id(key),
        "attempt": key[2] + 1,
    }


def _task_id(key: InstanceKey) -> str:
    instance_id, changed, _ = key
    return f"{instance_id} {content_hash(changed)[:6]}" if changed else instance_id


def _task_row(record: JsonObject, instance: JsonObject, key: InstanceKey, task_set: str) -> TaskRow:
    references = list_of(instance.get("references"))
    texts = [_output(each) for each in references]
    correct = [
        text
        for each, text in zip(references, texts, strict=True)
        if isinstance(each, dict) and _CORRECT in list_of(each.get("tags")) and text is not None
    ]
    mapping = record.get("output_mapping")
    is_choice = isinstance(mapping, dict) and len(mapping) > 1
    is_choice = is_choice or record.get("reference_index") is not None
    known = [text for text in texts if text is not None]
    target = None if not correct else correct[0] if len(correct) == 1 else json_text(correct)
    question = text_of(object_of(instance.get("input")).get("text"))
    row: TaskRow = {
        "suite": SUITE,
        "task_set": task_set,
        # Instances are added to a set from any part of it, so that its version is only its name.
        "task_set_hash": content_hash("helm task set", task_set),
        "task_id": _task_id(key),
        "reference": target,
        "question": question,
        "choices": json_text(known) if is_choice and len(known) > 1 else None,
        "target": target,
        "extra": json_text({"instance": instance}),
    }
    row["task_hash"] = content_hash("task", row)
    row["content_id"] = content_hash("helm task", row)
    digits = re.search(r"[0-9]{1,15}", key[0])
    row["seq"] = int(digits[0]) + 1 if digits else 1
    return row


def _result_row(
    record: JsonObject, key: InstanceKey, task: TaskRow, *, seq: int, task_set: str
) -> ResultRow:
    request, result = object_of(record.get("request")), object_of(record.get("result"))
    completions = list_of(result.get("completions"))
    text = text_of(object_of(completions[0]).get("text")) if completions else None
    seconds = _number(result.get("request_time"))
    success, cached = result.get("success"), result.get("cached")
    error = text_of(result.get("error"))
    mapping = record.get("output_mapping")
    mapped = mapping.get(text.strip()) if isinstance(mapping, dict) and text is not None else None
    sent = {name: value for name, value in request.items() if name not in _NOT_SENT}
    return {
        "content_id": content_hash("request", record),
        "seq": seq,
        "model": text_of(request.get("model")),
        "sent": canonical_json(sent) if sent else None,
        "task_set": task_set,
        "task_id": task["task_id"],
        "task_hash": task["task_hash"],
        "prompt": text_of(request.get("prompt")),
        "attempt": key[2] + 1,
        "availability_status": "error" if success is False else "ok",
        "success": success if isinstance(success, bool) else None,
        "failure_type": error if success is False else None,
        "started_at": _moment(result.get("request_datetime")),
        "duration_seconds": seconds,
        "e2e_ms": None if seconds is None else round(seconds * 1000),
        "is_cached": cached if isinstance(cached, bool) else None,
        "raw_output": text,
        "answer": text_of(mapped),
        "extra": json_text(_rest(record, request, result, completions)),
    }


def _rest(
    record: JsonObject, request: JsonObject, result: JsonObject, completions: list[Json]
) -> JsonObject:
    """Return what the columns and the task do not hold."""
    rest: JsonObject = {
        name: value
        for name, value in record.items()
        if name not in {"instance", "request", "result", "annotations"}
    }
    first = object_of(completions[0]) if completions else {}
    others: list[Json] = [{name: value for name, value in first.items() if name != "text"}]
    more = {name: value for name, value in result.items() if name != "completions"}
    rest["result"] = {**more, "completions": [*others, *completions[1:]]}
    if not isinstance(record.get("request"), dict):
        rest["request"] = record.get("request")
    if not isinstance(request.get("prompt"), str | None):
        rest["prompt"] = request["prompt"]
    return rest


def _message_rows(record: JsonObject, result_id: str) -> Iterator[MessageRow]:
    messages = list_of(object_of(record.get("request")).get("messages"))
    for seq, message in enumerate(messages, 1):
        fields = message if isinstance(message, dict) else {"content": message}
        content = fields.get("content")
        extra = {name: v for name, v in fields.items() if name not in {"role", "content"}}
        yield {
            "content_id": content_hash("message", result_id, seq, fields),
            "result_id": result_id,
            "seq": seq,
            "role": text_of(fields.get("role")),
            "text": text_of(content),
            "parts": None if isinstance(content, str | None) else json_text(content),
            "extra": json_text(extra) if extra else None,
        }


def _judgement_rows(record: JsonObject, result: ResultRow) -> Iterator[JudgementRow]:
    for judge, document in object_of(record.get("annotations")).items():
        yield {
            "content_id": content_hash("annotation", result["content_id"], judge, document),
            "model": result["model"] or "",
            "task_id": result["task_id"] or "",
            "result_id": result["content_id"],
            "judge": utf8(judge),
            "document": json_text(document),
        }


def _output(reference: Json) -> str | None:
    return text_of(object_of(object_of(reference).get("output")).get("text"))


def _number(value: Json) -> float | None:
    number = finite_number(value)
    return number if number is not None and abs(number) * 1000 < _MOST_MS else None


def _moment(value: Json) -> datetime | None:
    return unix_moment(_number(value))
