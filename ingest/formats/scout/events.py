"""The events of a transcript as steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.collector import id_in, part_id
from ingest.formats.common.fields import (
    Fields,
    inner,
    iso_moment,
    known_sum,
    list_of,
    object_of,
    texts_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from warehouse.core.types import Json, JsonObject, StepRow

_KINDS = {
    **{name: name for name in ("model", "tool", "sandbox", "compaction", "error")},
    "score": "eval",
}
_END = "span_end"
_PART_DIGITS = len(part_id(""))


def id_below(result_id: str, *record: object) -> str:
    """Return the id of a row of a trial: it begins as that of the trial's result."""
    return id_in(result_id[:_PART_DIGITS], result_id, *record)


def step_rows(
    events: Sequence[JsonObject], messages: Mapping[str, int], result_id: str
) -> Iterator[StepRow]:
    """Yield a step for each event; one whose text is a message of the transcript refers to it.

    Args:
        events: the events, in order.
        messages: the places of the messages, by their ids.
        result_id: content id of the result.
    """
    ends = {
        str(each.get("id")): each.get("timestamp") for each in events if each.get("event") == _END
    }
    for seq, event in enumerate(events, 1):
        fields = Fields(event)
        name = fields.text("event")
        row: StepRow = {
            "content_id": id_below(result_id, "step", seq),
            "result_id": result_id,
            "seq": seq,
            "kind": _KINDS.get(name or "", "other"),
            "name": name,
            "parent_id": fields.text("span_id"),
            "started_at": fields.moment("timestamp"),
            "ended_at": fields.moment("completed"),
        }
        if name == "span_begin":
            row |= _span(fields, ends)
        elif name == "model":
            row |= _model(fields, messages)
        elif name == "tool":
            row |= _tool(fields, messages)
        elif name == "sandbox":
            row |= {"exit_code": fields.integer("result"), "text": fields.text("output")}
        row.setdefault("step_id", fields.text("uuid"))
        yield {**row, "extra": fields.extra()}


def _span(fields: Fields, ends: Mapping[str, Json]) -> StepRow:
    span_id, kind = fields.text("id"), fields.peek("type")
    return {
        "step_id": span_id,
        "parent_id": fields.text("parent_id"),
        "kind": "agent" if kind == "agent" else "other",
        "name": fields.text("name"),
        "ended_at": iso_moment(ends.get(str(span_id))),
    }


def _model(fields: Fields, messages: Mapping[str, int]) -> StepRow:
    """Return the columns of a call; its answer is kept here only if no message has it."""
    output = fields.inside("output")
    usage = output.inside("usage")
    message = object_of(inner(next(iter(list_of(output.peek("choices"))), None), "message"))
    if message:
        output.drop("choices", "completion")
    uncached, read = usage.integer("input_tokens"), usage.integer("input_tokens_cache_read")
    written = usage.integer("input_tokens_cache_write")
    return {
        "role": fields.text("role") or "agent",
        "model": fields.text("model"),
        "input_tokens": None if uncached is None else known_sum((uncached, read, written)),
        "cached_tokens": read,
        "output_tokens": usage.integer("output_tokens"),
        "reasoning_tokens": usage.integer("reasoning_tokens"),
        "cost_usd": usage.number("total_cost"),
        "error": fields.plain("error"),
        **_said(texts_of(message.get("content")), messages.get(str(message.get("id")))),
    }


def _tool(fields: Fields, messages: Mapping[str, int]) -> StepRow:
    place = messages.get(str(fields.value("message_id")))
    return {
        "name": fields.text("function"),
        "call_id": fields.text("id"),
        "arguments": fields.json("arguments"),
        "error": fields.plain("error"),
        **_said(fields.plain("result"), place),
    }


def _said(text: str | None, place: int | None) -> StepRow:
    """Return a text, or the place of the message that has it."""
    if place:
        return {"first_message": place, "last_message": place}
    return {"text": text}
