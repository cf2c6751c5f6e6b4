"""The journal of a run: what was answered is on disk here before it counts.

`<store>/journals/<ULID>.jsonl`, one JSON object a line: first the run, then rows of lake tables.
The journal becomes the batch of the same name: when its run ends, or, where its process was
killed, by the next command. A lock on the file tells a journal that is being written from one
that was left behind; a lock on the run keeps a second process from running it too.
"""

from __future__ import annotations

import base64
import errno
import fcntl
import json
import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Self

from warehouse.errors import StoreBusy, StoreReadOnly, UnknownColumn
from warehouse.formats.masking import Mask
from warehouse.formats.values import is_integer, utf8
from warehouse.hashing import content_hash
from warehouse.lake.batch import Generation
from warehouse.lake.locks import open_locked
from warehouse.schemas import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from types import TracebackType

    from warehouse.types import Row

FOLDER = "journals"
_VERSION = 1
# What a line raises that is not JSON, or not a row of one of our tables.
_NOT_AN_ENTRY = (
    UnknownColumn,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
)
_RUN_KEYS = ("suite", "run_id", "generation", "parent")


@dataclass(frozen=True, slots=True)
class Entry:
    """A row for a table of the lake."""

    table: str
    row: Row


class Journal:
    """A journal being written. Use it as a context manager: leaving it gives up the lock.

    Attributes:
        name: its ULID, which becomes the batch's name.
        path: the file.
        is_full: whether the disk is full, so that only what is under way can still be recorded.
    """

    def __init__(
        self, store: Path, run: Generation, *, mask: Mask | None = None, reserve_bytes: int = 0
    ) -> None:
        from ulid import ULID

        self.name = str(ULID())
        self.path = store / FOLDER / f"{self.name}.jsonl"
        self.is_full = False
        self._mask = mask or Mask()
        self._reserve = self.path.with_suffix(".reserve")
        self._file = self._created()
        self._end = 0
        try:
            # Room for what is under way when the disk gets full: given up when that happens.
            _write_zeros(self._reserve, reserve_bytes)
            self._write(_line({"journal": _VERSION, **_run_document(run)}))
            _sync_folder(self.path.parent)
        except OSError as error:
            self.discard()
            raise StoreReadOnly(f"{self.path.parent}: {error.strerror}; nothing was run") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._reserve.unlink(missing_ok=True)
        self._file.close()

    def append(self, entries: Iterable[Entry]) -> None:
        """Write rows and flush them to disk: when this returns, they are safe.

        Raises:
            UnknownColumn: a row has a key that its table lacks; nothing was written.
            OSError: they could not be written; the journal is as it was.
        """
        entries = list(entries)
        for entry in entries:
            BY_NAME[entry.table].check_columns(entry.row)
        lines = b"".join(_line(self._document(entry)) for entry in entries)
        try:
            self._write(lines)
        except OSError as error:
            if error.errno not in {errno.ENOSPC, errno.EDQUOT} or self.is_full:
                raise
            self.is_full = True
            self._reserve.unlink(missing_ok=True)
            self._write(lines)

    def discard(self) -> None:
        """Remove the journal of a run in which nothing happened."""
        for path in (self._reserve, self.path):
            path.unlink(missing_ok=True)
        self._file.close()

    def _document(self, entry: Entry) -> dict[str, Any]:
        return {
            "table": entry.table,
            "row": {key: _storable(value, self._mask) for key, value in entry.row.items()},
        }

    def _created(self) -> IO[bytes]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return open_locked(self.path)
        except OSError as error:
            raise StoreReadOnly(
                f"{self.path.parent}: {error.strerror}; the store cannot be written"
            ) from error

    def _write(self, data: bytes) -> None:
        try:
            written = 0
            while written < len(data):
                written += self._file.write(data[written:]) or 0
            os.fsync(self._file.fileno())
        except OSError:
            # A line half written would swallow the next one.
            with suppress(OSError):
                os.ftruncate(self._file.fileno(), self._end)
                self._file.seek(self._end)
            raise
        self._end += len(data)


@dataclass(frozen=True, slots=True)
class AbandonedJournal:
    """What a journal holds.

    Attributes:
        run: the run; None where the process was killed before it could say so.
        entries: the rows.
        bad_lines: line number and bytes of lines that cannot be used: no JSON, no row of a table of
            ours, or in a journal whose first line does not say which run it is of.
    """

    run: Generation | None
    entries: tuple[Entry, ...]
    bad_lines: tuple[tuple[int, bytes], ...]


def read_journal(file: IO[bytes]) -> AbandonedJournal:
    """Read a journal. A last line without its end was being written, and never counted."""
    run, entries, bad = None, [], []
    for number, line in enumerate(file, start=1):
        if not line.endswith(b"\n"):
            break
        try:
            document = json.loads(line)
            if number == 1:
                run = _run(document)
            elif run is None:
                bad.append((number, line))
            else:
                entries.append(_entry(document))
        except _NOT_AN_ENTRY:
            bad.append((number, line))
    return AbandonedJournal(run, tuple(entries), tuple(bad))


def _run(document: dict[str, Any]) -> Generation:
    suite, run_id, generation, parent = (document[key] for key in _RUN_KEYS)
    parent = _text(parent) if parent is not None else None
    return Generation(_text(suite), _text(run_id), _text(generation), parent)


def _entry(document: dict[str, Any]) -> Entry:
    """Return a row with its values converted to what its table stores.

    Raises:
        UnknownColumn: the row has a key that its table lacks.
        LookupError, TypeError, ValueError: the document is not a row of a table.
    """
    table, row = BY_NAME[document["table"]], document["row"]
    table.check_columns(row)
    usable = {
        column.name: _FROM_JSON[column.type](row[column.name])
        for column in table.columns
        if row.get(column.name) is not None
    }
    for column in table.columns:
        # The run's own name is added when the journal becomes a batch.
        if not column.nullable and column.name not in usable and column.name not in _RUN_KEYS:
            raise ValueError(f"{table.name} without {column.name}")
    return Entry(table.name, usable)


def journal_paths(store: Path) -> list[Path]:
    """List the journals, oldest first."""
    return sorted((store / FOLDER).glob("*.jsonl"))


@contextmanager
def claimed(store: Path, suite: str, run_id: str) -> Iterator[None]:
    """Keep other processes from running the same run.

    Raises:
        StoreBusy: another process runs it.
        StoreReadOnly: the store cannot be written.
    """
    path = store / FOLDER / f"{content_hash('run', suite, run_id)}.lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open_locked(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _write_pid(file)
    except BlockingIOError:
        raise StoreBusy(f"run {run_id} is being run by {_holder(path)}: nothing was done") from None
    except OSError as error:
        reason = f"{path.parent}: {error.strerror}; the store cannot be written"
        raise StoreReadOnly(reason) from error
    with file:
        yield
        path.unlink(missing_ok=True)


def _write_pid(file: IO[bytes]) -> None:
    try:
        file.truncate(0)
        file.write(f"{os.getpid()}\n".encode())
    except OSError:
        file.close()
        raise


def _holder(path: Path) -> str:
    # Not written yet, or removed at this moment: the lock was held all the same.
    with suppress(OSError):
        if process := path.read_text("ascii").strip():
            return f"the process with id {process}"
    return "another process"


def _run_document(run: Generation) -> dict[str, str | None]:
    return dict(zip(_RUN_KEYS, (*run.run, run.generation, run.parent), strict=True))


def _line(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode() + b"\n"


def _storable(value: Any, mask: Mask) -> Any:  # noqa: ANN401 - any column
    if isinstance(value, str):
        return mask.text(utf8(value))
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(mask.bytes(value)).decode()
    if isinstance(value, list):
        return [_storable(item, mask) for item in value]
    return value


def _text(value: Any) -> str:  # noqa: ANN401 - any JSON
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    value.encode()
    return value


def _texts(value: Any) -> list[str]:  # noqa: ANN401
    return [_text(item) for item in value]


def _integer(value: Any, bits: int) -> int:  # noqa: ANN401
    if not is_integer(value, bits):
        raise TypeError(f"{value!r} is no integer of {bits} bits")
    return value


def _boolean(value: Any) -> bool:  # noqa: ANN401
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither true nor false")
    return value


_FROM_JSON: dict[str, Callable[[Any], Any]] = {
    "VARCHAR": _text,
    "JSON": _text,
    "VARCHAR[]": _texts,
    "BIGINT": partial(_integer, bits=64),
    "INTEGER": partial(_integer, bits=32),
    "DOUBLE": float,
    "BOOLEAN": _boolean,
    "TIMESTAMP": datetime.fromisoformat,
    "BLOB": partial(base64.b64decode, validate=True),
}


def _write_zeros(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.write(bytes(size))
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
