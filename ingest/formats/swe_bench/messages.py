"""The messages of a trajectory, and the steps of mini-swe-agent, each of which is a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.binary import without_binary
from ingest.formats.common.fields import (
    Fields,
    list_of,
    object_of,
    plain_text,
    texts_of,
    unix_moment,
    whole_number,
)
from warehouse.core.formats.json_text import canonical_json, json_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ingest.formats.swe_bench.trials import TrialRows
    from warehouse.core.types import Json, MessageRow, StepRow

_KINDS = {"system": "system", "user": "user", "tool": "user", "assistant": "model"}


def message_row(message: Json, seq: int) -> MessageRow:
    """Return the row of a message; pictures are kept by their hash."""
    fields = Fields(message)
    content = without_binary(fields.value("content"))
    inside = fields.inside("extra")
    text = texts_of(content)
    raw = inside.peek("raw_output")
    if isinstance(raw, str) and raw.strip() in (text or ""):
        inside.value("raw_output")
    inside.value("actions")
    response = inside.inside("response")
    response.value("choices")  # the message itself
    calls = fields.value("tool_calls")
    return {
        "seq": seq,
        "role": fields.text("role"),
        "text": text,
        "parts": None if isinstance(content, str | None) else json_text(content),
        "tool_calls": None if calls is None else json_text(calls),
        "tool_call_id": fields.text("tool_call_id"),
        "extra": fields.extra(),
    }


def add_mini_steps(
    messages: list[Json], result_id: str, model: str | None, trials: TrialRows
) -> None:
    """Add messages and steps of mini-swe-agent; the calls of a message are parts of its step."""
    seq = 0
    for at, message in enumerate(messages, 1):
        trials.add_part("messages", result_id, message_row(message, at), "message", at)
        seq += 1
        step = _step(object_of(message), at, model)
        trials.add_part("steps", result_id, {**step, "seq": seq}, "step", at)
        actions = list_of(object_of(object_of(message).get("extra")).get("actions"))
        for number, action in enumerate(actions, 1):
            seq += 1
            answer = _answer(messages, at + number)
            call = {**_call(action, at, number, answer), "seq": seq}
            trials.add_part("steps", result_id, call, "call", at, number)


def _step(message: Mapping[str, Json], at: int, model: str | None) -> StepRow:
    role, extra = message.get("role"), object_of(message.get("extra"))
    step: StepRow = {
        "step_id": str(at),
        "kind": _KINDS.get(role if isinstance(role, str) else "", "other"),
        "started_at": unix_moment(extra.get("timestamp")),
        "first_message": at,
        "last_message": at,
    }
    if step["kind"] == "model":
        usage = Fields(object_of(extra.get("response")).get("usage"))
        cached = Fields(usage.peek("prompt_tokens_details")).integer("cached_tokens")
        details = Fields(usage.peek("completion_tokens_details"))
        step |= {
            "model": model,
            "cost_usd": Fields(extra).number("cost"),
            "input_tokens": usage.integer("prompt_tokens") or None,
            "cached_tokens": cached,
            "output_tokens": usage.integer("completion_tokens") or None,
            "reasoning_tokens": details.integer("reasoning_tokens"),
        }
    return step


def _answer(messages: list[Json], at: int) -> Fields | None:
    """Return what a command returned, by its position from 1; None if it was never run."""
    message = object_of(messages[at - 1]) if at <= len(messages) else {}
    return Fields(message.get("extra")) if "returncode" in object_of(message.get("extra")) else None


def _call(action: Json, at: int, number: int, answer: Fields | None) -> StepRow:
    command = object_of(action).get("command")
    call: StepRow = {
        "step_id": f"{at}.{number}",
        "parent_id": str(at),
        "kind": "tool",
        "name": "bash",
        "call_id": plain_text(object_of(action).get("tool_call_id")),
        "arguments": canonical_json({"command": command}),
        "is_counted": False,
    }
    if answer is not None:
        call |= {
            "exit_code": whole_number(answer.peek("returncode")),
            "error": plain_text(answer.peek("exception_info")) or None,
            "ended_at": unix_moment(answer.peek("timestamp")),
            "first_message": at + number,
            "last_message": at + number,
        }
    return call
