"""The two kinds of files of a log, `.eval` and `.json`: both are a header and samples."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ingest.formats.common.fields import object_of
from ingest.formats.common.json_spans import file_spans
from ingest.formats.inspect.archive import (
    Archive,
    UnusableArchiveError,
    UnusableMemberError,
    member_name,
)
from ingest.formats.inspect.documents import LogObject, UnreadableDocumentError, read_object
from warehouse.core.files import LARGEST_BYTES, open_regular

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO
    from zipfile import ZipInfo

    from ingest.formats.common.json_spans import ObjectSpans

_HEADER, _START = "header.json", "_journal/start.json"
_SAMPLES, _SAMPLES_FOLDER = "samples", "samples/"
_REDUCTIONS = "reductions.json"
# They repeat what the samples hold.
_REPEATED = ("summaries.json", "_journal/summaries/")
_NEWEST_VERSION = 2


class UnusableLogError(Exception):
    """A file of which nothing can be imported; the message says why."""


# Not frozen, which would take twice as long to make; none is changed.
@dataclass(slots=True)
class Part:
    """A part of a log: a sample, or a document that belongs to the log.

    Attributes:
        name: where it is in the log, for messages.
        data: its bytes; None if it cannot be read.
        problem: why it cannot be read.
    """

    name: str
    data: bytes | None
    problem: str = ""


class LogFile(Protocol):
    """A log."""

    def header_parts(self) -> list[Part]:
        """Return the parts that make up the header."""

    def samples(self) -> Iterator[Part]:
        """Yield the samples in the order of the file."""

    def documents(self) -> Iterator[Part]:
        """Yield what is neither header nor sample, and does not repeat them."""


@contextmanager
def open_log(path: Path) -> Iterator[LogFile]:
    """Open a log of either kind.

    Raises:
        UnusableLogError: it is neither.
        OSError: it cannot be read.
    """
    with open_regular(path) as file:
        start = file.read(4)
        if start.startswith(b"PK") or (
            path.suffix == ".eval" and not start.lstrip().startswith(b"{")
        ):
            try:
                with closing(Archive(path)) as archive:
                    yield _ArchivedLog(archive)
            except UnusableArchiveError as error:
                raise UnusableLogError(str(error)) from error
        else:
            yield _JsonLog(file, file_spans(path, {_SAMPLES}))


def merged_header(parts: list[LogObject]) -> LogObject:
    """Return the header that its parts make up.

    Raises:
        UnusableLogError: it lacks what every log has, or is of a newer version.
    """
    value: dict[str, Any] = {}
    for part in parts:
        value |= part.value
    texts = [part.text for part in parts if part.text is not None]
    version = value.get("version", _NEWEST_VERSION)
    if not isinstance(version, int) or version > _NEWEST_VERSION:
        raise UnusableLogError(
            f"version {version!r:.40} of Inspect's log format; evalstore reads 1 and 2"
        )
    spec = object_of(value.get("eval"))
    if not isinstance(spec.get("task"), str) or not isinstance(spec.get("model"), str):
        raise UnusableLogError("not an Inspect log: its eval names no task or no model")
    return LogObject(value, "\n".join(texts) if texts else None)


class _ArchivedLog:
    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        # Of members with the same name the last counts, as for any reader of archives.
        self._by_name = {member.filename: member for member in archive.members}

    def header_parts(self) -> list[Part]:
        name = _HEADER if _HEADER in self._by_name else _START
        if name not in self._by_name:
            raise UnusableLogError(f"the archive has neither {_HEADER} nor {_START}")
        return [self._part(self._by_name[name])]

    def samples(self) -> Iterator[Part]:
        for member in self._archive.members:
            if self._is_sample(member):
                yield self._part(member)

    def documents(self) -> Iterator[Part]:
        for name, member in self._by_name.items():
            is_known = name in {_HEADER, _START} or name.startswith(_REPEATED)
            if not is_known and not self._is_sample(member) and not member.is_dir():
                yield self._part(member)

    def _is_sample(self, member: ZipInfo) -> bool:
        return member.filename.startswith(_SAMPLES_FOLDER) and member.filename.endswith(".json")

    def _part(self, member: ZipInfo) -> Part:
        try:
            return Part(member_name(member), self._archive.read(member))
        except UnusableMemberError as error:
            return Part(member_name(member), None, str(error))


class _JsonLog:
    def __init__(self, file: BinaryIO, spans: ObjectSpans) -> None:
        if spans.problem and "eval" not in spans.members:
            raise UnusableLogError(spans.problem)
        self._file = file
        self._spans = spans

    def header_parts(self) -> list[Part]:
        return [
            self._member(key) for key in self._spans.members if key not in {_SAMPLES, "reductions"}
        ]

    def samples(self) -> Iterator[Part]:
        found = self._spans.lists.get(_SAMPLES)
        if found is not None:
            for number in range(found.n_objects):
                start, end = found.places[2 * number], found.places[2 * number + 1]
                yield self._part(f"samples[{number}]", start, end)
            if found.n_elements > found.n_objects:
                n_others = found.n_elements - found.n_objects
                yield Part(_SAMPLES, None, f"{n_others:,} elements that are not objects")
        elif _SAMPLES in self._spans.members:
            part = self._member(_SAMPLES)
            if part.data is None or part.data.rpartition(b":")[2].strip() not in {b"null}", b"[]}"}:
                yield Part(_SAMPLES, None, part.problem or "not a list")
        if self._spans.problem:
            yield Part("the log", None, self._spans.problem)

    def documents(self) -> Iterator[Part]:
        if "reductions" not in self._spans.members:
            return
        part = self._member("reductions")
        if part.data is None:
            yield part
            return
        try:
            reductions = read_object(part.data)
        except UnreadableDocumentError as error:
            yield Part(part.name, None, str(error))
            return
        if reductions.value["reductions"] is not None:
            data = reductions.as_json(reductions.value["reductions"]).encode()
            yield Part(_REDUCTIONS, data)

    def _member(self, key: str) -> Part:
        start, end = self._spans.members[key]
        part = self._part(key, start, end)
        return part if part.data is None else Part(key, b"{" + part.data + b"}")

    def _part(self, name: str, start: int, end: int) -> Part:
        if end - start > LARGEST_BYTES:
            return Part(name, None, f"{end - start:,} bytes; the limit is {LARGEST_BYTES:,}")
        self._file.seek(start)
        return Part(name, self._file.read(end - start))
