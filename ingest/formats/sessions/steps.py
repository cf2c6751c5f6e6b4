"""The steps of a Claude Code session: a row for each line, and for each call of a tool in one.

An API message is written as several lines that repeat its usage: each line's row has what it adds
to the lines before it, so that the sum over a message is its last line's usage.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest.formats.common.binary import without_binary
from ingest.formats.common.fields import Fields, finite_number, object_of, text_of, whole_number
from ingest.formats.sessions.content import (
    exit_code,
    parts_of,
    said,
    unsaid,
    without_repeats,
)
from ingest.formats.sessions.outline import SHARED, is_message, model_of
from warehouse.core.formats.json_text import canonical_json, json_text
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ingest.formats.common.collector import RowCollector
    from ingest.formats.sessions.outline import Outline
    from warehouse.core.types import Json, JsonObject, StepRow

_TOKENS = {
    "input_tokens": "input_tokens",
    "cached_tokens": "cache_read_input_tokens",
    "output_tokens": "output_tokens",
}
_MESSAGE_HELD = ("content", "role", "type", "model")
_HELD_ELSEWHERE = ("uuid", "sessionId", "type", "isSidechain", "message", "costUSD")


@dataclass(slots=True)
class _Trial:
    result_id: str
    shared: JsonObject
    n_steps: int = 0
    last_uuid: str | None = None
    usage: dict[str, dict[str, int | float]] = field(default_factory=dict)
    first_lines: dict[str, str] = field(default_factory=dict)


class StepRows:
    """Makes the rows of steps, line by line.

    Args:
        outline: what the session is made of.
        results: id of the result of each trial.
        rows: collects the rows.
    """

    def __init__(self, outline: Outline, results: Mapping[str, str], rows: RowCollector) -> None:
        self._trajectories = outline.trajectories
        self._rows = rows
        self._trials = {
            name: _Trial(result_id, outline.conversations[name].shared)
            for name, result_id in results.items()
        }
        self._seen: set[str] = set()
        # Calls of tools whose result has not come yet.
        self._open: dict[str, StepRow] = {}

    def add(self, line: JsonObject, trial_id: str) -> None:
        """Add the rows of a line; one that is repeated counts once."""
        uuid = utf8(str(line["uuid"]))
        if uuid in self._seen:
            return
        self._seen.add(uuid)
        trial = self._trials[trial_id]
        row = self._line_row(line, uuid, trial)
        self._rows.add("steps", row)
        for call in parts_of(object_of(line.get("message")).get("content"), "tool_use"):
            self._begin_call(call, row, trial)
        trial.last_uuid = uuid

    def finish(self) -> None:
        """Add the calls of tools that have no result."""
        self._rows.add("steps", *self._open.values())
        self._open = {}

    def _line_row(self, line: JsonObject, uuid: str, trial: _Trial) -> StepRow:
        fields = Fields(line)
        message = object_of(line.get("message"))
        content = message.get("content", line.get("content"))
        results = parts_of(content, "tool_result")
        unknown = self._end_calls(results, fields)
        row = self._new_row(trial, uuid)
        text = said([content, *unknown] if isinstance(content, str) else content)
        kind = _kind(line)
        row |= {
            "trajectory": self._trajectories.get(uuid),
            "agent": fields.text("agentId") if line.get("isSidechain") else None,
            "kind": kind,
            "name": _step_name(line, is_result=bool(results)),
            "model": model_of(line),
            "started_at": fields.moment("timestamp"),
            "text": None if kind == "error" else text,
            "error": (text or "error") if kind == "error" else None,
            "reasoning": _reasoning(content),
            "is_counted": is_message(line),
        }
        if line.get("type") == "assistant":
            self._add_usage(row, line, message, trial)
        row["extra"] = _extra(fields, trial, content, unknown)
        return row

    def _new_row(self, trial: _Trial, step_id: str) -> StepRow:
        trial.n_steps += 1
        return {
            "content_id": self._rows.id_of("step", trial.result_id, step_id),
            "result_id": trial.result_id,
            "seq": trial.n_steps,
            "step_id": step_id,
        }

    def _begin_call(self, call: JsonObject, line: StepRow, trial: _Trial) -> None:
        call_id = text_of(call.get("id"))
        row = self._new_row(trial, f"{line['step_id']} {call_id or trial.n_steps}")
        row |= {
            "parent_id": line["step_id"],
            "trajectory": line["trajectory"],
            "agent": line["agent"],
            "kind": "tool",
            "name": text_of(call.get("name")),
            "started_at": line["started_at"],
            "call_id": call_id,
            "arguments": canonical_json(without_binary(call.get("input"))),
            "is_counted": False,
        }
        if call_id is None or call_id in self._open:
            self._rows.add("steps", row)
        else:
            self._open[call_id] = row

    def _end_calls(self, results: list[JsonObject], fields: Fields) -> list[Json]:
        """End the calls that a line has results of; return the results of unknown calls."""
        unknown: list[Json] = []
        moment = Fields({"at": fields.peek("timestamp")}).moment("at")
        for result in results:
            row = self._open.pop(text_of(result.get("tool_use_id")) or "", None)
            if row is None:
                unknown.append(without_binary(result))
                continue
            content = result.get("content")
            text, rest = said(content), unsaid(content)
            is_error = result.get("is_error") is True
            row |= {
                "ended_at": moment,
                "text": None if is_error else text,
                "error": (text or "error") if is_error else None,
                "exit_code": exit_code(text) if is_error else None,
                "extra": json_text({"content": rest}) if rest else None,
            }
            self._rows.add("steps", row)
        return unknown

    def _add_usage(
        self, row: StepRow, line: JsonObject, message: JsonObject, trial: _Trial
    ) -> None:
        """Add what a line's usage adds to the earlier lines of the same API message."""
        message_id = text_of(message.get("id"))
        key = f"{message_id} {line.get('requestId')}" if message_id else str(line["uuid"])
        before = trial.usage.setdefault(key, {})
        usage = object_of(message.get("usage"))
        is_made = model_of(line) is None  # usage of a text that the program made is 0: none
        if not is_made:
            row["input_tokens"] = _more(before, "input", usage.get(_TOKENS["input_tokens"]))
            row["cached_tokens"] = _more(before, "cached", usage.get(_TOKENS["cached_tokens"]))
            row["output_tokens"] = _more(before, "output", usage.get(_TOKENS["output_tokens"]))
        cost = finite_number(line.get("costUSD"))
        if cost is not None:
            row["cost_usd"] = cost - before.get("cost", 0) if cost != before.get("cost") else None
            before["cost"] = cost
        first = trial.first_lines.setdefault(key, row["step_id"] or "")
        if first != row["step_id"] and row["kind"] == "model":
            # Another part of a call of the model: a line, but no further call.
            row |= {"kind": "other", "name": "message part", "parent_id": first}


def _more(before: dict[str, int | float], name: str, value: Json) -> int | None:
    """Return what a number adds to the one before; None for nothing or if it is not known."""
    number = whole_number(value)
    if number is None or number < 0:
        return None
    known = before.get(name)
    before[name] = number
    return number if known is None else int(number - known) or None


def _kind(line: JsonObject) -> str:
    kind, subtype = line.get("type"), line.get("subtype")
    content = object_of(line.get("message")).get("content")
    if kind == "assistant":
        is_error = line.get("isApiErrorMessage") is True or (
            object_of(line.get("message")).get("model") is not None and model_of(line) is None
        )
        return "error" if is_error else "model"
    if kind == "user":
        is_made = line.get("isMeta") or line.get("isCompactSummary")
        return "other" if parts_of(content, "tool_result") else "system" if is_made else "user"
    if kind != "system":
        return "other"
    if subtype == "compact_boundary":
        return "compaction"
    return "error" if subtype == "api_error" else "system"


def _step_name(line: JsonObject, *, is_result: bool) -> str | None:
    if is_result:
        return "tool_result"
    if line.get("isCompactSummary"):
        return "compact_summary"
    return text_of(line.get("subtype")) or (None if is_message(line) else text_of(line["type"]))


def _reasoning(content: Json) -> str | None:
    texts = [text_of(part.get("thinking")) for part in parts_of(content, "thinking")]
    return "\n".join(text for text in texts if text) or None


def _extra(fields: Fields, trial: _Trial, content: Json, unknown: list[Json]) -> str | None:
    """Return what no column holds, but for what the trial says of all of its lines."""
    message = object_of(fields.peek("message"))
    rest = [*unsaid(content, "tool_use", "tool_result", "thinking"), *unknown]
    said_by = {name: each for name, each in message.items() if name not in _MESSAGE_HELD}
    usage = object_of(said_by.pop("usage", None))
    more: JsonObject = {
        "message": said_by or None,
        "usage": {n: v for n, v in usage.items() if n not in _TOKENS.values()} or None,
        "content": rest or None,
    }
    for name in _HELD_ELSEWHERE:
        fields.value(name)
    if isinstance(fields.peek("content"), str | list):
        fields.value("content")
    if fields.peek("parentUuid") == trial.last_uuid:
        fields.value("parentUuid")
    for name in SHARED:
        if fields.peek(name) == trial.shared.get(name):
            fields.value(name)
    left = without_repeats(without_binary(fields.left()), _result_texts(content))
    found = {**{n: v for n, v in more.items() if v}, **object_of(left)}
    return json_text(found) if found else None


def _result_texts(content: Json) -> set[str]:
    """Return the texts of the results of tools in a message, which the line has once more."""
    texts: set[str] = set()
    for result in parts_of(content, "tool_result"):
        parts = [result.get("content"), *parts_of(result.get("content"), "text")]
        found = (part.get("text") if isinstance(part, dict) else part for part in parts)
        texts |= {text.strip() for text in found if isinstance(text, str)}
    return texts
