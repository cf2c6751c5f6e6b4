"""ATIF documents of any size: their members, and their steps one by one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest.formats.common.json_spans import file_spans, value_offset
from ingest.formats.common.records import UnreadableRecordError, parsed
from ingest.reading import Reject
from warehouse.core.files import open_regular
from warehouse.core.formats.secrets import find_secrets, lines_of, mask

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    from ingest.formats.common.collector import RowCollector
    from ingest.formats.common.json_spans import ObjectSpans
    from warehouse.core.types import Json, JsonObject

STEPS = "steps"
_LONGEST_VALUE = 64 * 2**20


@dataclass(slots=True)
class Document:
    """An ATIF document in a file, or in a part of one.

    Attributes:
        root: its members without the steps.
        rejects: members that cannot be used.
        value_starts: where the value of each member begins.
    """

    path: Path
    spans: ObjectSpans
    is_masked: bool = False
    root: JsonObject = field(default_factory=dict)
    rejects: list[Reject] = field(default_factory=list)
    value_starts: dict[str, int] = field(default_factory=dict)

    def steps(self, rows: RowCollector) -> Iterator[Json]:
        """Yield the steps; those that cannot be read, and secrets, are added to `rows`.

        Raises:
            OSError: the file cannot be read.
        """
        listed = self.spans.lists.get(STEPS)
        if listed is None:
            return
        with open_regular(self.path) as file:
            line, done = 1, 0
            # A step in which the file is cut off has no end; that is a problem of the document.
            for start, end in zip(listed.places[::2], listed.places[1::2], strict=False):
                line += _line_feeds(file, done, start)
                done = start
                data, secrets = _read(file, start, end, line, is_masked=self.is_masked)
                rows.secrets += secrets
                try:
                    yield parsed(data)[0]
                except UnreadableRecordError as error:
                    rows.rejects.append(Reject(str(error), line, start, data))
        if listed.n_elements > listed.n_objects:
            n_others = listed.n_elements - listed.n_objects
            rows.rejects.append(Reject(f"steps that are no objects: {n_others}"))

    def first_step(self) -> bytes:
        """Return the text of the first step; empty without one.

        Raises:
            OSError: the file cannot be read.
        """
        listed = self.spans.lists.get(STEPS)
        if listed is None or not listed.n_objects:
            return b""
        with open_regular(self.path) as file:
            start, end = listed.places[:2]
            return _read(file, start, end, 1, is_masked=self.is_masked)[0]

    def add_problems(self, rows: RowCollector) -> None:
        """Add what is wrong with the document and its secrets outside the steps to `rows`."""
        rows.rejects += self.rejects
        with open_regular(self.path) as file:
            for name, (start, end) in self.spans.members.items():
                if name != STEPS:
                    line = 1 + _line_feeds(file, 0, start)
                    rows.secrets += _read(file, start, end, line, is_masked=False)[1]


def read_document(
    path: Path, *, is_masked: bool, start: int = 0, end: int | None = None
) -> Document:
    """Return the document in a file, or in a part of it, without its steps.

    Raises:
        OSError: the file cannot be read.
    """
    spans = file_spans(path, {STEPS}, start=start, end=end)
    document = Document(path, spans, is_masked)
    if spans.problem:
        document.rejects.append(Reject(spans.problem))
    with open_regular(path) as file:
        for name, place in spans.members.items():
            if name == STEPS:
                continue
            data, _ = _read(file, *place, 1, is_masked=is_masked)
            offset = value_offset(data) or 0
            document.value_starts[name] = place[0] + offset
            try:
                document.root[name] = parsed(data[offset:])[0]
            except UnreadableRecordError as error:
                document.rejects.append(Reject(f"{name}: {error}", byte_offset=place[0], raw=data))
    return document


def _read(
    file: BinaryIO, start: int, end: int, line: int, *, is_masked: bool
) -> tuple[bytes, list[tuple[int, str]]]:
    """Return a part of a file, and the line and kind of each possible secret in it."""
    if end - start > _LONGEST_VALUE:
        return b"", []
    file.seek(start)
    data = file.read(end - start)
    secrets = find_secrets(data)
    return mask(data, secrets) if is_masked else data, lines_of(data, secrets, line)


def _line_feeds(file: BinaryIO, start: int, end: int) -> int:
    file.seek(start)
    n_feeds = 0
    while start < end:
        block = file.read(min(end - start, 2**20))
        if not block:
            break
        n_feeds += block.count(b"\n")
        start += len(block)
    return n_feeds
