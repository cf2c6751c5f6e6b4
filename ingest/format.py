"""What a format is: the readers of a tool, and the suites that its runs belong to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from ingest.reading import Candidate, ImportContext, Reading, SourceFile

    Read = Callable[[Path, ImportContext], Iterable[Reading]]
    Parse = Callable[[SourceFile, ImportContext], Reading]


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads a small file, a folder, or a log of any size.

    Attributes:
        format: human-readable name of what it reads.
        claims: whether a file or folder is of the format, decided by a quick look at its
            content. The files of a claimed folder belong to it; no other reader sees them.
        read: yields the readings of a file or folder that was claimed.
    """

    format: str
    claims: Callable[[Candidate], bool]
    read: Read


@dataclass(frozen=True, slots=True)
class Format:
    """A tool whose files can be imported: `FORMAT` in `ingest/formats/TOOL/recognition.py`.

    Attributes:
        name: name of the tool.
        readers: its readers, by their place among all: of those that claim a file, that with the
            lowest number reads it.
        suites: the suites that its runs belong to; empty where the logs name them.
        of_named: reads files that were given by name and that no other reader claims.
        fallback: reads files that were given by name and that nothing claims, to say what is wrong.
    """

    name: str
    readers: Mapping[int, Reader] = field(default_factory=dict)
    suites: tuple[str, ...] = ()
    of_named: Reader | None = None
    fallback: Reader | None = None


def declining(reason: str) -> Read:
    """Return a `Reader.read` for files that go with a tool's logs and hold nothing to import.

    Args:
        reason: what such a file is, for the message.
    """

    def read(path: Path, context: ImportContext) -> Iterator[Reading]:
        context.decline(path, reason)
        return iter(())

    return read


def small_file(parse: Parse) -> Read:
    """Return a `Reader.read` for files that fit into memory.

    Args:
        parse: makes a reading of a file. It is called only for new files.
    """

    def read(path: Path, context: ImportContext) -> Iterator[Reading]:
        file = context.read(path)
        if file is not None and not context.skips(file):
            reading = parse(file, context)
            reading.files = [file]
            yield reading

    return read
