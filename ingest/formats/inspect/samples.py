"""A sample as a row of `results`, with the rows of its task, its scores and its messages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from ingest.formats.common.fields import list_of, object_of, text_of
from ingest.formats.inspect.documents import as_amount, as_count, as_moment, as_text
from ingest.formats.inspect.messages import (
    Attachments,
    called_tools,
    content_text,
    joined_text,
    message_rows,
    message_texts,
    sent_text,
)
from ingest.formats.inspect.scores import first_score, has_number, score_rows, verdict
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import is_integer, utf8

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ingest.formats.inspect.documents import LogObject
    from ingest.formats.inspect.header import Evaluation
    from warehouse.core.types import MessageRow, ResultRow, ResultScoreRow, TaskRow

# What identifies a sample: its question, conversation and scores. Versions of the format differ in
# how they keep events and long texts.
_IDENTITY = (
    *("id", "epoch", "uuid", "input", "choices", "target", "messages", "output", "scores"),
    *("error", "limit"),
)
_EXCEPTION = re.compile(r"([A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Timeout))\b")
_EPOCH_BITS = 32
_ID = (str, int)


class UnusableSampleError(Exception):
    """A sample that cannot be imported; the message says why."""


@dataclass(slots=True, kw_only=True)
class SampleRows:
    """The rows of a sample.

    Attributes:
        key: id and epoch, which identify it in its log.
        result: the sample itself.
        task: its task.
        scores: its scores.
        messages: its conversation.
    """

    key: tuple[str, int]
    result: ResultRow
    task: TaskRow
    scores: list[ResultScoreRow] = field(default_factory=list)
    messages: list[MessageRow] = field(default_factory=list)


def sample_rows(log: LogObject, shared: Evaluation, number: int) -> SampleRows:
    """Return the rows of a sample.

    Args:
        log: the sample.
        shared: what the samples of its log share.
        number: its place in the file, from 1.

    Raises:
        UnusableSampleError: it lacks id or epoch.
    """
    sample = log.value
    key = _key(sample)
    result_id = log.digest({name: sample.get(name) for name in _IDENTITY})
    attachments = Attachments(sample)
    scores = _scores(sample, shared)
    messages = list_of(sample.get("messages"))
    texts = message_texts(messages, attachments)
    task, kept = _task(log, shared, key, attachments)
    prompt = sent_text(messages, texts) or joined_text(sample.get("input"), attachments)
    result = _result(log, shared, key, attachments)
    scorer, first = first_score(scores)
    value = first.get("value") if has_number(first) else None
    passed = verdict(value, is_graded=scorer in shared.graded)
    result["content_id"] = result_id
    result["prompt"] = prompt
    result["seq"] = _seq(shared, key, number)
    result["task_hash"] = task["task_hash"]
    result["answer"] = text_of(first.get("answer"))
    result["is_correct"] = passed
    result["scorer"] = utf8(scorer) if scorer is not None and passed is not None else None
    result["extra"] = log.as_json(_rest(sample, {*kept, "scores"} if scores else kept))
    result["source"] = log.text
    return SampleRows(
        key=key,
        result=result,
        task=task,
        scores=list(score_rows(log, scores, result_id, shared.graded)),
        messages=list(message_rows(log, messages, texts, result_id, attachments=attachments)),
    )


def _key(sample: Mapping[str, Any]) -> tuple[str, int]:
    sample_id, epoch = sample.get("id"), sample.get("epoch", 1)
    if isinstance(sample_id, bool) or not isinstance(sample_id, _ID):
        raise UnusableSampleError("its id is neither a text nor an integer")
    if not is_integer(epoch, _EPOCH_BITS) or epoch < 0:
        raise UnusableSampleError("its epoch is not a number of an attempt")
    return utf8(str(sample_id)), epoch


def _seq(shared: Evaluation, key: tuple[str, int], number: int) -> int:
    """Return the place in the evaluation: the same in all files of the log where it is known."""
    sample_id, epoch = key
    place = shared.places.get(sample_id)
    if place is not None:
        return max(epoch - 1, 0) * len(shared.places) + place
    if sample_id.isdecimal() and shared.n_samples and int(sample_id) <= shared.n_samples:
        return max(epoch - 1, 0) * (shared.n_samples + 1) + int(sample_id) + 1
    return number


def _scores(sample: Mapping[str, Any], shared: Evaluation) -> Mapping[str, Any]:
    if isinstance(sample.get("score"), dict) and not sample.get("scores"):
        return {shared.scorer: sample["score"]}
    return object_of(sample.get("scores"))


def _task(
    log: LogObject, shared: Evaluation, key: tuple[str, int], attachments: Attachments
) -> tuple[TaskRow, set[str]]:
    """Return the task of a sample, and the fields that it holds as they were."""
    sample = log.value
    given, choices, target = sample.get("input"), sample.get("choices"), sample.get("target")
    has_choices, is_list = _are_texts(choices), _are_texts(target)
    held = {"input"} if isinstance(given, str) and attachments.resolved(given) == given else set()
    if has_choices:
        held.add("choices")
    if is_list or isinstance(target, str):
        held.add("target")
    prompt = joined_text(given, attachments)
    answer = json_text(target) if is_list else utf8(target) if isinstance(target, str) else None
    texts = [prompt, choices if has_choices else None, answer]
    task_hash = log.digest(texts)
    place = shared.places.get(key[0])
    return {
        "content_id": log.digest([shared.task_set, shared.task_set_hash, key[0], task_hash]),
        "suite": "inspect",
        "task_set": shared.task_set,
        "task_set_hash": shared.task_set_hash,
        "seq": place or 1,
        "task_id": key[0],
        "task_hash": task_hash,
        "prompt": prompt,
        "question": _question(given, attachments),
        "choices": json_text(choices) if has_choices else None,
        "target": answer,
        "reference": answer,
    }, held


def _are_objects(values: Sequence[object]) -> bool:
    return not [each for each in values if not isinstance(each, dict)]


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _question(given: object, attachments: Attachments) -> str | None:
    """Return the user's text in an input of several messages; None for any other input."""
    if not isinstance(given, list):
        return None
    messages = [object_of(each) for each in given]
    asked = [each for each in messages if each.get("role") == "user"]
    if len(asked) != 1 or len(messages) == 1:
        return None
    return content_text(asked[0].get("content"), attachments)


def _result(
    log: LogObject, shared: Evaluation, key: tuple[str, int], attachments: Attachments
) -> ResultRow:
    sample = log.value
    messages = list_of(sample.get("messages"))
    error = as_text(object_of(sample.get("error")).get("message"))
    has_failed = sample.get("error") is not None
    usage = object_of(object_of(sample.get("model_usage")).get(shared.model))
    cost = as_amount(usage.get("total_cost"))
    tools = called_tools(messages)
    return {
        "run_date": shared.run_date,
        "provider": shared.provider,
        "model": shared.model,
        "settings": shared.settings,
        "task_set": shared.task_set,
        "task_id": key[0],
        "attempt": key[1],
        "availability_status": "error" if has_failed else "ok",
        "success": not has_failed,
        "failure_type": _failure(error) if has_failed else None,
        **_times(sample, shared),
        "input_tokens": as_count(usage.get("input_tokens")),
        "output_tokens": as_count(usage.get("output_tokens")),
        "cost_usd": cost,
        "cost_source": "inspect" if cost is not None else None,
        "raw_output": _completion(sample.get("output"), attachments),
        "tool_calls": tools or None,
        "tool_call_count": len(tools),
        "retries": _retries(sample.get("error_retries")),
    }


def _times(sample: Mapping[str, Any], shared: Evaluation) -> ResultRow:
    """Return the times of a sample; older logs have them in its events only."""
    events = _events(sample)
    started, ended = as_moment(sample.get("started_at")), as_moment(sample.get("completed_at"))
    if events:
        started = started or as_moment(events[0].get("timestamp"))
        ended = ended or as_moment(events[-1].get("timestamp"))
    calls = [
        each
        for each in events
        if each.get("event") == "model" and each.get("model") == shared.model
    ]
    made = [each for each in calls if each.get("cache") != "read"]
    times = [as_amount(object_of(each.get("output")).get("time")) for each in made]
    milliseconds = None
    if times and None not in times:
        milliseconds = round(sum(cast("list[float]", times)) * 1000)
    return {
        "started_at": started,
        "ended_at": ended,
        "e2e_ms": as_count(milliseconds),
        "duration_seconds": as_amount(sample.get("total_time")),
        "is_cached": not made if calls else None,
    }


def _events(sample: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    events = sample.get("events")
    if events is None:
        events = object_of(sample.get("transcript")).get("events")
    return [each for each in list_of(events) if isinstance(each, dict)]


def _completion(output: object, attachments: Attachments) -> str | None:
    given = object_of(output)
    completion = given.get("completion")
    if isinstance(completion, str):
        return utf8(attachments.resolved(completion))
    choices = list_of(given.get("choices"))
    message = object_of(object_of(choices[0]).get("message")) if choices else {}
    return content_text(message.get("content"), attachments)


def _failure(message: str | None) -> str:
    found = _EXCEPTION.match(message or "")
    return found[1] if found is not None else "error"


def _retries(given: object) -> str | None:
    retries = [object_of(each) for each in list_of(given)]
    if not retries:
        return None
    messages = [as_text(each.get("message")) for each in retries]
    return json_text(
        [{"status": "error", "failure_type": _failure(each), "message": each} for each in messages]
    )


def _rest(sample: Mapping[str, Any], held: set[str]) -> dict[str, Any]:
    """Return what no column holds as it was."""
    rest = dict(sample)
    rest.pop("epoch", None)
    messages = rest.get("messages")
    if isinstance(messages, list) and _are_objects(messages):
        del rest["messages"]
    if isinstance(rest.get("id"), str):
        del rest["id"]
    if as_amount(rest.get("total_time")) is not None:
        del rest["total_time"]
    for key in held:
        rest.pop(key, None)
    return rest
