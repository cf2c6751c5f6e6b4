"""The rows of spans, of their trials and of evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.collector import id_in, part_id
from ingest.formats.common.fields import json_or_none, plain_text
from ingest.formats.common.trials import score_row
from ingest.formats.otel.attributes import NAMES, cost, count, first, text, unpacked
from ingest.formats.otel.messages import HELD, HELD_LEAVES
from ingest.formats.otel.spans import EVALUATION, moment
from ingest.formats.otel.traces import tokens
from ingest.formats.otel.verdicts import passed
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from ingest.formats.common.collector import RowCollector
    from ingest.formats.otel.spans import Evaluation, Span
    from ingest.formats.otel.traces import Step, TraceFacts, Trial
    from warehouse.core.types import Json, JsonObject, ResultRow, ResultScoreRow, StepRow

SUITE = "otel"

_SCORE_FIELDS = tuple(
    f"gen_ai.evaluation.{name}" for name in ("name", "score.value", "score.label", "explanation")
)


def part_of_evaluations(trace_id: str) -> str:
    """Return the part of a run that evaluations in records of their own are."""
    return part_id(f"evaluations {trace_id}")


def row_id(trace_id: str, *record: object) -> str:
    """Return the id of a row of a trace; of a trace in two files, both have the same."""
    return id_in(part_id(trace_id), trace_id, *record)


def result_id(trace_id: str, trial_id: str) -> str:
    """Return the id of a trial's result.

    Only the ids of the trace are in each of its spans and evaluations, wherever they lie.
    """
    return row_id(trace_id, SUITE, "trial", trial_id)


def add_trial(trace: TraceFacts, trial: Trial, resource: JsonObject, rows: RowCollector) -> None:
    """Add a trial's result, its system and its evaluations."""
    models = trace.models(trial)
    system = trace.system(trial)
    main = models.get("agent")
    task_set = trace.stated.get("task_set")
    row: ResultRow = {
        "content_id": result_id(trace.trace_id, trial.trial_id),
        "model": main if isinstance(main, str) else None,
        "system": system["system"] if system is not None else None,
        "task_set": utf8(str(task_set)) if task_set is not None else None,
        "extra": json_text({"resource": resource}) if resource else None,
    }
    if len(trace.trials) == 1:
        row["prompt"] = plain_text(trace.prompt)
        row["raw_output"] = plain_text(trace.answer)
    rows.add("results", {**row, **trace.outcome(trial)})
    if system is not None:
        rows.add("systems", system)
    for position, each in enumerate(trial.evaluations, 1):
        rows.add("result_scores", evaluation_row(trace.trace_id, trial.trial_id, each, position))


def evaluation_row(
    trace_id: str, trial_id: str, evaluation: Evaluation, position: int | None = None
) -> ResultScoreRow:
    """Return an evaluation as a score of its trial."""
    fields = evaluation.fields
    score, label = (fields.get(f"gen_ai.evaluation.score.{name}") for name in ("value", "label"))
    row = score_row(evaluation.name, score, passed=passed(evaluation))
    rest: JsonObject = {
        name: each
        for name, each in fields.items()
        if name not in _SCORE_FIELDS and each is not None
    }
    if evaluation.span_id is not None:
        rest["span_id"] = evaluation.span_id
    if row["value"] is None:
        row["text"] = plain_text(label) or row["text"]
    elif label is not None:
        rest["label"] = label
    content_id = row_id(trace_id, "evaluation", trial_id, evaluation.name, fields)
    if evaluation.is_apart:
        part = part_of_evaluations(trace_id)
        content_id, position = part + content_id[len(part) :], None
    return row | {
        "content_id": content_id,
        "result_id": result_id(trace_id, trial_id),
        "position": position,
        "explanation": plain_text(fields.get("gen_ai.evaluation.explanation")),
        "extra": json_text(rest) if rest else None,
    }


def add_span(trace: TraceFacts, step: Step, span: Span, position: int, rows: RowCollector) -> None:
    """Add a span: a step of its trial with its messages, or an event around several trials."""
    if step.trial is None:
        document = {
            "trace_id": span.trace_id,
            "span_id": span.span_id,
            "parent_id": span.parent_id,
            "name": span.name,
            "start": span.start,
            "end": span.end,
            "error": span.error,
            "attributes": span.raw,
        }
        rows.add(
            "events",
            {
                "content_id": row_id(trace.trace_id, "event", span.span_id),
                "seq": position,
                "event": span.name,
                "document": json_text(document),
            },
        )
        return
    ids = {"result_id": result_id(trace.trace_id, step.trial.trial_id)}
    messages = trace.new_messages(span)
    row: StepRow = {"content_id": row_id(trace.trace_id, "step", span.span_id), **_step(step, span)}
    if messages:
        row["first_message"] = step.first_message
        row["last_message"] = step.first_message + len(messages) - 1
    rows.add("steps", {**row, **ids})
    for seq, message in enumerate(messages, step.first_message):
        content_id = row_id(trace.trace_id, "message", span.span_id, seq)
        rows.add("messages", {**message, **ids, "content_id": content_id, "seq": seq})


def _step(step: Step, span: Span) -> StepRow:
    attributes = span.attributes
    is_call, is_tool = span.kind == "model", span.kind == "tool"
    sent, received = (None, None) if step.repeats else tokens(span)
    is_used = bool(sent or received)
    held = ["result", "arguments"] if is_tool else [] if is_call else ["output"]
    is_root = span.parent_id is None
    said = None if is_call or (is_root and not is_tool) else first(attributes, held[0])
    return {
        "seq": step.seq,
        "step_id": span.span_id,
        "parent_id": span.parent_id,
        "agent": step.agent,
        "kind": span.kind,
        "role": step.role,
        "name": (text(attributes, "tool") if is_tool else None) or span.name,
        "model": text(attributes, "model") if is_call else None,
        "started_at": moment(span.start),
        "ended_at": moment(span.end),
        "input_tokens": sent,
        "output_tokens": received,
        "cached_tokens": count(attributes, "cached_tokens") if is_used else None,
        "reasoning_tokens": count(attributes, "reasoning_tokens") if is_used else None,
        # Other spans repeat the cost of calls.
        "cost_usd": cost(attributes) if is_call and not step.repeats else None,
        "text": plain_text(said),
        "call_id": text(attributes, "call_id") if is_tool else None,
        "arguments": json_or_none(unpacked(first(attributes, "arguments"))) if is_tool else None,
        "error": span.error,
        "extra": _extra(span, [*held, "input"] if is_root and not is_call else held),
    }


def _extra(span: Span, held: list[str]) -> str | None:
    """Return the attributes and events that no column holds."""
    taken = set(HELD) if span.kind == "model" else set()
    for meaning in held:
        taken.update([name for name in NAMES[meaning] if span.attributes.get(name)][:1])
    rest: JsonObject = {
        name: value
        for name, value in span.raw.items()
        if name not in taken and not (span.kind == "model" and name.startswith(HELD_LEAVES))
    }
    events: list[Json] = [
        {"name": name, "attributes": fields}
        for name, fields in span.events
        if name != EVALUATION and not (span.kind == "model" and name.startswith("gen_ai."))
    ]
    if events:
        rest["events"] = events
    return json_text(rest) if rest else None
