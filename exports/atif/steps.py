"""The steps of a trajectory, built from rows of `steps`: turns, with their calls of tools."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from exports.atif.fields import METRICS, REFERENCE, content, fitted
from exports.rows import Document, iso, json_object, json_value, known

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from warehouse.core.types import Row

TELLING = {"user", "system"}
_SOURCES = {"model": "agent", "agent": "agent", "user": "user"}
_PARTS = {"tool", "sandbox"}
# Spans and events of a harness, which have a name; without a text they are no turns.
_SILENT = {"agent", "other"}
_PLAIN_KINDS = {"model", "agent", "user", "system"}
_PLAIN_ROLES = {None, "agent", "subagent"}
_REFERENCES = "subagent_trajectory_ref"


@dataclass(frozen=True, slots=True)
class Trajectory:
    """Whose steps are built.

    Attributes:
        name: name of the trajectory; None for the trial's own.
        agent: the agent.
        model: model of the steps that name none.
        subagents: names of the trial's trajectories of sub-agents.
        spawned: position and name of those that begin between steps of this one, in order.
    """

    name: str | None
    agent: str | None
    model: str | None
    subagents: frozenset[str] = frozenset()
    spawned: Sequence[tuple[int, str]] = ()


def trajectory_steps(rows: Iterable[Row], trajectory: Trajectory) -> Iterator[Document]:
    """Yield the steps of a trajectory.

    Args:
        rows: its rows of `steps` in order, each with the `messages` that hold its text.
        trajectory: whose they are.
    """
    step: Document | None = None
    parent = None
    spawned = list(trajectory.spawned)
    for row in rows:
        while step is not None and spawned and spawned[0][0] < row["seq"]:
            _refer(step, spawned.pop(0)[1])
        is_part = row["kind"] in _PARTS
        if not is_part:
            turns = list(_turns(row, trajectory))
        elif step is None or not _is_inside(row, step, parent):
            # No turn of the log has this call: the agent acts without its model.
            turns = [{"source": "agent", "message": "", "llm_call_count": 0}]
        else:
            turns = []
        for turn in turns:
            if step is not None:
                yield step
            step, parent = turn, row["step_id"]
        if is_part and step is not None:
            _add_part(step, row, trajectory)
    if step is not None:
        yield step


def said(message: Row) -> Document:
    """Return a turn that is a message."""
    source = message["role"] if message["role"] in TELLING else "agent"
    return {"source": source, "message": message["text"] or ""}


def _is_inside(row: Row, step: Document, parent: str | None) -> bool:
    is_agents = step["source"] == "agent" or row["kind"] == "sandbox"
    return is_agents or (parent is not None and row["parent_id"] == parent)


def _turns(row: Row, trajectory: Trajectory) -> Iterator[Document]:
    """Yield a turn, and before that of a model what it was told."""
    messages = row["messages"] or []
    if row["kind"] == "model":
        messages = [each for each in messages if not each["is_result"]]
        n_told = len(messages) - (bool(messages) and messages[-1]["role"] not in TELLING)
        for each in filter(itemgetter("text"), messages[:n_told]):
            is_copied = row["is_copied"] or each["role"] not in TELLING
            yield {**said(each), **known(is_copied_context=is_copied or None)}
        messages = messages[n_told:]
    text = _text(row, messages)
    if text is not None or row["reasoning"] or row["kind"] not in _SILENT or row["name"] is None:
        yield _turn(row, text, trajectory)


def _text(row: Row, messages: Iterable[Row]) -> str | None:
    if row["text"] is not None:
        return str(row["text"])
    return "\n".join(each["text"] for each in messages if each["text"]) or row["error"]


def _turn(row: Row, text: str | None, trajectory: Trajectory) -> Document:
    rest, kind = json_object(row["extra"]), row["kind"]
    message = content(rest.get("parts"), text)
    if message is not text:
        rest.pop("parts")
    n_calls = rest.pop("llm_call_count", None)
    of_model = known(
        model_name=None if row["model"] == trajectory.model else row["model"],
        reasoning_effort=rest.pop("reasoning_effort", None),
        reasoning_content=row["reasoning"],
        metrics=_metrics(row, rest.pop("metrics", None)),
    )
    step: Document = {
        **known(timestamp=iso(row["started_at"])),
        "source": _SOURCES.get(kind, "system"),
        "message": message or "",
        **known(is_copied_context=row["is_copied"] or None),
        **known(llm_call_count=0 if kind == "agent" else n_calls),
    }
    if kind == "model":
        step |= of_model
    else:
        # The format has them only for calls of a model.
        rest |= of_model
    facts = known(
        kind=None if kind in _PLAIN_KINDS else kind,
        name=row["name"],
        role=None if row["role"] in _PLAIN_ROLES | {step["source"]} else row["role"],
        error=None if row["error"] == message else row["error"],
    )
    return {**step, **fitted({**rest, **facts, **_facts(row, trajectory)}, {})}


def _facts(row: Row, trajectory: Trajectory) -> Document:
    """Return what the format has no members for, of turns and of calls."""
    return known(
        ended_at=iso(row["ended_at"]),
        agent=None if trajectory.name or row["agent"] == trajectory.agent else row["agent"],
        trajectory=None if row["trajectory"] == trajectory.name else row["trajectory"],
    )


def _metrics(row: Row, recorded: object) -> Document | None:
    metrics = known(
        prompt_tokens=row["input_tokens"],
        completion_tokens=row["output_tokens"],
        cached_tokens=row["cached_tokens"],
        cost_usd=row["cost_usd"],
        reasoning_tokens=row["reasoning_tokens"],
    )
    rest = recorded if isinstance(recorded, dict) else {}
    own = dict.fromkeys(metrics.keys() - {"reasoning_tokens"}, (int, float))
    return fitted({**rest, **metrics}, {**METRICS, **own}) or None


def _add_part(step: Document, row: Row, trajectory: Trajectory) -> None:
    """Add a call of a tool with its result, or what was observed without a call, to a step."""
    rest, started = json_object(row["extra"]), iso(row["started_at"])
    result = _result(row, rest, trajectory)
    times = known(started_at=None if started == step.get("timestamp") else started)
    call = {
        **known(tool_call_id=row["call_id"], function_name=row["name"]),
        **known(arguments=json_value(row["arguments"])),
        **fitted({**rest, **times, **_facts(row, trajectory)}, {}),
    }
    if row["kind"] == "tool" and step["source"] == "agent":
        # The format demands all three.
        arguments = call.get("arguments", {})
        call |= {
            "tool_call_id": row["call_id"] or f"call-{row['seq']}",
            "function_name": row["name"] or "",
            "arguments": arguments if isinstance(arguments, dict) else {"value": arguments},
        }
        step.setdefault("tool_calls", []).append(call)
        result |= {"source_call_id": call["tool_call_id"]} if result else {}
    elif call:
        # Only steps of the agent have calls: this one stands next to what it returned.
        result["extra"] = {**result.get("extra", {}), "call": call}
    if result or row["kind"] == "sandbox":
        step.setdefault("observation", {"results": []})["results"].append(result)


def _result(row: Row, rest: Document, trajectory: Trajectory) -> Document:
    """Return what a call returned; what `rest` has of it is taken from there."""
    recorded: Document = {}
    listed = rest.get("results")
    if isinstance(listed, list) and all(isinstance(each, dict) for each in listed):
        for each in rest.pop("results"):
            recorded |= each
    references = [_reference(each, trajectory) for each in recorded.get(_REFERENCES) or ()]
    is_held = all({"trajectory_id", "trajectory_path"} & each.keys() for each in references)
    recorded |= {_REFERENCES: references} if references else {}
    text = _text(row, row["messages"] or ())
    parts = rest.get("parts")
    held = content(parts[0] if isinstance(parts, list) and len(parts) == 1 else None, text)
    if held is not text:
        rest.pop("parts")
    marks = known(
        exit_code=row["exit_code"],
        is_error=True if row["error"] is not None else None,
        error=None if row["error"] == text else row["error"],
    )
    result = fitted(recorded, {_REFERENCES: list} if is_held else {})
    extra = {**result.pop("extra", {}), **marks}
    return {**known(content=held), **result, **known(extra=extra or None)}


def _reference(recorded: object, trajectory: Trajectory) -> Document:
    """Return a reference to a sub-agent; one to a file of it names its trajectory."""
    reference = fitted(recorded, REFERENCE)
    file = str(reference.get("trajectory_path")).rpartition("/")[2].removesuffix(".json")
    if "trajectory_id" not in reference and file in trajectory.subagents:
        reference["trajectory_id"] = file
        del reference["trajectory_path"]
    return reference


def _refer(step: Document, subagent: str) -> None:
    """Let the last call of a step, or the step, refer to a sub-agent that begins after it."""
    results = step.setdefault("observation", {"results": []})["results"]
    source = step["tool_calls"][-1]["tool_call_id"] if "tool_calls" in step else None
    if not results or results[-1].get("source_call_id") != source:
        results.append(known(source_call_id=source))
    results[-1].setdefault(_REFERENCES, []).append({"trajectory_id": subagent})
