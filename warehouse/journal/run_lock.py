"""The lock of a run: one process at a time runs, resumes or forgets it."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

from warehouse.errors import StoreBusy, StoreReadOnly
from warehouse.hashing import content_hash
from warehouse.journal.journal import FOLDER
from warehouse.lake.locks import open_locked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def run_lock(store_path: Path, suite: str, run_id: str) -> Iterator[None]:
    """Keep other processes from running or forgetting a run.

    Raises:
        StoreBusy: another process holds the lock.
        StoreReadOnly: the store cannot be written.
    """
    path = store_path / FOLDER / f"{content_hash('run', suite, run_id)}.lock"
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
    # The id may not be written yet, or just removed.
    with suppress(OSError):
        if process := path.read_text("ascii").strip():
            return f"the process with id {process}"
    return "another process"
