"""The journal of a run, in which every reply is on disk before it counts.

`<store>/journals/<ULID>.jsonl`, one JSON object per line: first the run, then a row of a lake table
or several rows that only count together.
The journal becomes the batch of the same name when its run ends or, if its process was killed,
with the next command. A lock on the file distinguishes active journals from abandoned ones; a
lock on the run keeps a second process from running it too. `<ULID>.size` next to it has its size,
without which a journal that was cut between two lines could not be told from a whole one.
"""

from __future__ import annotations

import base64
import errno
import fcntl
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import IO, TYPE_CHECKING, Self

from warehouse.core.errors import StoreReadOnly, StoreUnreadable
from warehouse.core.files import read_regular
from warehouse.core.formats.values import utf8
from warehouse.core.schemas import BY_NAME
from warehouse.lake.atomic import sync_folder
from warehouse.lake.journal import FOLDER
from warehouse.lake.locks import open_locked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path
    from types import TracebackType

    from warehouse.core.formats.masking import Mask
    from warehouse.core.types import Row
    from warehouse.lake.batch import Generation

_LONGEST_SIZE = 20  # bytes
_VERSION = 1
# Of the first line.
RUN_KEYS = ("suite", "run_id", "generation", "parent")


@dataclass(frozen=True, slots=True)
class Entry:
    """A row and the name of its table in the lake."""

    table: str
    row: Row


class Journal:
    """A journal that is being written; a context manager that holds its lock.

    Attributes:
        name: its ULID, which becomes the batch's name.
        path: the file.
        is_full: whether the disk is full, so that only calls in progress can still be recorded.

    Args:
        store_path: folder of the store.
        run: the run.
        mask: masks the secrets in every row.
        reserve_bytes: disk space to reserve for calls in progress.
        survives_power_loss: whether rows are on disk when `append` returns. If not, they are with
            the operating system: they survive the process, however it ends, but not the machine.
    """

    def __init__(
        self,
        store_path: Path,
        run: Generation,
        *,
        mask: Mask | None = None,
        reserve_bytes: int = 0,
        survives_power_loss: bool = True,
    ) -> None:
        from ulid import ULID

        from warehouse.core.formats.masking import Mask

        self.name = str(ULID())
        self.path = store_path / FOLDER / f"{self.name}.jsonl"
        self.is_full = False
        self._mask = mask or Mask()
        self._survives_power_loss = survives_power_loss
        self._reserve = self.path.with_suffix(".reserve")
        self._file = self._create()
        self._size_file: int | None = None
        try:
            # Space for calls in progress when the disk fills up; released when it does.
            _write_zeros(self._reserve, reserve_bytes)
            self._write(_line({"journal": _VERSION, **_run_document(run)}))
            self._size_file = os.open(_size_path(self.path), os.O_WRONLY | os.O_CREAT, 0o666)
            self._note_size(self._file.tell())
            sync_folder(self.path.parent)
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
        with suppress(OSError):
            if not self._survives_power_loss:
                os.fsync(self._file.fileno())
            # A process forked from this one may still have the file open.
            fcntl.flock(self._file.fileno(), fcntl.LOCK_UN)
        self.leave()

    def append(self, entries: Iterable[Entry]) -> None:
        """Write rows, each of which counts by itself.

        Raises:
            UnknownColumn: a row has a key that its table lacks; nothing was written.
            OSError: the rows could not be written; the journal is unchanged.
        """
        self._append(b"".join(map(_line, self._documents(entries))))

    def append_together(self, entries: Iterable[Entry]) -> None:
        """Write rows of which all count or none, whenever the process is killed.

        Raises:
            UnknownColumn, OSError: as `append`.
        """
        self._append(_line({"rows": list(self._documents(entries))}))

    def leave(self) -> None:
        """Close its files, as a forked process does; the journal stays with its maker."""
        self._file.close()
        if self._size_file is not None:
            os.close(self._size_file)
            self._size_file = None

    def _append(self, lines: bytes) -> None:
        try:
            self._write(lines)
        except OSError as error:
            if error.errno not in {errno.ENOSPC, errno.EDQUOT} or self.is_full:
                raise
            self.is_full = True
            self._reserve.unlink(missing_ok=True)
            self._write(lines)

    def discard(self) -> None:
        """Remove the journal of a run that did not start."""
        remove_journal(self.path)
        self.leave()

    def _documents(self, entries: Iterable[Entry]) -> Iterator[dict[str, object]]:
        entries = list(entries)
        for entry in entries:
            BY_NAME[entry.table].check_columns(entry.row)
        for entry in entries:
            yield {"table": entry.table, "row": _json_row(entry.row, self._mask)}

    def _create(self) -> IO[bytes]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return open_locked(self.path)
        except OSError as error:
            raise StoreReadOnly(
                f"{self.path.parent}: {error.strerror}; the store cannot be written"
            ) from error

    def _write(self, data: bytes) -> None:
        end = os.fstat(self._file.fileno()).st_size
        try:
            written = 0
            while written < len(data):
                written += self._file.write(data[written:]) or 0
            if self._survives_power_loss:
                os.fsync(self._file.fileno())
        except BaseException:
            # The next line would continue a half-written one.
            with suppress(OSError):
                os.ftruncate(self._file.fileno(), end)
                self._file.seek(end)
            raise
        self._note_size(end + len(data))

    def _note_size(self, size: int) -> None:
        # Without a flush: it never gets to the disk before the lines that were flushed.
        if self._size_file is not None:
            with suppress(OSError):
                os.pwrite(self._size_file, b"%020d" % size, 0)


def missing_bytes(path: Path) -> int:
    """Return how many bytes of a journal were written, but are no longer there.

    Raises:
        OSError: the journal cannot be read.
    """
    try:
        written = int(read_regular(_size_path(path), max_bytes=_LONGEST_SIZE))
    except (OSError, ValueError):  # of an earlier version, or being recovered
        written = 0
    return max(0, written - path.stat().st_size)


def remove_journal(path: Path) -> None:
    """Remove a journal and what is next to it, the journal itself last."""
    for file in (path.with_suffix(".reserve"), _size_path(path), path):
        file.unlink(missing_ok=True)


def _size_path(path: Path) -> Path:
    return path.with_suffix(".size")


def journal_paths(store_path: Path) -> list[Path]:
    """Return the paths of all journals, oldest first.

    Raises:
        StoreUnreadable: the folder cannot be listed.
    """
    folder = store_path / FOLDER
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".jsonl")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise StoreUnreadable(f"{folder}: cannot be read ({error.strerror})") from error


def _run_document(run: Generation) -> dict[str, str | None]:
    return dict(zip(RUN_KEYS, (*run.run, run.generation, run.parent), strict=True))


def _line(document: Mapping[str, object]) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode() + b"\n"


def _json_row(row: Row, mask: Mask) -> dict[str, object]:
    # One search of all texts takes a fraction of the time of one for each.
    texts = {key: utf8(value) for key, value in row.items() if isinstance(value, str)}
    masked = dict(zip(texts, mask.texts([*texts.values()]), strict=True))
    others = (key for key in row if key not in masked)
    return {**row, **masked, **{key: _json_value(row[key], mask) for key in others}}


def _json_value(value: object, mask: Mask) -> object:
    if isinstance(value, str):
        return mask.text(utf8(value))
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(mask.bytes(value)).decode()
    if isinstance(value, list):
        return [_json_value(item, mask) for item in value]
    return value


def _write_zeros(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.write(bytes(size))
        file.flush()
        os.fsync(file.fileno())
