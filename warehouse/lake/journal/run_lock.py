"""The lock of a run: one process runs, resumes or forgets it, or any number record into it."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from warehouse.core.errors import StoreBusy, StoreReadOnly
from warehouse.core.files import read_regular
from warehouse.core.hashing import content_hash
from warehouse.lake.journal import FOLDER
from warehouse.lake.locks import is_at, open_locked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO


@contextmanager
def run_lock(store_path: Path, suite: str, run_id: str) -> Iterator[None]:
    """Keep other processes from running, recording or forgetting a run, or a part of it.

    Raises:
        StoreBusy: another process holds the lock.
        StoreReadOnly: the store cannot be written.
    """
    with _lock(store_path, suite, run_id, fcntl.LOCK_EX) as file:
        yield
        Path(file.name).unlink(missing_ok=True)


@contextmanager
def shard_lock(store_path: Path, suite: str, run_id: str, shard: str) -> Iterator[None]:
    """Keep other processes from running the same shard of a run, the whole run, or forgetting it.

    Raises:
        StoreBusy: another process holds the lock of the run or of the shard.
        StoreReadOnly: the store cannot be written.
    """
    file = shared_run_lock(store_path, suite, run_id)
    try:
        with run_lock(store_path, suite, f"{run_id} (shard {shard})"):
            yield
    finally:
        release_shared(file)


def shared_run_lock(store_path: Path, suite: str, run_id: str) -> BinaryIO:
    """Keep other processes from running or forgetting a run; they may record into it too.

    Return the lock's file, to be passed to `release_shared`.

    Raises:
        StoreBusy: another process holds the lock for itself.
        StoreReadOnly: the store cannot be written.
    """
    return _lock(store_path, suite, run_id, fcntl.LOCK_SH)


def release_shared(file: BinaryIO) -> None:
    """Release a shared lock; the last one to do so removes its file."""
    path = Path(file.name)
    with file, suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # To become exclusive, the lock was released first: the file may be gone.
        if is_at(path, file):
            path.unlink(missing_ok=True)
        fcntl.flock(file, fcntl.LOCK_UN)


def _lock(store_path: Path, suite: str, run_id: str, kind: int) -> BinaryIO:
    path = store_path / FOLDER / f"{content_hash('run', suite, run_id)}.lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open_locked(path, kind | fcntl.LOCK_NB)
        _write_pid(file)
    except BlockingIOError:
        raise StoreBusy(f"run {run_id} is being run by {_holder(path)}: nothing was done") from None
    except OSError as error:
        reason = f"{path.parent}: {error.strerror}; the store cannot be written"
        raise StoreReadOnly(reason) from error
    return file


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
        if process := read_regular(path).decode("ascii", "replace").strip():
            return f"the process with id {process}"
    return "another process"
