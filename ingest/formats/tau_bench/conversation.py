"""The messages of a trial, and its steps: each message is one, and names its text by position."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest.formats.common.binary import hash_of_binary
from ingest.formats.common.fields import (
    Fields,
    inner,
    iso_moment,
    json_or_none,
    known_sum,
    list_of,
    object_of,
    objects_of,
    text_of,
    texts_of,
    whole_number,
)
from ingest.formats.common.records import decoded
from ingest.formats.common.trials import content_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ingest.formats.common.collector import RowCollector
    from warehouse.core.types import Json, JsonObject, StepRow

_KINDS = {"assistant": "model", "user": "user", "system": "system", "tool": "tool"}
_ROLES = {"assistant": "agent", "user": "user"}
_LONGEST_ERROR = 200
_LONGEST_WORD = 1000
# Of the parts of a tick, in the order in which they happen.
_TICK_PARTS = ("agent_chunk", "agent_tool_results", "user_chunk", "user_tool_results")


def messages_of(simulation: JsonObject) -> list[JsonObject]:
    """Return the messages of a simulation; those of a call in full duplex are in its ticks."""
    messages = list_of(simulation.get("messages"))
    return objects_of(messages or list(_said_in_ticks(list_of(simulation.get("ticks")))))


def tokens_of(messages: list[JsonObject], role: str) -> tuple[int | None, int | None]:
    """Return the tokens of prompts and answers of the messages with a role; None if unknown."""
    usages = [each.get("usage") for each in messages if each.get("role") == role]
    sent, received = (
        known_sum(whole_number(inner(usage, name)) for usage in usages)
        for name in ("prompt_tokens", "completion_tokens")
    )
    return sent, received


def _said_in_ticks(ticks: list[Json]) -> Iterator[Json]:
    """Yield the messages in ticks; in most of them nobody says anything."""
    for tick in map(object_of, ticks):
        for name in _TICK_PARTS:
            part = tick.get(name)
            for message in part if isinstance(part, list) else [part]:
                said = object_of(message)
                calls = list_of(tick.get(f"{name.partition('_')[0]}_tool_calls"))
                if name.endswith("_chunk") and calls:
                    said = {"role": name.partition("_")[0], **said, "tool_calls": calls}
                    said["role"] = "user" if said["role"] == "user" else "assistant"
                if said.get("content") or said.get("tool_calls"):
                    yield said


@dataclass(slots=True)
class Conversation:
    """Adds the messages and steps of a trial.

    Attributes:
        result_id: content_id of the trial's result.
        models: models by role.
        rows: collects the rows.
        has_tokens: whether the trial's total of tokens is known. If not, those of single messages
            stay in `extra`: their sum would look like the total.
        has_cost: whether its total cost is known, likewise.
    """

    result_id: str
    models: Mapping[str, str]
    rows: RowCollector
    has_tokens: bool
    has_cost: bool
    _n_messages: int = 0
    _n_steps: int = 0
    # Calls without a result so far, by their id, each with who made it.
    _calls: dict[str, deque[tuple[StepRow, str]]] = field(
        default_factory=lambda: defaultdict(deque)
    )

    def add(self, message: JsonObject) -> None:
        """Add a message and its step."""
        inner = list_of(message.get("tool_messages"))
        if inner:
            self._add_results(message, inner)
        else:
            self._add_step(message, {})

    def finish(self) -> None:
        """Add the calls that got no result: the trial ended before."""
        for call_id, calls in self._calls.items():
            for call, _ in calls:
                self._add_row({**call, "kind": "tool", "call_id": call_id, "is_counted": False})

    def _add_results(self, message: JsonObject, inner: list[Json]) -> None:
        """Add a message that holds the results of several calls: one step with parts."""
        first, place = self._n_messages + 1, self._n_steps + 1
        self._n_steps += 1
        for each in inner:
            self._add_step(object_of(each), {"is_counted": False}, parent=str(place))
        rest = Fields(message)
        rest.drop("tool_messages", "role")
        step: StepRow = {"kind": "other", "first_message": first, "extra": rest.extra()}
        step["last_message"] = self._n_messages
        self._add_row(step, place)

    def _add_step(self, message: JsonObject, step: StepRow, parent: str | None = None) -> None:
        fields = Fields(message)
        role = fields.text("role") or "other"
        calls = list_of(fields.value("tool_calls"))
        step = {**step, "kind": _KINDS.get(role, "other")}
        if role == "tool":
            step |= self._result(fields)
        elif role in _ROLES:
            step |= self._turn(fields, _ROLES[role])
        if parent is not None:
            step["parent_id"] = parent
        step["ended_at"] = iso_moment(fields.value("timestamp"))
        self._add_message(fields, role, step.get("call_id"), has_calls=bool(calls))
        step["first_message"] = step["last_message"] = self._n_messages
        step_id = self._add_row(step)
        for call in calls:
            self._await(object_of(call), step_id, role)

    def _turn(self, fields: Fields, role: str) -> StepRow:
        usage = fields.inside("usage")
        return {
            "role": role,
            "model": self.models.get(role),
            "input_tokens": usage.integer("prompt_tokens") if self.has_tokens else None,
            "output_tokens": usage.integer("completion_tokens") if self.has_tokens else None,
            "cost_usd": fields.number("cost") if self.has_cost else None,
        }

    def _result(self, fields: Fields) -> StepRow:
        call_id = fields.text("id") or fields.text("tool_call_id") or ""
        waiting = self._calls.get(call_id)
        step: StepRow = {"name": text_of(fields.peek("name")), "call_id": call_id or None}
        if waiting:
            call, requestor = waiting.popleft()
            step |= call
            fields.drop_equal("requestor", requestor)
            fields.drop_equal("name", call["name"])
        if fields.boolean("error"):
            text = texts_of(fields.peek("content")) or "error"
            step["error"] = text[:_LONGEST_ERROR]
        return step

    def _await(self, call: JsonObject, step_id: str, role: str) -> None:
        function = object_of(call.get("function"))
        requestor = text_of(call.get("requestor")) or role
        # The first tau-bench has arguments as text, which may not be JSON.
        arguments = decoded(call.get("arguments", function.get("arguments")))
        step: StepRow = {
            "name": text_of(call.get("name", function.get("name"))),
            "arguments": json_or_none(arguments),
            "parent_id": step_id,
            "role": _ROLES.get(requestor),
        }
        self._calls[text_of(call.get("id")) or ""].append((step, requestor))

    def _add_message(
        self, fields: Fields, role: str, call_id: str | None, *, has_calls: bool
    ) -> None:
        self._n_messages += 1
        seq = self._n_messages
        sound = _without_sound(fields)
        content = fields.value("content")
        fields.drop_equal("turn_idx", seq - 1)
        raw = _without_repeats(fields.value("raw_data"), content, has_calls=has_calls)
        self.rows.add(
            "messages",
            {
                "content_id": self.rows.id_of("message", self.result_id, seq),
                "result_id": self.result_id,
                "seq": seq,
                "role": role,
                **content_columns(content),
                "tool_call_id": call_id,
                "extra": fields.extra(raw_data=raw or None, sha256=sound or None),
            },
        )

    def _add_row(self, step: StepRow, place: int | None = None) -> str:
        """Add a step at a place, by default the next; return its id."""
        if place is None:
            place = self._n_steps = self._n_steps + 1
        ids: StepRow = {
            "content_id": self.rows.id_of("step", self.result_id, place),
            "result_id": self.result_id,
            "seq": place,
            "step_id": str(place),
        }
        self.rows.add("steps", {**ids, **step})
        return str(place)


def _without_sound(fields: Fields) -> JsonObject:
    """Take sound, which is long text in base 64, and return its hashes."""
    hashes: JsonObject = {}
    for name in ("audio_content", "content"):
        value = fields.peek(name)
        if not isinstance(value, str):
            continue
        is_word = len(value) > _LONGEST_WORD and " " not in value
        if name == "audio_content" or (fields.peek("is_audio") is True and is_word):
            fields.drop(name)
            hashes[name] = hash_of_binary(value)
    return hashes


def _without_repeats(raw: Json, content: Json, *, has_calls: bool) -> Json:
    """Return a provider's reply without nulls and without what the message says as well."""
    if isinstance(raw, list):
        return [_without_repeats(each, content, has_calls=has_calls) for each in raw]
    if not isinstance(raw, dict):
        return raw
    return {
        name: _without_repeats(value, content, has_calls=has_calls)
        for name, value in raw.items()
        if value is not None
        and not (name == "content" and value == content)
        and not (name == "tool_calls" and has_calls)
    }
