"""The messages of a call of a model, in the conventions in which programs write them."""

from __future__ import annotations

from itertools import dropwhile
from typing import TYPE_CHECKING

from ingest.formats.common.fields import list_of, object_of, plain_text, text_of, texts_of
from ingest.formats.otel.attributes import first, nested, unpacked
from warehouse.core.formats.json_text import json_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ingest.formats.otel.spans import Span
    from warehouse.core.types import Json, JsonObject, MessageRow

_INPUT_LISTS = (
    *("gen_ai.input.messages", "ai.prompt.messages", "gen_ai.prompt", "ai.prompt"),
    *("langfuse.observation.input", "input.value"),
)
_OUTPUT_LISTS = ("gen_ai.output.messages", "langfuse.observation.output", "output.value")
_INPUT_LEAVES = ("llm.input_messages", "gen_ai.prompt", "llm.prompts")
_OUTPUT_LEAVES = ("llm.output_messages", "gen_ai.completion", "llm.completions")
_EVENTS = {
    **{f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")},
    "gen_ai.choice": "assistant",
}
# Attributes that become messages: they are not kept once more.
HELD = (
    *("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"),
    *("ai.prompt.messages", "ai.response.text", "ai.response.toolCalls"),
)
HELD_LEAVES = ("llm.input_messages.", "llm.output_messages.", "gen_ai.prompt.", "gen_ai.completion")
_TEXT_TYPES = ("text", "input_text", "output_text", None)
_CALL_TYPES = ("tool_call", "tool-call", "tool_use", "function_call")
_CALL_KEYS = {"type", "id", "name", "arguments"}
_RESULT_TYPES = ("tool_call_response", "tool-result", "tool_result")
_COLUMNS = {"role", "content", "parts", "contents", "tool_calls", "tool_call_id", "message"}


def message_rows(span: Span) -> list[MessageRow]:
    """Return the messages that a call sent and received, in order, without their ids."""
    attributes = span.attributes
    system = unpacked(attributes.get("gen_ai.system_instructions"))
    rows = [_row({"role": "system", "parts": system}, "system")] if system else []
    sent = list(_event_messages(span, is_answer=False)) or _sent(attributes)
    rows += [_row(each, "user") for each in sent]
    received = list(_event_messages(span, is_answer=True)) or _received(attributes)
    return rows + [_row(each, "assistant") for each in received]


def _sent(attributes: Mapping[str, Json]) -> Sequence[Json]:
    for prefix in _INPUT_LEAVES:
        if found := nested(attributes, prefix):
            return found
    for name in _INPUT_LISTS:
        value = unpacked(attributes.get(name))
        if isinstance(value, dict):
            value = value.get("messages") or value.get("prompt")
        if _are_messages(value):
            return list_of(value)
    return _single(first(attributes, "input"))


def _received(attributes: Mapping[str, Json]) -> Sequence[Json]:
    for prefix in _OUTPUT_LEAVES:
        if found := nested(attributes, prefix):
            return found
    for name in _OUTPUT_LISTS:
        value = unpacked(attributes.get(name))
        if isinstance(value, dict) and ("content" in value or "role" in value):
            value = [value]
        if _are_messages(value):
            return list_of(value)
    calls = unpacked(attributes.get("ai.response.toolCalls"))
    if calls:
        return [{"content": attributes.get("ai.response.text"), "tool_calls": calls}]
    return _single(first(attributes, "output"))


def _single(value: Json) -> list[Json]:
    return [] if value is None else [{"content": plain_text(value)}]


def _are_messages(value: Json) -> bool:
    keys = {"role", "content", "parts", "message"}
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(each, dict) and each.keys() & keys for each in value)
    )


def _event_messages(span: Span, *, is_answer: bool) -> Iterator[Json]:
    for name, fields in span.events:
        role = _EVENTS.get(name)
        if role is not None and (name == "gen_ai.choice") is is_answer:
            message = object_of(unpacked(fields.get("message")))
            content = unpacked(fields.get("content"))
            yield {"role": role, **fields, "content": content, **message}


def _row(given: Json, role: str) -> MessageRow:
    """Return the columns of a message in any convention."""
    message = object_of(given)
    message = object_of(message.get("message")) or message
    content = next(
        (message[name] for name in ("content", "parts", "contents") if message.get(name)), None
    )
    parts = [_part(each) for each in list_of(content)]
    calls = [_call(each) for each in list_of(unpacked(message.get("tool_calls")))]
    calls += [_call(part) for part in parts if part.get("type") in _CALL_TYPES]
    answers = [part for part in parts if part.get("type") in _RESULT_TYPES]
    call_id = next(iter([*map(_answered, answers), message.get("tool_call_id")]), None)
    extra = {name: value for name, value in message.items() if name not in _COLUMNS}
    return {
        "role": text_of(message.get("role")) or role,
        "text": _joined(parts) if parts else plain_text(content),
        "parts": None if _is_in_columns(parts) else json_text(content),
        "tool_calls": json_text(calls) if calls else None,
        "tool_call_id": text_of(call_id),
        "extra": json_text(extra) if any(value is not None for value in extra.values()) else None,
    }


def _part(given: Json) -> JsonObject:
    part = object_of(given) if isinstance(given, dict) else {"type": "text", "text": given}
    return object_of(part.get("message_content")) or part


def _is_in_columns(parts: Sequence[JsonObject]) -> bool:
    """Return whether text and calls say all of a message: texts, and then calls, if any."""
    calls = dropwhile(_is_text, parts)
    return all(part.get("type") == "tool_call" and part.keys() <= _CALL_KEYS for part in calls)


def _is_text(part: JsonObject) -> bool:
    return part.get("type") in _TEXT_TYPES and not part.keys() - {"type", "text", "content"}


def _joined(parts: Sequence[JsonObject]) -> str | None:
    """Return the texts of a message's parts, and what tools returned, by line."""
    names = ("text", "content", "result", "response", "output")
    texts: list[Json] = []
    for part in parts:
        if part.get("type") in (*_TEXT_TYPES, *_RESULT_TYPES):
            found = next((part[name] for name in names if part.get(name) is not None), None)
            texts.append(plain_text(found))
    return texts_of(texts)


def _answered(part: JsonObject) -> Json:
    return next((part[name] for name in ("id", "toolCallId", "tool_use_id") if name in part), None)


def _call(given: Json) -> JsonObject:
    """Return a call of a tool: {id, function, arguments}."""
    call = object_of(given)
    call = object_of(call.get("tool_call")) or call
    function = object_of(call.get("function")) or call
    names = ("arguments", "args", "input")
    return {
        "id": call.get("id") or call.get("toolCallId"),
        "function": function.get("name") or function.get("toolName"),
        "arguments": unpacked(next((function[each] for each in names if each in function), None)),
    }
