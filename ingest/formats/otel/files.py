"""Files of spans: JSON lines, or one JSON value of any size."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ingest.formats.common.collector import RowCollector, part_id
from ingest.formats.common.documents import json_in, opened
from ingest.formats.common.elements import BrokenElementsError, DeepElement, Elements
from ingest.formats.common.fields import inner, object_of
from ingest.formats.common.json_spans import file_spans
from ingest.formats.common.large_objects import MOST_MEMBER_BYTES, Parts
from ingest.formats.common.records import UnreadableRecordError, json_lines
from ingest.formats.otel.rows import SUITE, add_span, add_trial, evaluation_row, part_of_evaluations
from ingest.formats.otel.spans import Evaluation, Span, records_of
from ingest.formats.otel.traces import TraceFacts
from ingest.reading import Candidate, Reading, Reject, Stream
from warehouse.core.files import open_regular
from warehouse.core.formats.values import TOO_DEEP, utf8

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping
    from pathlib import Path

    from ingest.formats.otel.spans import Record
    from ingest.reading import Block, ImportContext
    from warehouse.core.types import Json, JsonObject

    # A value, what the file says of its trace, and what makes the reject of it.
    _Located = tuple[Json, JsonObject, Callable[[str], Reject]]

FORMAT = "OpenTelemetry spans"

_TABLES = ("results", "systems", "steps", "messages", "result_scores", "events")
_LISTS = ("resourceSpans", "resourceLogs", "spans", "observations")
_LINES = {".jsonl", ".ndjson"}


def read_spans(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read the spans of a file; twice, since what is above a span may come after it."""
    source = _Source(path, context.options.redact, RowCollector(path, ""))
    found = opened(path, context, partial(_traces, source))
    if found is None:
        return
    traces, lost = found
    if not traces:
        file = context.read(path)
        if file is not None:
            rejects = source.problems.rejects or [Reject("no spans with ids of trace and span")]
            yield Reading(FORMAT, rejects=rejects, files=[file])
        return
    first = next(iter(traces.values()))
    yield Reading(
        FORMAT,
        run=(SUITE, first.run_id),
        stream=Stream(
            paths=(path,),
            tables=_TABLES,
            blocks=partial(_blocks, source, traces, lost),
            header={"source_name": utf8(path.name)},
            parts=frozenset(_parts(traces)),
            has_traces=True,
        ),
    )


def _traces(source: _Source) -> tuple[dict[str, TraceFacts], set[int]]:
    """Return what the spans of each trace say of it, and the places of lost evaluations.

    Those are of answers that the file lacks, and name no trace.
    """
    traces: dict[str, TraceFacts] = {}
    responses: dict[str, tuple[str, str]] = {}
    apart: list[tuple[int, Evaluation]] = []
    lost: set[int] = set()
    for position, record, _ in source.records():
        if isinstance(record, Span):
            trace = traces.setdefault(record.trace_id, TraceFacts(record.trace_id))
            trace.add(record, position)
            response_id = record.attributes.get("gen_ai.response.id")
            if isinstance(response_id, str):
                responses[response_id] = (record.trace_id, record.span_id)
        elif isinstance(record, Evaluation):
            apart.append((position, record))
    for position, each in apart:
        if not each.trace_id:
            response_id = str(each.fields.get("gen_ai.response.id"))
            each.trace_id, each.span_id = responses.get(response_id, ("", None))
        if each.trace_id:
            trace = traces.setdefault(each.trace_id, TraceFacts(each.trace_id))
            trace.add_evaluation(each)
        else:
            lost.add(position)
    for trace in traces.values():
        trace.finish()
    return traces, lost


def _parts(traces: Mapping[str, TraceFacts]) -> Iterator[str]:
    for trace in traces.values():
        if trace.facts:
            yield part_id(trace.trace_id)
        if any(each.is_apart for each in trace.evaluations):
            yield part_of_evaluations(trace.trace_id)


def _blocks(
    source: _Source, traces: Mapping[str, TraceFacts], lost: Container[int]
) -> Iterator[Block]:
    writer = _Writer(source, traces, lost)
    list(source.problems.rest())  # those of the first reading
    writer.add_apart()
    for position, record, reject in source.records():
        yield from writer.add(position, record, reject)
        yield from source.problems.rest()
    yield from source.problems.rest()
    for rows in writer.runs.values():
        yield from rows.rest()


class _Writer:
    """Makes rows of the records of a file, of which `_traces` has seen all."""

    def __init__(
        self, source: _Source, traces: Mapping[str, TraceFacts], lost: Container[int]
    ) -> None:
        self.runs: dict[str, RowCollector] = {}
        self._path, self._problems = source.path, source.problems
        self._traces = traces
        self._lost = lost
        self._written: set[str] = set()
        for trace in traces.values():
            trace.restart()

    def add_apart(self) -> None:
        """Add the evaluations of traces whose spans are in another file."""
        for trace in self._traces.values():
            if not trace.facts:
                rows = self._trace_rows(trace)
                for each in trace.evaluations:
                    rows.add("result_scores", evaluation_row(trace.trace_id, trace.trace_id, each))

    def add(
        self, position: int, record: Record, reject: Callable[[str], Reject]
    ) -> Iterator[Block]:
        """Add a record; yield a block if there are rows enough for one."""
        if isinstance(record, str):
            self._problems.rejects.append(reject(record))
        elif isinstance(record, Evaluation):
            if position in self._lost:
                self._problems.rejects.append(reject("evaluates an answer that the file lacks"))
        else:
            trace = self._traces[record.trace_id]
            rows = self._trace_rows(trace)
            if record.trace_id not in self._written:
                self._written.add(record.trace_id)
                for trial in trace.trials:
                    add_trial(trace, trial, record.resource, rows)
            if trace.facts[record.span_id].position == position:
                add_span(trace, trace.steps[record.span_id], record, position, rows)
            yield from rows.full()

    def _trace_rows(self, trace: TraceFacts) -> RowCollector:
        made = RowCollector(self._path, trace.run_id)
        return self.runs.setdefault(trace.run_id, made)


@dataclass(frozen=True, slots=True)
class _Source:
    """A file of spans.

    Attributes:
        redact: whether possible secrets are masked.
        problems: collects what cannot be used, and secrets.
    """

    path: Path
    redact: bool
    problems: RowCollector

    def records(self) -> Iterator[tuple[int, Record, Callable[[str], Reject]]]:
        """Yield spans, evaluations and what is neither, with their positions from 1.

        Raises:
            OSError: the file cannot be read.
        """
        position = 0
        values = self._lines() if self._has_lines() else self._elements()
        for value, trace, reject in values:
            for record in records_of(value, trace):
                position += 1
                yield position, record, reject

    def _has_lines(self) -> bool:
        if self.path.suffix.lower() in _LINES:
            return True
        line, _, rest = Candidate(self.path).head.lstrip(b"\xef\xbb\xbf \r\n").partition(b"\n")
        if not rest.strip():
            return False
        try:
            return isinstance(json.loads(line), dict)
        except (ValueError, RecursionError):
            return False

    def _lines(self) -> Iterator[_Located]:
        for block in json_lines(self.path, redact=self.redact):
            self.problems.rejects += block.rejects
            self.problems.secrets += block.secrets
            for record in block.records:
                yield record.value, {}, record.rejected

    def _elements(self) -> Iterator[_Located]:
        problems = self.problems
        try:
            keys, trace = self._layout()
            for n, key in enumerate(keys):
                elements = Elements(self.path, key, is_masked=self.redact)
                for at, value in enumerate(elements.read(), 1):
                    # Each reading searches the whole file: one is enough.
                    problems.secrets += elements.take_secrets() if not n else []
                    reject = partial(_rejected, at, elements.raw())
                    if isinstance(value, DeepElement):
                        problems.rejects.append(reject(TOO_DEEP))
                    else:
                        yield value, trace, reject  # type: ignore[misc]
                problems.secrets += elements.take_secrets() if not n else []
        except BrokenElementsError as error:
            problems.rejects.append(Reject(str(error)))

    def _layout(self) -> tuple[list[str | None], JsonObject]:
        """Return the lists of the file, and what it says of the trace of all its spans.

        Raises:
            BrokenElementsError: it is not JSON.
        """
        if Candidate(self.path).head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
            return [None], {}
        spans = file_spans(self.path, ())
        if spans.problem:
            raise BrokenElementsError(spans.problem)
        trace = self._trace(*spans.members["trace"]) if "trace" in spans.members else {}
        known: list[str | None] = [name for name in _LISTS if name in spans.members]
        return known or list(spans.members), trace

    def _trace(self, start: int, end: int) -> JsonObject:
        try:
            with open_regular(self.path) as file:
                raw = Parts(file, self.redact).read(start, end, MOST_MEMBER_BYTES)
            return object_of(inner(json_in(b"{" + raw + b"}"), "trace"))
        except UnreadableRecordError as error:
            raise BrokenElementsError(f"`trace`: {error}") from error


def _rejected(at: int, raw: str, reason: str) -> Reject:
    return Reject(f"element {at}: {reason}", raw=raw.encode("utf-8", "replace"))


def decline_attributes(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Decline the attributes of one span."""
    context.decline(path, "the attributes of one span, without its trace, ids and times")
    return iter(())
