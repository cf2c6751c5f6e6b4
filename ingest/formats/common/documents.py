"""Files that hold one JSON value of bounded size, and the readings of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from ingest.formats.common.collector import part_id
from ingest.formats.common.fields import object_of
from ingest.formats.common.records import UnreadableRecordError, parsed
from ingest.reading import Reading, Reject, Stream
from warehouse.core.files import read_regular
from warehouse.core.formats.secrets import find_secrets, mask

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from pathlib import Path

    from ingest.reading import Block, ImportContext, SourceFile
    from warehouse.core.types import Json, JsonObject, RunRow

T = TypeVar("T")

NO_OBJECT = "not a JSON object"
BOM = b"\xef\xbb\xbf"
_MOST_BYTES = 16 * 2**20


def json_in(data: bytes) -> Json:
    """Return the value in the bytes of a file, which may begin with a byte order mark.

    Raises:
        UnreadableRecordError: it is not JSON.
    """
    return parsed(data.removeprefix(BOM))[0]


def object_in(file: SourceFile) -> JsonObject:
    """Return the object in a file.

    Raises:
        UnreadableRecordError: it is no JSON object.
    """
    value = json_in(file.data)
    if not isinstance(value, dict):
        raise UnreadableRecordError(NO_OBJECT)
    return value


def object_beside(path: Path, *, redact: bool = False) -> JsonObject:
    """Return the object in a small file next to a log; an empty one if there is none."""
    try:
        data = read_regular(path, max_bytes=_MOST_BYTES)
        return object_of(json_in(mask(data, find_secrets(data)) if redact else data))
    except (OSError, UnreadableRecordError):
        return {}


def opened(path: Path, context: ImportContext, read: Callable[[], T]) -> T | None:
    """Return what `read` makes of a file; None, with a row in quarantine, if it cannot be read."""
    try:
        return read()
    except OSError:
        context.read(path)  # reports why
        return None


def read_json(
    path: Path, context: ImportContext, form: str, problem_of: Callable[[Json], str]
) -> Generator[Reading, None, Json]:
    """Return the value in a file; None, after a reading with the reason, if it is of no use.

    Args:
        path: the file.
        context: the import.
        form: name of the format.
        problem_of: why a value cannot be used; "" if it can.
    """
    file = context.read(path)
    if file is None:
        return None
    try:
        value = json_in(file.data)
        problem = problem_of(value)
    except UnreadableRecordError as error:
        value, problem = None, str(error)
    if problem:
        yield Reading(form, rejects=[Reject(problem, raw=file.data)], files=[file])
    return None if problem else value


def read_object(
    path: Path,
    context: ImportContext,
    form: str,
    problem_of: Callable[[JsonObject], str] = lambda _: "",
) -> Generator[Reading, None, JsonObject | None]:
    """Return the object in a file; None, after a reading with the reason, if it is of no use."""

    def problem(value: Json) -> str:
        return problem_of(value) if isinstance(value, dict) else NO_OBJECT

    value = yield from read_json(path, context, form, problem)
    return value if isinstance(value, dict) else None


def run_reading(
    form: str,
    header: RunRow,
    paths: tuple[Path, ...],
    tables: tuple[str, ...],
    blocks: Callable[[], Iterator[Block]],
    *,
    parts: Iterable[str] = (),
    rejects: Iterable[Reject] = (),
) -> Reading:
    """Return the reading of a run whose rows are a stream.

    Args:
        form: name of the format.
        header: the run, with `suite` and `run_id`.
        paths: the files that the rows are read from.
        tables: the tables that they may belong to.
        blocks: reads them.
        parts: how the ids of the rows begin, if the run may have others.
        rejects: records that cannot be used.
    """
    parts = frozenset(parts)
    return Reading(
        form,
        rows={"runs": [{"origin": "import", **header}]},
        run=(header["suite"], header["run_id"]),
        rejects=list(rejects),
        place=part_id(f"{header['run_id']} {sorted(parts)}"),
        stream=Stream(
            paths=paths,
            tables=tables,
            blocks=blocks,
            is_run=True,
            parts=parts,
            has_traces="steps" in tables,
        ),
    )
