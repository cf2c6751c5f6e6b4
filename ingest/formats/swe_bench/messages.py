"""The messages of a trajectory, and the steps of mini-swe-agent, each of which is a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.binary import without_binary
from ingest.formats.common.fields import (
    Fields,
    finite_number,
    inner,
    list_of,
    object_of,
    plain_text,
    unix_moment,
    whole_number,
)
from ingest.formats.common.trials import content_columns
from warehouse.core.formats.json_text import canonical_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ingest.formats.swe_bench.trials import TrialRows
    from warehouse.core.types import Json, MessageRow, StepRow

_KINDS = {"system": "system", "user": "user", "tool": "user", "assistant": "model"}


def message_row(message: Json, seq: int) -> MessageRow:
    """Return the row of a message; pictures are kept by their hash."""
    fields = Fields(message)
    row = content_columns(without_binary(fields.value("content")))
    inside = fields.inside("extra")
    raw = inside.peek("raw_output")
    if isinstance(raw, str) and raw.strip() in (row["text"] or ""):
        inside.drop("raw_output")
    inside.drop("actions")
    inside.inside("response").drop("choices")  # the message itself
    return row | {
        "seq": seq,
        "role": fields.text("role"),
        "tool_calls": fields.json("tool_calls"),
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
        actions = list_of(inner(message, "extra", "actions"))
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
        usage = Fields(inner(extra, "response", "usage"))
        step |= {
            "model": model,
            "cost_usd": finite_number(extra.get("cost")),
            "input_tokens": usage.integer("prompt_tokens") or None,
            "cached_tokens": usage.inside("prompt_tokens_details").integer("cached_tokens"),
            "output_tokens": usage.integer("completion_tokens") or None,
            "reasoning_tokens": usage.inside("completion_tokens_details").integer(
                "reasoning_tokens"
            ),
        }
    return step


def _answer(messages: list[Json], at: int) -> Fields | None:
    """Return what a command returned, by its position from 1; None if it was never run."""
    extra = object_of(inner(messages[at - 1], "extra")) if at <= len(messages) else {}
    return Fields(extra) if "returncode" in extra else None


def _call(action: Json, at: int, number: int, answer: Fields | None) -> StepRow:
    call: StepRow = {
        "step_id": f"{at}.{number}",
        "parent_id": str(at),
        "kind": "tool",
        "name": "bash",
        "call_id": plain_text(inner(action, "tool_call_id")),
        "arguments": canonical_json({"command": inner(action, "command")}),
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
