"""Journals that are being written, read while they grow: only what is new, and without a sync."""

from __future__ import annotations

import fcntl
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Self
from weakref import finalize

from warehouse.core.errors import StoreReadOnly
from warehouse.core.files import open_regular
from warehouse.lake.journal.reading import NOT_AN_ENTRY, parse_entries, parse_run
from warehouse.lake.locks import abandoned_file, is_at, open_recovery_lock

if TYPE_CHECKING:
    from pathlib import Path

    from warehouse.lake.batch import Generation
    from warehouse.lake.journal.journal import Entry

_BLOCK = 4 << 20  # bytes read at once, and the rest of a line


class JournalTail:
    """Reads the lines of a journal that are new since the last call.

    What was written last is read even if the journal has become a batch since then.

    Attributes:
        path: the journal.
        run: its run; None until its first line is read.
        n_bad_lines: lines that are not rows; the recovery moves them to quarantine.

    Raises:
        OSError: the journal cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run: Generation | None = None
        self.n_bad_lines = 0
        self._file = open_regular(path)
        finalize(self, self._file.close)  # a server is stopped with journals open
        self._n_lines = 0
        self._offset = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @property
    def is_gone(self) -> bool:
        """Whether the journal has become a batch, or was removed."""
        return not is_at(self.path, self._file)

    @property
    def is_cut(self) -> bool:
        """Whether lines that were read are no longer there."""
        return os.fstat(self._file.fileno()).st_size < self._offset

    @property
    def written_at(self) -> float:
        """When it was last written, in seconds since 1970."""
        return os.fstat(self._file.fileno()).st_mtime

    def read(self) -> list[Entry] | None:
        """Return the rows of the next lines; None if there is no new line.

        A last line without its end is being written, and is read when it is whole.

        Raises:
            OSError: the journal cannot be read.
        """
        self._file.seek(self._offset)
        lines = self._file.readlines(_BLOCK)
        if lines and not lines[-1].endswith(b"\n"):
            lines.pop()
        entries = []
        for line in lines:
            self._offset += len(line)
            self._n_lines += 1
            try:
                entries += self._parse(line)
            except NOT_AN_ENTRY:
                self.n_bad_lines += 1
        return entries if lines else None

    def _parse(self, line: bytes) -> list[Entry]:
        if self._n_lines == 1:
            self.run = parse_run(line)
            return []
        if self.run is None:
            raise ValueError("the journal does not name its run")
        return parse_entries(line)


def is_being_written(store_path: Path, path: Path) -> bool:
    """Return whether a process has a journal locked; also while another one recovers journals.

    Who recovers them would take a journal that is locked here for one that is being written.

    Raises:
        OSError: the journal cannot be opened.
    """
    with ExitStack() as stack:
        try:
            lock = stack.enter_context(open_recovery_lock(store_path))
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except (StoreReadOnly, OSError):
            pass  # nothing can be recovered here
        return stack.enter_context(abandoned_file(path)) is None
