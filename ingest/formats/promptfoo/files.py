"""The exports of promptfoo: JSON of versions 2 and 3, JSON lines; tables are declined."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ingest.formats.common.collector import RowCollector
from ingest.formats.common.documents import json_in, opened, run_reading
from ingest.formats.common.large_objects import large_object
from ingest.formats.common.records import UnreadableRecordError, json_lines
from ingest.formats.promptfoo.evaluation import SUITE, EvaluationRows, header_row
from ingest.reading import Reading, Reject, Stream
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.formats.common.large_objects import LargeObject
    from ingest.formats.common.records import LineRecord
    from ingest.reading import Block, ImportContext
    from warehouse.core.types import JsonObject

EXPORT = "promptfoo evaluation"
LINES = "promptfoo results"
TABLES = ("results", "result_scores", "reported_metrics", "tasks", "artifacts")

_RESULTS = "results"


def read_lines(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read results as JSON lines. They name no evaluation: the first of them stands for it."""
    try:
        first = next((r.value for b in json_lines(path) for r in b.records), None)
    except OSError:
        context.read(path)  # reports why it cannot be read
        return
    run_id = f"jsonl-{content_hash('first result', first)[:16]}"
    yield Reading(
        LINES,
        rows={"runs": [header_row(run_id, {}, path)]},
        run=(SUITE, run_id),
        stream=Stream(
            paths=(path,),
            tables=TABLES,
            blocks=partial(_line_blocks, path, run_id, redact=context.options.redact),
        ),
    )


def _line_blocks(path: Path, run_id: str, *, redact: bool) -> Iterator[Block]:
    rows = RowCollector(path, run_id)
    evaluation = EvaluationRows({}, rows)

    def add(record: LineRecord) -> None:
        if isinstance(record.value, dict):
            evaluation.add(record.value, record.line)
        else:
            rows.rejects.append(record.rejected("not a JSON object"))

    yield from rows.add_lines(json_lines(path, redact=redact), add)
    yield from rows.rest()


def read_export(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read an evaluation as JSON, of any size."""
    export = opened(path, context, partial(_export, path, redact=context.options.redact))
    if export is None:
        return
    if export.problem:
        file = context.read(path)
        rejects = [] if file is None else [Reject(export.problem, raw=file.data)]
        yield Reading(EXPORT, rejects=rejects, files=[] if file is None else [file])
        return
    document = export.document
    run_id = _run_id(export)
    header = header_row(run_id, document, path)
    yield run_reading(EXPORT, header, (path,), TABLES, partial(export.blocks, run_id))


def _run_id(export: _Export) -> str:
    given = export.document.get("evalId")
    if isinstance(given, str) and given:
        return utf8(given)
    # Older exports have no id: their content stands for it.
    try:
        first = json_in(export.inner.first(_RESULTS))
    except UnreadableRecordError:
        first = None
    parts = (export.document.get("config"), export.document.get("stats"), first)
    return f"eval-{content_hash('export', *parts)[:16]}"


def _export(path: Path, *, redact: bool) -> _Export:
    """Find the parts of an export.

    Raises:
        OSError: the file cannot be read.
    """
    outer = large_object(path, {_RESULTS}, is_masked=redact)
    problem = outer.spans.problem
    if problem or _RESULTS not in outer.spans.members:
        return _Export(outer, outer, problem or "has no results")
    start, end = outer.value_place(_RESULTS)
    inner = large_object(path, {_RESULTS}, is_masked=redact, start=start, end=end)
    return _Export(outer, inner, inner.spans.problem)


@dataclass(frozen=True, slots=True)
class _Export:
    """An export.

    Attributes:
        outer: the file.
        inner: its `results`, with the list of them.
        problem: why the file cannot be used, human-readable; empty if it can.
    """

    outer: LargeObject
    inner: LargeObject
    problem: str

    @property
    def document(self) -> JsonObject:
        """The members but for the results; those of `results` are among them."""
        return {**self.outer.root, **self.inner.root}

    def blocks(self, run_id: str) -> Iterator[Block]:
        """Yield the rows of the results, then the figures."""
        rows = RowCollector(self.outer.path, run_id)
        evaluation = EvaluationRows(self.document, rows)
        for part in (self.outer, self.inner):
            rows.rejects += part.rejects
            rows.secrets += part.secrets
        if _RESULTS not in self.inner.spans.lists:
            rows.rejects.append(Reject("`results.results` is not a list"))
        elements = "elements of `results.results`"
        for seq, value in self.inner.objects(_RESULTS, rows, "result", elements=elements):
            evaluation.add(value, seq)
            yield from rows.full()
        evaluation.add_figures()
        yield from rows.rest()
