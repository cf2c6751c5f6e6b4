"""The readers, and how a file finds its own: by what it holds, not by its name alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.formats.openclaw import runs as openclaw
from ingest.formats.palindrome.logs import is_log, read_log
from ingest.formats.posters import workspace as posters
from ingest.formats.posters.layout import is_ledger, is_published
from ingest.reading import Reading, Reject, SourceFile
from warehouse.formats.model_files import is_model_file, model_row
from warehouse.formats.task_files import is_task_file, task_rows
from warehouse.formats.yaml.documents import MappingNode, Node, YamlError, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Reader:
    """A legacy format.

    Attributes:
        format: its name for people.
        matches: tells the format by a document's content; the path is a hint.
        read: makes rows of it.
    """

    format: str
    matches: Callable[[Node, Path], bool]
    read: Callable[[SourceFile, Node], Reading]


@dataclass(frozen=True, slots=True)
class PathReader:
    """A format that is more than a file to be held in memory: a folder, or a log of any size.

    Attributes:
        format: its name for people.
        claims: tells, by what it holds, whether a folder or file is of the format. What lies in a
            folder that is claimed belongs to it and is not looked at singly.
        read: makes readings of it. It is given a function that reads a file, and gives None
            where it cannot, which is reported then.
    """

    format: str
    claims: Callable[[Path], bool]
    read: Callable[[Path, Callable[[Path], SourceFile | None]], Iterable[Reading]]


def path_reader(path: Path) -> PathReader | None:
    """Find the reader that claims a path; none does where it may not be looked at."""
    try:
        readers = FOLDER_READERS if path.is_dir() else FILE_READERS
        return next((reader for reader in readers if reader.claims(path)), None)
    except OSError:
        return None


def read_file(file: SourceFile) -> Reading:
    """Read a file with the reader that knows its content; what none can read is rejected."""
    try:
        node = parse(file.data)
    except YamlError as error:
        return _rejected(file, str(error), error.line or None)
    for reader in READERS:
        if reader.matches(node, file.path):
            return reader.read(file, node)
    return _rejected(file, "no log, task file or model file: its fields are of no known format")


def _rejected(file: SourceFile, reason: str, line: int | None = None) -> Reading:
    return Reading("unknown", rejects=[Reject(reason, line, raw=file.data)])


def _read_task_file(file: SourceFile, node: Node) -> Reading:
    reading = Reading("palindrome task file")
    if isinstance(node, MappingNode):
        rows, reading.violations = task_rows(
            node, task_set=file.name.removesuffix(file.path.suffix)
        )
        reading.rows["tasks"] = [{**row, "file_sha256": file.sha256} for row in rows]
    return reading


def _read_model_file(file: SourceFile, node: Node) -> Reading:
    reading = Reading("model file")
    if isinstance(node, MappingNode):
        row, reading.violations = model_row(node, file_name=file.name)
        reading.rows["models"] = [{**row, "file_sha256": file.sha256}]
    return reading


READERS: tuple[Reader, ...] = (
    Reader("palindrome task file", lambda node, _: is_task_file(node), _read_task_file),
    Reader("palindrome log", lambda node, _: is_log(node), read_log),
    Reader(
        "model file", lambda node, p: is_model_file(node, folder=p.parent.name), _read_model_file
    ),
)

FOLDER_READERS: tuple[PathReader, ...] = (
    PathReader("openclaw run", openclaw.is_run, openclaw.read_run),
    PathReader("poster workspace", posters.is_workspace, posters.read_workspace),
    PathReader("published poster report", is_published, posters.read_published_folder),
)
FILE_READERS: tuple[PathReader, ...] = (
    PathReader("openclaw log", openclaw.is_log, openclaw.read_run),
    PathReader("openclaw prompts", openclaw.is_prompts, openclaw.read_prompts),
    PathReader("poster ledger", is_ledger, posters.read_ledger_file),
)
