"""The locks of a store; the operating system releases them whenever their process ends.

Readers of the lake share a lock; `compact` and `forget`, which replace batches, hold it
exclusively, so that no file disappears under a reader. Adding a batch needs no lock.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from warehouse.core.errors import StoreBusy, StoreReadOnly
from warehouse.core.files import open_for_appending, open_regular

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

_LAKE_LOCK = "lake.lock"
_RECOVERY_LOCK = "absorb.lock"  # the name that earlier versions use
_PAUSE_SECONDS = 0.05
# How long to wait for another program that holds the warehouse.
WAIT_SECONDS = 5.0
# How long readers of the lake and commands that replace batches wait for each other.
LAKE_SECONDS = 120.0
# How long a command waits for another one that recovers a journal.
_RECOVERY_SECONDS = 120.0


@contextmanager
def shared_lake_lock(store_path: Path) -> Iterator[None]:
    """Keep batches from being replaced; others may read and add.

    Raises:
        StoreBusy: batches are still being replaced after two minutes.
        StoreReadOnly: the file system has no locks.
    """
    try:
        file = open_for_appending(store_path / _LAKE_LOCK)
    except OSError:
        # Without a store, or in a read-only one, no batch can be replaced.
        yield
        return
    with file:
        busy = f"{store_path}: batches are being merged or forgotten; try again in a moment"
        wait_for(file, fcntl.LOCK_SH, LAKE_SECONDS, busy)
        yield


@contextmanager
def exclusive_lake_lock(store_path: Path, *, wait_seconds: float = LAKE_SECONDS) -> Iterator[None]:
    """Keep all others from reading the lake's files.

    Raises:
        StoreBusy: others still read the lake after `wait_seconds`.
        StoreReadOnly: the store cannot be written.
    """
    with open_lock(store_path / _LAKE_LOCK) as file:
        busy = f"{store_path}: an import, run or sync is reading the lake; try again when it ends"
        wait_for(file, fcntl.LOCK_EX, wait_seconds, busy)
        yield


@contextmanager
def recovery_lock(store_path: Path) -> Iterator[None]:
    """Keep all others from turning journals into batches.

    Raises:
        StoreBusy: another process still does so after two minutes.
        StoreReadOnly: the store cannot be written.
    """
    with open_recovery_lock(store_path) as file:
        busy = "another command is recovering it; try again in a moment"
        wait_for(file, fcntl.LOCK_EX, _RECOVERY_SECONDS, busy)
        yield


def open_recovery_lock(store_path: Path) -> BinaryIO:
    """Open the file that is locked while journals become batches.

    Raises:
        StoreReadOnly: it cannot be created.
    """
    return open_lock(store_path / _RECOVERY_LOCK)


def open_lock(path: Path) -> BinaryIO:
    """Open a lock file; create it if it does not exist.

    Raises:
        StoreReadOnly: it cannot be created.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return open_for_appending(path)
    except OSError as error:
        raise StoreReadOnly(f"{path}: {error.strerror}; the store cannot be written") from error


def open_locked(path: Path, kind: int = fcntl.LOCK_EX) -> BinaryIO:
    """Open a file for appending and lock it; create it if it does not exist.

    Another process may take a file that is not locked for abandoned and remove it, even between
    its creation and its locking; then it is created again.

    Args:
        path: the file.
        kind: a lock operation of `fcntl`.

    Raises:
        BlockingIOError: another process holds the lock, and `kind` does not wait.
        OSError: the file cannot be created or locked.
    """
    while True:
        file = open_for_appending(path)
        try:
            fcntl.flock(file, kind)
            if is_at(path, file):
                return file
        except OSError:
            file.close()
            raise
        file.close()


@contextmanager
def abandoned_file(path: Path) -> Iterator[BinaryIO | None]:
    """Open and lock a file that no process has locked; None if one has, or the file is gone."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(open_regular(path))
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (FileNotFoundError, BlockingIOError):
            yield None
        else:
            yield file if is_at(path, file) else None


def is_at(path: Path, file: BinaryIO) -> bool:
    """Return whether the path still leads to the open file."""
    with suppress(FileNotFoundError):
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    return False


def wait_for(file: BinaryIO, kind: int, seconds: float, busy: str) -> bool:
    """Acquire a lock; return whether it had to be waited for.

    Args:
        file: the lock file.
        kind: `fcntl.LOCK_SH` or `fcntl.LOCK_EX`.
        seconds: how long to wait at most.
        busy: the error message if that was not long enough.

    Raises:
        StoreBusy: another process still holds the lock.
        StoreReadOnly: the file system has no locks, or its lock server does not answer.
    """
    give_up_at = time.monotonic() + seconds
    has_waited = False
    while True:
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= give_up_at:
                raise StoreBusy(busy) from None
        except OSError as error:
            raise StoreReadOnly(
                f"{file.name}: cannot be locked ({error.strerror}); without locks, the store can "
                "only be read: move it to a file system that has them"
            ) from error
        else:
            return has_waited
        has_waited = True
        time.sleep(_PAUSE_SECONDS)
