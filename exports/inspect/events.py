"""The events of a sample, built from the steps of a trial, so that viewers show what it did."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from exports.rows import Document, iso, json_value, known

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warehouse.core.types import Row

_ROOT = "trial"
_ACTIONS = {"exec", "read_file", "write_file"}
# The format demands a time, as of a log.
_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)


def step_events(row: Row) -> list[Document]:
    """Return the events of a trial, inside of a span of its system; none without steps.

    Args:
        row: a row of the query `SAMPLES`.
    """
    steps = [step for step in row["steps"] or () if not step["is_copied"]]
    if not steps:
        return []
    started = (step["started_at"] for step in steps if step["started_at"])
    start = row["started_at"] or next(started, None)
    transcript = _Transcript(_NO_TIME if start is None else start.replace(tzinfo=UTC))
    transcript.begin(_ROOT, row["model"] or "agent", None)
    for step in steps:
        span = transcript.move_to(step)
        if step["kind"] == "agent" and step["name"] is not None:
            transcript.begin(step["step_id"], step["name"], span)
        else:
            transcript.add(span, _event(step, _text(step, row)))
    return transcript.finished()


@dataclass(slots=True)
class _Transcript:
    """Events in order; each is in a span, of the trial, of an agent or of a sub-agent."""

    start: datetime
    _now: datetime = field(init=False)
    _events: list[Document] = field(default_factory=list)
    _last: dict[str, Document] = field(default_factory=dict)  # of each span

    def __post_init__(self) -> None:
        self._now = self.start

    def move_to(self, step: Mapping[str, Any]) -> str:
        """Go on to the time of a step, if it is known, and return its span."""
        if step["started_at"] is not None:
            self._now = step["started_at"].replace(tzinfo=UTC)
        if step["parent_id"] in self._last:
            return str(step["parent_id"])
        trajectory = step["trajectory"]
        if trajectory is None or step["agent"] is None:
            return _ROOT
        if trajectory not in self._last:
            self.begin(trajectory, step["agent"], _ROOT)
        return str(trajectory)

    def begin(self, span: str, name: str, parent: str | None) -> None:
        """Begin a span of an agent."""
        begin = {"event": "span_begin", "id": span, "type": "agent", "name": name}
        self.add(span, known(**begin, parent_id=parent))

    def add(self, span: str, event: Document) -> None:
        """Add an event, unless it is empty."""
        if event:
            seconds = max((self._now - self.start).total_seconds(), 0.0)
            when = {"timestamp": self._now.isoformat(), "working_start": seconds}
            self._last[span] = {"span_id": span, **when}
            self._events.append({**event, **self._last[span]})

    def finished(self) -> list[Document]:
        """Return all events, at last the ends of the spans."""
        ends = [
            {"event": "span_end", "id": span, **last} for span, last in reversed(self._last.items())
        ]
        return [*self._events, *ends]


def _text(step: Mapping[str, Any], row: Row) -> str:
    """Return what was said in a step, of a model without what it was told."""
    if step["text"] is not None or step["first_message"] is None:
        return step["text"] or ""
    others = {"user", "system", "tool"} if step["kind"] == "model" else set()
    messages = row["messages"] or ()
    inside = range(step["first_message"], step["last_message"] + 1)
    texts = [m["text"] for m in messages if m["seq"] in inside and m["role"] not in others]
    return "\n".join(filter(None, texts))


def _event(step: Mapping[str, Any], text: str) -> Document:
    """Return the event of a step; an empty one if there is nothing to say."""
    kind, completed = step["kind"], iso(step["ended_at"])
    if kind == "model":
        return known(**_model(step, text), completed=completed)
    if kind == "tool":
        return known(**_tool(step, text), completed=completed)
    if kind == "sandbox" and step["name"] in _ACTIONS:
        done = {"event": "sandbox", "action": step["name"], "output": text}
        ended = {"result": step["exit_code"], "completed": completed}
        return known(**done, cmd=step["arguments"], **ended)
    if kind == "user":
        return {"event": "input", "input": text, "input_ansi": text}
    message = step["error"] or text
    if kind == "error":
        error = {"message": message, "traceback": message, "traceback_ansi": message}
        return {"event": "error", "error": error}
    return {"event": "info", "source": step["name"] or kind, "data": message} if message else {}


def _model(step: Mapping[str, Any], text: str) -> Document:
    model = step["model"] or "unknown"
    content: object = text
    if step["reasoning"] is not None:
        parts = [{"type": "reasoning", "reasoning": step["reasoning"]}]
        content = [*parts, {"type": "text", "text": text}]
    answer = {"role": "assistant", "content": content, "source": "generate", "model": model}
    usage = known(
        input_tokens=step["input_tokens"],
        output_tokens=step["output_tokens"],
        input_tokens_cache_read=step["cached_tokens"],
        reasoning_tokens=step["reasoning_tokens"],
        total_cost=step["cost_usd"],
    )
    if usage:
        usage["total_tokens"] = usage.get("input_tokens", 0) + usage.get("output_tokens", 0)
    output = {"model": model, "choices": [{"message": answer}], "completion": text}
    # What the model was sent, and which tools it had, is not in the steps.
    sent = {"input": [], "tools": [], "tool_choice": "auto", "config": {}}
    event = {"event": "model", "model": model, **sent}
    output |= known(usage=usage or None)
    return known(**event, output=output, role=step["role"], error=step["error"])


def _tool(step: Mapping[str, Any], text: str) -> Document:
    arguments = {} if step["arguments"] is None else json_value(step["arguments"])
    message = step["error"] or (f"exit code {step['exit_code']}" if step["exit_code"] else None)
    return known(
        event="tool",
        type="function",
        id=step["call_id"] or f"call-{step['seq']}",
        function=step["name"] or "",
        arguments=arguments if isinstance(arguments, dict) else {"value": arguments},
        result=text,
        events=[],
        error=None if message is None else {"type": "unknown", "message": message},
    )
