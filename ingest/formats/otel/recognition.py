"""Recognises spans of OpenTelemetry, in each form in which programs write them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.format import Format, Reader
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate

_SUFFIXES = {".json", ".jsonl", ".ndjson"}
_START = re.compile(rb"(\xef\xbb\xbf)?\s*[\[{]")
_OTLP = re.compile(rb'(\xef\xbb\xbf)?\s*[\[{]\s*\{?\s*"resource(Spans|Logs)"\s*:\s*\[')
_IN_CONTEXT = re.compile(
    rb'"(context|spanContext)"\s*:\s*\{[^{}]{0,300}"(span_id|spanId)"\s*:', re.DOTALL
)
_OBSERVATIONS = re.compile(rb'"observations"\s*:\s*\[\s*\{')
_LANGFUSE = re.compile(rb'"(traceId|parentObservationId)"\s*:')
_ATTRIBUTES = re.compile(
    rb'(\xef\xbb\xbf)?\s*\{(\s*"(?!trace_id|span_id|context)[\w.]+"\s*:\s*"[^"]*",)*\s*'
    rb'"(gen_ai\.[\w.]+|llm\.[\w.]+|openinference\.span\.kind)"\s*:'
)
_IDS = (b'"trace_id"', b'"traceId"', b'"span_id"', b'"spanId"')


def is_spans(candidate: Candidate) -> bool:
    """Return whether a file holds spans."""
    head = candidate.head
    if candidate.path.suffix.lower() not in _SUFFIXES or not _START.match(head):
        return False
    if _OTLP.match(head) is not None:
        return True
    if b'"trace' in head and _IN_CONTEXT.search(head) is not None:
        return True
    return _is_langfuse(head)


def _is_langfuse(head: bytes) -> bool:
    if not re.match(rb'(\xef\xbb\xbf)?\s*[\[{]\s*\{?\s*"(trace|observations)"\s*:', head):
        return False
    has_list = _OBSERVATIONS.search(head) is not None
    return b'"projectId"' in head or (has_list and _LANGFUSE.search(head) is not None)


def is_attributes(candidate: Candidate) -> bool:
    """Return whether a file holds the attributes of one span without the span."""
    head = candidate.head
    is_json = candidate.path.suffix.lower() == ".json"
    return is_json and _ATTRIBUTES.match(head) is not None and not any(w in head for w in _IDS)


_files = Late("otel.files")
FORMAT = Format(
    "OpenTelemetry",
    readers={
        335: Reader("OpenTelemetry spans", is_spans, _files.read_spans),
        336: Reader("attributes of one span", is_attributes, _files.decline_attributes),
    },
    suites=("otel",),
)
