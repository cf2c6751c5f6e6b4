"""The exports of promptfoo: JSON of versions 2 and 3, JSON lines; tables are declined."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from ingest.formats.common.collector import RowCollector
from ingest.formats.common.json_spans import file_spans, value_offset
from ingest.formats.common.records import UnreadableRecordError, json_lines, parsed
from ingest.formats.promptfoo.evaluation import SUITE, EvaluationRows, header_row
from ingest.reading import Reading, Reject, Stream
from warehouse.core.files import open_regular
from warehouse.core.formats.secrets import find_secrets, mask
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.formats.common.json_spans import ObjectSpans
    from ingest.formats.common.records import LineRecord
    from ingest.reading import Block, ImportContext
    from warehouse.core.types import Json, JsonObject

EXPORT = "promptfoo evaluation"
LINES = "promptfoo results"
TABLES = ("results", "result_scores", "reported_metrics", "tasks", "artifacts")

_MOST_MEMBER_BYTES = 64 * 2**20
_MOST_ROW_BYTES = 256 * 2**20


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
    redact = context.options.redact
    try:
        export = _Export.opened(path, redact=redact)
    except OSError:
        context.read(path)  # reports why it cannot be read
        return
    if export.problem:
        yield _broken(path, export.problem, context)
        return
    document = export.document
    run_id = _run_id(export)
    yield Reading(
        EXPORT,
        rows={"runs": [header_row(run_id, document, path)]},
        run=(SUITE, run_id),
        rejects=export.rejects,
        stream=Stream(
            paths=(path,), tables=TABLES, blocks=partial(export.blocks, run_id), is_run=True
        ),
    )


def _broken(path: Path, problem: str, context: ImportContext) -> Reading:
    file = context.read(path)
    if file is None:
        return Reading(EXPORT)
    return Reading(EXPORT, rejects=[Reject(problem, raw=file.data)], files=[file])


def _run_id(export: _Export) -> str:
    given = export.document.get("evalId")
    if isinstance(given, str) and given:
        return utf8(given)
    # Older exports have no id: their content stands for it.
    parts = (export.document.get("config"), export.document.get("stats"), export.first_row())
    return f"eval-{content_hash('export', *parts)[:16]}"


@dataclass(slots=True)
class _Export:
    """An export: where its results are, and everything else of it.

    Attributes:
        path: the file.
        document: the members but for the results; those of `results` are among them.
        problem: why the file cannot be used, human-readable; empty if it can.
        rejects: members that cannot be used.
        secrets: line (1) and kind of each possible secret outside the results.
    """

    path: Path
    redact: bool
    spans: ObjectSpans
    document: JsonObject = field(default_factory=dict)
    problem: str = ""
    rejects: list[Reject] = field(default_factory=list)
    secrets: list[tuple[int, str]] = field(default_factory=list)

    @classmethod
    def opened(cls, path: Path, *, redact: bool) -> _Export:
        """Find the parts of an export.

        Raises:
            OSError: the file cannot be read.
        """
        outer = file_spans(path, ())
        made = cls(path, redact, outer, problem=outer.problem)
        if outer.problem or "results" not in outer.members:
            made.problem = outer.problem or "has no results"
            return made
        made._read_members(outer, {"results"})
        start, end = outer.members["results"]
        offset = value_offset(made._bytes(start, min(end, start + 1000)))
        inner = file_spans(path, {"results"}, start=start + (offset or 0), end=end)
        made.spans, made.problem = inner, inner.problem
        if not made.problem:
            made._read_members(inner, {"results"})
        return made

    def first_row(self) -> Json:
        """Return the first result, if it can be read."""
        for place in self._places():
            return self._value(*place, 1, [])[0]
        return None

    def blocks(self, run_id: str) -> Iterator[Block]:
        """Yield the rows of the results, then the figures."""
        rows = RowCollector(self.path, run_id)
        evaluation = EvaluationRows(self.document, rows)
        rows.secrets += self.secrets
        for seq, (start, end) in enumerate(self._places(), 1):
            value, reject = self._value(start, end, seq, rows.secrets)
            if reject is not None:
                rows.rejects.append(reject)
            elif isinstance(value, dict):
                evaluation.add(value, seq)
            yield from rows.full()
        self._reject_others(rows)
        evaluation.add_figures()
        yield from rows.rest()

    def _reject_others(self, rows: RowCollector) -> None:
        listed = self.spans.lists.get("results")
        if listed is None:
            rows.rejects.append(Reject("`results.results` is not a list"))
        elif listed.n_elements > listed.n_objects:
            n_others = listed.n_elements - listed.n_objects
            rows.rejects.append(
                Reject(f"{n_others:,} elements of `results.results` are not objects")
            )

    def _places(self) -> Iterator[tuple[int, int]]:
        listed = self.spans.lists.get("results")
        places = listed.places if listed is not None else ()
        return zip(places[::2], places[1::2], strict=False)

    def _value(
        self, start: int, end: int, seq: int, secrets: list[tuple[int, str]]
    ) -> tuple[Json, Reject | None]:
        """Return a result, or the reject for it."""
        if end - start > _MOST_ROW_BYTES:
            return None, Reject(f"a result of more than {_MOST_ROW_BYTES:,} bytes", seq, start)
        raw = self._bytes(start, end)
        try:
            return parsed(self._masked(raw, seq, secrets))[0], None
        except UnreadableRecordError as error:
            return None, Reject(f"result {seq}: {error}", seq, start, raw)

    def _read_members(self, spans: ObjectSpans, without: set[str]) -> None:
        for name, (start, end) in spans.members.items():
            if name in without:
                continue
            if end - start > _MOST_MEMBER_BYTES:
                reason = f"`{utf8(name)}` has more than {_MOST_MEMBER_BYTES:,} bytes"
                self.rejects.append(Reject(reason, byte_offset=start))
                continue
            raw = self._bytes(start, end)
            try:
                member, _ = parsed(b"{" + self._masked(raw, 1, self.secrets) + b"}")
            except UnreadableRecordError as error:
                reason = f"`{utf8(name)}`: {error}"
                self.rejects.append(Reject(reason, byte_offset=start, raw=raw))
                continue
            if isinstance(member, dict):
                self.document |= dict(member)

    def _masked(self, raw: bytes, line: int, found: list[tuple[int, str]]) -> bytes:
        secrets = find_secrets(raw)
        found += [(line, secret.kind) for secret in secrets]
        return mask(raw, secrets) if self.redact and secrets else raw

    def _bytes(self, start: int, end: int) -> bytes:
        with open_regular(self.path) as file:
            file.seek(start)
            return file.read(end - start)
