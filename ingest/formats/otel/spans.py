"""Spans and evaluations in each form in which programs write them."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ingest.formats.common.binary import without_binary
from ingest.formats.common.fields import inner, iso_moment, list_of, object_of, text_of
from ingest.formats.otel.attributes import (
    NAMES,
    first,
    flat,
    integer,
    key_values,
    text,
    unpacked,
)
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from warehouse.core.types import Json, JsonObject

EVALUATION = "gen_ai.evaluation.result"
_TRACE_DIGITS, _SPAN_DIGITS = 32, 16
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)  # as the times of the lake
_KINDS = {
    **dict.fromkeys(
        ("chat", "text_completion", "generate_content", "completion", "call_llm", "llm"), "model"
    ),
    **dict.fromkeys(("generation", "message", "response"), "model"),
    **dict.fromkeys(("execute_tool", "tool", "function", "mcp_tools"), "tool"),
    **dict.fromkeys(("invoke_agent", "create_agent", "agent", "handoff"), "agent"),
    **dict.fromkeys(("evaluator", "evaluation"), "eval"),
    **dict.fromkeys(("guardrail", "chain", "retriever", "reranker", "embedding"), "other"),
    **dict.fromkeys(("embeddings", "workflow", "task", "event", "retrieval"), "other"),
}
_VERCEL = re.compile(r"ai\.(?P<call>[A-Za-z]+)(\.(?P<inner>do[A-Za-z]+))?")
_ERRORS = {"2", "ERROR", "STATUS_CODE_ERROR"}


@dataclass(slots=True, kw_only=True)
class Evaluation:
    """What an evaluation says of a span or of an answer.

    Attributes:
        trace_id: the trace; empty if only the answer is named.
        span_id: the span; None if not recorded.
        name: what was evaluated.
        fields: the attributes, by name.
        resource: attributes of what made it.
        is_apart: whether it is a record of its own, which may lie in another file than its span.
    """

    trace_id: str
    span_id: str | None
    name: str
    fields: JsonObject
    resource: JsonObject = field(default_factory=dict)
    is_apart: bool = False


@dataclass(slots=True, kw_only=True)
class Span:
    """A span, whoever wrote it.

    Attributes:
        trace_id: the trace: 32 hexadecimal digits, or as recorded.
        span_id: the span: 16 hexadecimal digits, or as recorded.
        parent_id: the span above it, which the log may lack; None for a root.
        start: nanoseconds since 1970; None if not recorded.
        end: likewise.
        kind: kind of step.
        attributes: by name, nested ones by dotted names too.
        raw: the attributes as recorded.
        resource: attributes of what made the span.
        events: names and attributes of its events.
        error: error of the span; None if its status is no error.
        trace: what the log says of the whole trace, in Langfuse's exports.
    """

    trace_id: str
    span_id: str
    parent_id: str | None
    name: str | None
    start: int | None
    end: int | None
    kind: str
    attributes: JsonObject
    raw: JsonObject
    resource: JsonObject
    events: list[tuple[str, JsonObject]] = field(default_factory=list)
    error: str | None = None
    trace: JsonObject = field(default_factory=dict)

    def evaluations(self) -> Iterator[Evaluation]:
        """Yield the evaluations that the span has as events."""
        for name, fields in self.events:
            if name == EVALUATION:
                yield Evaluation(
                    trace_id=self.trace_id,
                    span_id=self.span_id,
                    name=str(fields.get("gen_ai.evaluation.name", "evaluation")),
                    fields=fields,
                )


Record = Span | Evaluation | str


def records_of(value: Json, trace: Mapping[str, Json] | None = None) -> Iterator[Record]:
    """Yield the spans and evaluations of a JSON value of any form; a text says what is wrong.

    Args:
        value: an export, a part of one, or a span.
        trace: what the export says of the trace.
    """
    if isinstance(value, list):
        for each in value:
            yield from records_of(each, trace)
        return
    given = object_of(value)
    above = trace or object_of(given.get("trace"))
    if "resourceSpans" in given or "resourceLogs" in given:
        yield from records_of([*_of(given, "resourceSpans"), *_of(given, "resourceLogs")])
    elif "scopeSpans" in given or "instrumentationLibrarySpans" in given:
        yield from _resource_spans(given)
    elif "scopeLogs" in given:
        yield from _resource_logs(given)
    elif isinstance(given.get("spans"), list):
        yield from records_of(given["spans"], above)
    elif isinstance(given.get("observations"), list):
        yield from records_of(given["observations"], above)
    elif "traceId" in given and "id" in given and "type" in given:
        yield _observation(given, above)
    else:
        yield _span(given, {})


def _of(given: Json, *names: str) -> list[Json]:
    """Return the elements of lists; None, which is no record, for what stands where one belongs."""
    if not isinstance(given, dict):
        return [None]
    members = [given[name] for name in names if given.get(name) is not None]
    return [each for one in members for each in (one if isinstance(one, list) else [None])]


def _resource_spans(given: Mapping[str, Json]) -> Iterator[Record]:
    resource = _resource(given)
    for scope in _of(given, "scopeSpans", "instrumentationLibrarySpans"):
        for span in _of(scope, "spans"):
            yield _span(object_of(span), resource)


def _resource_logs(given: Mapping[str, Json]) -> Iterator[Record]:
    """Yield the evaluations among log records; other logs are no spans."""
    resource = _resource(given)
    for scope in _of(given, "scopeLogs", "instrumentationLibraryLogs"):
        for each in _of(scope, "logRecords"):
            if not isinstance(each, dict):
                yield "not a log record"
                continue
            fields = key_values(each.get("attributes"))
            names = (each.get("eventName"), fields.get("event.name"))
            if EVALUATION in names or "gen_ai.evaluation.name" in fields:
                span_id = trace_or_span_id(each.get("spanId"), _SPAN_DIGITS)
                yield Evaluation(
                    trace_id=trace_or_span_id(each.get("traceId"), _TRACE_DIGITS) or "",
                    span_id=span_id,
                    name=str(fields.get("gen_ai.evaluation.name", "evaluation")),
                    fields=fields,
                    resource=resource,
                    is_apart=True,
                )


def _span(given: Mapping[str, Json], resource: JsonObject) -> Record:
    """Return a span of OTLP, of an SDK's dump, of Phoenix's client or of JavaScript."""
    context = object_of(given.get("context") or given.get("spanContext"))
    ids = {**given, **context}
    trace_id = trace_or_span_id(_either(ids, "traceId", "trace_id"), _TRACE_DIGITS)
    span_id = trace_or_span_id(_either(ids, "spanId", "span_id"), _SPAN_DIGITS)
    if trace_id is None or span_id is None:
        return "not a span: it has no ids of trace and span"
    raw = key_values(given.get("attributes"))
    attributes = flat(raw)
    if isinstance(given.get("span_kind"), str):
        attributes.setdefault("openinference.span.kind", given["span_kind"])
    span = Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=_parent_id(given),
        name=text_of(given.get("name")),
        start=nanoseconds(_either(given, "startTimeUnixNano", "start_time", "startTime")),
        end=nanoseconds(_either(given, "endTimeUnixNano", "end_time", "endTime")),
        kind="other",
        attributes=attributes,
        raw=raw,
        resource=resource or flat(_resource(given)),
        events=[
            (str(each.get("name")), key_values(each.get("attributes")))
            for each in map(object_of, list_of(given.get("events")))
        ],
    )
    _add_events(span)
    span.kind = _kind(span)
    span.error = _error(given, span)
    return span


def _either(given: Mapping[str, Json], *names: str) -> Json:
    return next((given[name] for name in names if given.get(name) is not None), None)


def _resource(given: Mapping[str, Json]) -> JsonObject:
    return key_values(inner(given, "resource", "attributes"))


def _parent_id(given: Mapping[str, Json]) -> str | None:
    """Return the id of the parent; a root has none, or one of zeros, as some programs write it."""
    parent = _either(given, "parentSpanId", "parent_id", "parentSpanContext", "parent")
    if isinstance(parent, dict):
        parent = _either(parent, "span_id", "spanId")
    return trace_or_span_id(parent, _SPAN_DIGITS)


def trace_or_span_id(value: Json, n_digits: int) -> str | None:
    """Return an id of so many hexadecimal digits: of digits, base64, an integer; others as are."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return f"{value:0{n_digits}x}"
    if not isinstance(value, str) or not value:
        return None
    if len(value) == -(-n_digits // 6) * 4 and value.endswith("="):
        try:
            return base64.b64decode(value, validate=True).hex()
        except binascii.Error:
            return utf8(value)
    digits = value.removeprefix("0x").lower()
    return digits if re.fullmatch(r"[0-9a-f]+", digits) and len(digits) == n_digits else utf8(value)


def nanoseconds(value: Json) -> int | None:
    """Return a time in nanoseconds since 1970: as such, in ISO 8601, or as [seconds, ns]."""
    if isinstance(value, list) and len(value) == len("sn"):
        seconds, rest = map(integer, value)
        return None if seconds is None or rest is None else seconds * 10**9 + rest
    number = integer(value)
    if number is None:
        found = iso_moment(value)
        return None if found is None else (found - _EPOCH) // timedelta(microseconds=1) * 1000
    return number if number > 0 else None


def moment(time: int | None) -> datetime | None:
    """Return nanoseconds since 1970 as naive UTC."""
    try:
        return None if time is None else _EPOCH + timedelta(microseconds=time // 1000)
    except OverflowError:
        return None


def _add_events(span: Span) -> None:
    """Add the attributes of events that describe the call, such as the texts of older writers."""
    for name, fields in span.events:
        if name == "exception" or (name.startswith("gen_ai.") and name != EVALUATION):
            for key, value in fields.items():
                if "." in key:
                    span.attributes.setdefault(key, value)


def _kind(span: Span) -> str:
    """Return the kind of step that a span is."""
    attributes = span.attributes
    vercel = _VERCEL.match(str(attributes.get("ai.operationId") or span.name))
    if vercel is not None and (attributes.keys() & {"ai.operationId", "operation.name"}):
        inner = vercel["inner"]
        if vercel["call"] == "toolCall":
            return "tool"
        return "model" if inner and not inner.startswith("doEmbed") else "other"
    for name in NAMES["operation"]:
        found = _KINDS.get(str(attributes.get(name)).lower())
        if found is not None:
            return found
    if text(attributes, "tool") is not None:
        return "tool"
    if text(attributes, "agent") is not None:
        return "agent"
    is_call = {"gen_ai.request.model", "llm.model_name"} & attributes.keys()
    return "model" if is_call else "other"


def _error(given: Mapping[str, Json], span: Span) -> str | None:
    """Return the error of a span: its message, its type or the word for it."""
    status = given.get("status")
    fields = object_of(status)
    code = _either(fields, "code", "status_code") or given.get("status_code") or status
    if str(code).upper() not in _ERRORS:
        return None
    stated = _either(fields, "message", "description") or given.get("status_message")
    found = stated or span.attributes.get("exception.message") or first(span.attributes, "error")
    return utf8(str(found)) if found else "ERROR"


def _observation(given: Mapping[str, Json], trace: Mapping[str, Json]) -> Record:
    """Return an observation of Langfuse, which may hold the attributes of the span it came from."""
    trace_id = trace_or_span_id(given.get("traceId"), _TRACE_DIGITS)
    span_id = trace_or_span_id(given.get("id"), _SPAN_DIGITS)
    if trace_id is None or span_id is None:
        return "not an observation: it has no ids of trace and observation"
    metadata = object_of(unpacked(given.get("metadata")))
    raw = key_values(metadata)
    attributes = flat(object_of(raw.get("attributes")))
    own = {name: without_binary(value) for name, value in _own_attributes(given).items()}
    attributes |= {name: value for name, value in own.items() if value is not None}
    is_error = given.get("level") == "ERROR"
    kind = str(given.get("type")).lower()
    span = Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=trace_or_span_id(given.get("parentObservationId"), _SPAN_DIGITS),
        name=text_of(given.get("name")),
        start=nanoseconds(given.get("startTime")),
        end=nanoseconds(given.get("endTime")),
        kind=_KINDS.get(kind, ""),
        attributes=attributes,
        raw=raw | {"modelParameters": given.get("modelParameters")},
        resource=flat(object_of(raw.get("resourceAttributes"))),
        error=utf8(str(given.get("statusMessage") or "ERROR")) if is_error else None,
        trace=dict(trace),
    )
    span.kind = span.kind or _kind(span)
    return span


def _own_attributes(given: Mapping[str, Json]) -> JsonObject:
    """Return the fields of an observation by the names that they have as attributes.

    Langfuse counts tokens and costs of generations itself; older exports have fields of their own.
    """
    usage, costs = object_of(given.get("usageDetails")), object_of(given.get("costDetails"))
    return {
        "gen_ai.response.model": given.get("model"),
        "gen_ai.usage.input_tokens": usage.get("input", given.get("inputUsage")),
        "gen_ai.usage.output_tokens": usage.get("output", given.get("outputUsage")),
        "gen_ai.usage.cache_read.input_tokens": _either(
            usage, "input_cached_tokens", "cache_read_input_tokens", "input_cache_read"
        ),
        "gen_ai.usage.reasoning.output_tokens": _either(
            usage, "output_reasoning_tokens", "reasoning_tokens", "output_reasoning"
        ),
        "llm.cost.total": costs.get("total", given.get("calculatedTotalCost")),
        "langfuse.observation.input": given.get("input"),
        "langfuse.observation.output": given.get("output"),
    }


def langfuse_scores(trace: Mapping[str, Json], trace_id: str) -> Iterator[Evaluation]:
    """Yield the scores that Langfuse exports with a trace."""
    for each in map(object_of, list_of(trace.get("scores"))):
        span_id = trace_or_span_id(each.get("observationId"), _SPAN_DIGITS)
        fields: JsonObject = {
            "gen_ai.evaluation.score.value": each.get("value"),
            "gen_ai.evaluation.score.label": each.get("stringValue"),
            "gen_ai.evaluation.explanation": each.get("comment"),
            "source": each.get("source"),
            "data_type": each.get("dataType"),
        }
        name = str(each.get("name", "score"))
        yield Evaluation(trace_id=trace_id, span_id=span_id, name=name, fields=fields)
