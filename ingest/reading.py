"""The input and output of readers: everything that a new format needs to know of the import.

A reader has two functions. `claims(candidate)` decides whether a file or folder is of its format;
`read(path, context)` yields a `Reading` for each part of it that can be imported separately: a run,
a task set, a report. Rows that fit into memory go into `Reading.rows`; a log of any size is a
`Stream`, which the import reads block by block. The import does the rest for all formats: it
compares rows with those in the lake, decides on generations, and writes rows and provenance.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from warehouse.core.files import open_regular
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from warehouse.core.formats.yaml.fields import Violation
    from warehouse.core.types import Row, RunRow
    from warehouse.lake.batch import RunKey

HEAD_BYTES = 65_536
_BEGIN_BYTES = 1000  # of which nearly all may be spaces

T = TypeVar("T")


class Candidate:
    """A file or folder that a reader may claim.

    Attributes:
        path: as given, or as found in a folder that was given.
        is_folder: whether it is a folder that can be accessed.
        is_file: whether it is a regular file that can be accessed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            mode = path.stat().st_mode
        except (OSError, ValueError):
            mode = 0
        self.is_folder = stat.S_ISDIR(mode)
        self.is_file = stat.S_ISREG(mode)

    @cached_property
    def head(self) -> bytes:
        """The first 64 KiB; empty for a folder and for a file that cannot be read."""
        if not self.is_file:
            return b""
        try:
            with open_regular(self.path) as file:
                return file.read(HEAD_BYTES)
        except OSError:
            return b""

    def begins_object_with(self, *keys: bytes, suffix: str = ".json") -> bool:
        """Return whether a file of a suffix begins with a JSON object, and these are in its head.

        Args:
            keys: parts of the text, such as keys in their quotes.
            suffix: how the file's name has to end.
        """
        return self._begins_with(b"{", keys, suffix)

    def begins_list_with(self, *keys: bytes) -> bool:
        """Return whether a file begins with a JSON list of objects; see `begins_object_with`."""
        return self._begins_with(b"[{", keys, ".json")

    def _begins_with(self, start: bytes, keys: tuple[bytes, ...], suffix: str) -> bool:
        head = self.head if self.path.suffix == suffix else b""
        begin = head[:_BEGIN_BYTES].removeprefix(b"\xef\xbb\xbf")
        return b"".join(begin.split()).startswith(start) and all(key in head for key in keys)

    def inside(self, name: str) -> Candidate:
        """Return a file or folder inside this folder."""
        return Candidate(self.path / name)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was read into memory.

    Attributes:
        path: as given, or as found in a folder that was given.
        data: its bytes, with secrets masked under `--redact`.
        sha256: hash of the bytes, hexadecimal.
        place: see `Reading.place`.
    """

    path: Path
    data: bytes
    sha256: str
    place: str = ""

    @property
    def name(self) -> str:
        """The file's name, as valid UTF-8."""
        return utf8(self.path.name)


@dataclass(frozen=True, slots=True)
class Reject:
    """A record, or a whole file, that cannot be used; it goes to quarantine.

    Attributes:
        reason: what is wrong, human-readable.
        line: line number, from 1; None for the whole file.
        byte_offset: position of the record in the file.
        raw: the record's bytes; None if they cannot be kept.
    """

    reason: str
    line: int | None = None
    byte_offset: int | None = None
    raw: bytes | None = None


@dataclass(slots=True, kw_only=True)
class Block:
    """Part of a stream.

    Attributes:
        path: the file that it was read from, one of `Stream.paths`.
        run_id: the run that its rows belong to; None for rows that belong to no run.
        rows: rows by table name, with `content_id`, those of `results` and `events` with `seq`;
            the import fills in suite, run, generation and file.
        rejects: records that cannot be used.
        violations: broken rules of the format's specification.
        secrets: line and kind of each possible secret, in what was searched.
        unsearched: number of the first of some lines, and the lines, which the import searches for
            secrets together with those of other small files.
    """

    path: Path
    run_id: str | None
    rows: dict[str, pa.Table | Sequence[Row]] = field(default_factory=dict)
    rejects: list[Reject] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    secrets: list[tuple[int, str]] = field(default_factory=list)
    unsearched: tuple[int, bytes] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Rows that need not fit into memory.

    Attributes:
        paths: the files that they are read from.
        tables: names of the tables that they may belong to.
        blocks: reads the files from the start and yields the same blocks at each call. It is
            called again if the lake has the run but lacks some of the rows.
        header: columns of the header of each run that has none among the reading's rows.
        is_run: whether the reading's run is one even if the stream has no rows of it.
        parts: how the ids of its rows begin, all of one length, where the stream may be only a
            part of its run: rows of the run with other ids are not missing from it. Empty if the
            stream should have all of the run.
        is_open: whether any other file may have more of its runs, so that nothing is missing from
            it: each record counts by itself, as those of judges do.
        has_traces: whether its rows are traces of agents, with all that the files say: no copy of
            the files is kept, or each trace would lie in the lake twice.
    """

    paths: tuple[Path, ...]
    tables: tuple[str, ...]
    blocks: Callable[[], Iterator[Block]]
    header: RunRow = field(default_factory=lambda: cast("RunRow", {}))
    is_run: bool = False
    parts: frozenset[str] = frozenset()
    is_open: bool = False
    has_traces: bool = False


@dataclass(slots=True)
class Reading:
    """What a reader found in a file or folder, or in a part of it.

    Attributes:
        format: name of the format, recorded with each file.
        rows: rows by table name. Those of a run need `suite`, `run_id` and `content_id`; the import
            fills in the generation. The header of a streamed run needs no `content_id`.
        run: suite and id of the run that it describes, if it describes one.
        violations: broken rules of the format's specification.
        rejects: records that cannot be used.
        files: the files that were read into memory for it.
        stream: rows of its run, or runs, that are read in blocks.
        is_restated: whether options of this import change what the files say, so that the
            reading is compared even if the same files were imported before.
        place: where folders name the run or model of a file: which one it is. Elsewhere, the same
            bytes are another file.
    """

    format: str
    rows: dict[str, Sequence[Row]] = field(default_factory=dict)
    run: RunKey | None = None
    violations: list[Violation] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    files: list[SourceFile] = field(default_factory=list)
    stream: Stream | None = None
    is_restated: bool = False
    place: str = ""

    def rename_run(self, run_id: str) -> None:
        """Give the run another id, in all rows."""
        if self.run is None:
            return
        old, self.run = self.run, (self.run[0], run_id)
        for table, rows in self.rows.items():
            self.rows[table] = [
                {**row, "run_id": run_id} if (row.get("suite"), row.get("run_id")) == old else row
                for row in rows
            ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """How to import.

    Attributes:
        run_as: new id for the one run that is imported.
        replace: a conflicting log opens a new generation of its run.
        strict: a file that breaks a rule of its format is refused.
        redact: possible secrets are masked.
        restore: files that `forget` removed may come back.
        format_options: options of single formats, each of a type that its reader looks up.
    """

    run_as: str | None = None
    replace: bool = False
    strict: bool = False
    redact: bool = False
    restore: bool = False
    format_options: tuple[object, ...] = ()

    def format_option(self, kind: type[T]) -> T | None:
        """Return the option of a type; None if it was not given."""
        return next((each for each in self.format_options if isinstance(each, kind)), None)


class ImportContext(Protocol):
    """The import as its readers see it."""

    @property
    def options(self) -> ImportOptions:
        """How to import."""

    def read(self, path: Path) -> SourceFile | None:
        """Read a file of bounded size; None, with a row in quarantine, if that fails."""

    def skips(self, file: SourceFile) -> bool:
        """Return whether a file need not be parsed: imported before, or forgotten."""

    def decline(self, path: Path, reason: str) -> None:
        """Report a file that goes with a tool's logs and holds nothing to import."""

    def also_import(self, paths: Iterable[Path]) -> None:
        """Import more files after those that were given."""

    def shared(self, make: Callable[[], T]) -> T:
        """Return what `make` returns, made once for each import.

        If it has a method `close`, that is called at the end of the import.
        """
