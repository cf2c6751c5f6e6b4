"""Inspect's logs as a format of the import: which files they are, and their streams of rows."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ingest.formats.inspect.documents import (
    HUGE_NUMBER_GATE,
    LogObject,
    UnreadableDocumentError,
    read_object,
)
from ingest.formats.inspect.figures import figure_rows
from ingest.formats.inspect.files import LogFile, UnusableLogError, merged_header, open_log
from ingest.formats.inspect.header import SUITE, evaluation, run_row
from ingest.formats.inspect.samples import UnusableSampleError, sample_rows
from ingest.reading import Block, Reading, Reject, Stream
from ingest.streamed_runs import as_table
from warehouse.core.formats.secrets import find_secrets, mask, may_hold_secrets
from warehouse.core.hashing import content_hash
from warehouse.core.schemas import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from ingest.formats.inspect.files import Part
    from ingest.formats.inspect.header import Evaluation
    from ingest.formats.inspect.samples import SampleRows
    from ingest.reading import ImportContext
    from warehouse.core.types import ArtifactRow, ReportedMetricRow, Row

FORMAT = "Inspect log"

_TABLES = ("results", "tasks", "result_scores", "messages", "reported_metrics", "artifacts")
_BLOCK_BYTES = 2 * 2**20
_KEPT_REJECT_BYTES = 2**20
_FEW_ROWS = 256


def read_log(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a log of any size."""
    redact = context.options.redact
    try:
        with open_log(path) as log:
            header = _header(log, redact=redact)
    except (UnusableLogError, OSError) as error:
        yield _unusable(path, str(getattr(error, "strerror", None) or error))
        return
    shared = evaluation(header)
    blocks = _LogBlocks(path, header, shared, redact=redact).read
    stream = Stream(paths=(path,), tables=_TABLES, blocks=blocks, is_run=True, has_traces=True)
    reading = Reading(FORMAT, run=(SUITE, shared.run_id), stream=stream)
    reading.rows["runs"] = [run_row(header, shared)]
    yield reading


def _unusable(path: Path, reason: str) -> Reading:
    def blocks() -> Iterator[Block]:
        yield Block(path=path, run_id=None, rejects=[Reject(reason)])

    return Reading(FORMAT, stream=Stream(paths=(path,), tables=(), blocks=blocks))


def _header(log: LogFile, *, redact: bool) -> LogObject:
    parts = []
    for part in log.header_parts():
        if part.data is None:
            raise UnusableLogError(f"{part.name}: {part.problem}")
        data = mask(part.data, find_secrets(part.data)) if redact else part.data
        try:
            parts.append(read_object(data))
        except UnreadableDocumentError as error:
            raise UnusableLogError(f"{part.name}: {error}") from error
    return merged_header(parts)


class _LogBlocks:
    """The rows of a log."""

    def __init__(self, path: Path, header: LogObject, shared: Evaluation, *, redact: bool) -> None:
        self._path = path
        self._header = header
        self._shared = shared
        self._redact = redact

    def read(self) -> Iterator[Block]:
        """Read the log from the start.

        Raises:
            OSError: it cannot be read.
        """
        with open_log(self._path) as log:
            collected = _Collected(self._shared)
            parts: list[Part] = []
            n_bytes = 0
            for part in log.samples():
                parts.append(part)
                n_bytes += len(part.data or b"")
                if n_bytes > _BLOCK_BYTES:
                    yield self._block(parts, collected)
                    parts, n_bytes = [], 0
            yield self._block(parts, collected)
            yield self._block_of_header(log)

    def _block(self, parts: list[Part], collected: _Collected) -> Block:
        block = Block(path=self._path, run_id=self._shared.run_id)
        # One search for all that is rare in samples.
        may_hold = may_hold_secrets([part.data or b"" for part in parts], also=HUGE_NUMBER_GATE)
        for part, is_suspect in zip(parts, may_hold, strict=True):
            collected.number += 1
            data = self._masked(part.data, collected.number, block) if is_suspect else part.data
            if data is None:
                block.rejects.append(Reject(f"{part.name}: {part.problem}"))
            else:
                self._add(part.name, data, block, collected, has_usual_numbers=not is_suspect)
        block.rows.update(collected.taken())
        return block

    def _add(
        self,
        name: str,
        data: bytes,
        block: Block,
        collected: _Collected,
        *,
        has_usual_numbers: bool,
    ) -> None:
        try:
            sample = read_object(data, has_usual_numbers=has_usual_numbers)
            rows = sample_rows(sample, self._shared, collected.number)
        except (UnreadableDocumentError, UnusableSampleError) as error:
            reason = f"{name}: {error}"
        else:
            collected.add(rows)
            return
        raw = data if len(data) <= _KEPT_REJECT_BYTES else None
        block.rejects.append(Reject(reason, raw=raw))

    def _block_of_header(self, log: LogFile) -> Block:
        block = Block(path=self._path, run_id=self._shared.run_id)
        figures: list[ReportedMetricRow] = list(figure_rows(self._header, self._shared))
        block.rows["reported_metrics"] = _unique(figures)
        artifacts: list[ArtifactRow] = []
        for part in log.documents():
            data = self._masked(part.data, 0, block)
            if data is None:
                block.rejects.append(Reject(f"{part.name}: {part.problem}"))
                continue
            content_id = content_hash("inspect", part.name, content_hash(data.hex()))
            artifacts.append(
                {"content_id": content_id, "kind": "document", "name": part.name, "content": data}
            )
        block.rows["artifacts"] = _unique(artifacts)
        return block

    def _masked(self, data: bytes | None, number: int, block: Block) -> bytes | None:
        """Return the data, without secrets if they are to be masked, which are reported."""
        if data is None:
            return None
        secrets = find_secrets(data)
        block.secrets += [(number, secret.kind) for secret in secrets]
        return mask(data, secrets) if self._redact else data


class _Collected:
    """The rows of samples on their way into a block.

    Attributes:
        number: samples seen so far.
    """

    def __init__(self, shared: Evaluation) -> None:
        self.number = 0
        self._shared = shared
        self._rows: dict[str, list[Row]] = defaultdict(list)
        self._tasks: set[str] = set()
        self._results: dict[tuple[str, int], str] = {}

    def add(self, rows: SampleRows) -> None:
        """Add the rows of a sample; of several with the same id and epoch, the last counts."""
        content_id = rows.result["content_id"]
        before = self._results.get(rows.key)
        if before == content_id:
            return
        if before is not None:
            rows.result["stands_in_for"] = before
        self._results[rows.key] = content_id
        self._rows["results"].append(rows.result)
        if rows.task["content_id"] not in self._tasks:
            self._tasks.add(rows.task["content_id"])
            self._rows["tasks"].append(rows.task)
        self._rows["result_scores"] += rows.scores
        self._rows["messages"] += rows.messages

    def taken(self) -> dict[str, pa.Table | Sequence[Row]]:
        """Return the rows by table name, which are then no longer held.

        Many become columns, which take less memory; the import joins few with those of other logs.
        """
        rows, self._rows = self._rows, defaultdict(list)
        return {
            name: as_table(of_table, BY_NAME[name]) if len(of_table) > _FEW_ROWS else of_table
            for name, of_table in rows.items()
        }


def _unique(rows: Sequence[Row]) -> list[Row]:
    return list({row["content_id"]: row for row in rows}.values())
