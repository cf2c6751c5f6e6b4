"""Locks of a store: the system gives them up when their process ends, however it ends.

Who reads the lake's files shares it; who replaces batches (`compact`, `forget`) has it alone, so
that no file is removed under a reader. Who only adds a batch needs neither.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any

from warehouse.errors import StoreBusy, StoreReadOnly

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LAKE_LOCK = "lake.lock"
_ABSORB_LOCK = "absorb.lock"
_PAUSE_SECONDS = 0.05
# How long a command waits for one that replaces batches, or the other way round.
_LAKE_SECONDS = 120.0
# How long a command waits for another one that makes a batch of a journal.
_ABSORB_SECONDS = 120.0


@contextmanager
def shared_lake_lock(store: Path) -> Iterator[None]:
    """Keep batches from being replaced meanwhile; others may read and add.

    Raises:
        StoreBusy: batches are still being replaced after two minutes.
    """
    try:
        file = (store / _LAKE_LOCK).open("w")
    except OSError:
        # Where there is no store, or nobody can write, nobody replaces anything.
        yield
        return
    with file:
        busy = f"{store}: batches are being merged or forgotten; wait until it is done"
        wait_for(file, fcntl.LOCK_SH, _LAKE_SECONDS, busy)
        yield


@contextmanager
def exclusive_lake_lock(store: Path, *, wait_seconds: float = _LAKE_SECONDS) -> Iterator[None]:
    """Keep everybody else from reading the lake's files meanwhile.

    Raises:
        StoreBusy: others still read the lake after `wait_seconds`.
        StoreReadOnly: the store cannot be written.
    """
    with open_lock(store / _LAKE_LOCK) as file:
        busy = f"{store}: an import, a run or a sync reads the lake; try again when it is done"
        wait_for(file, fcntl.LOCK_EX, wait_seconds, busy)
        yield


@contextmanager
def recovery_lock(store: Path) -> Iterator[None]:
    """Keep everybody else from making batches of journals meanwhile.

    Raises:
        StoreBusy: somebody still does after two minutes.
        StoreReadOnly: the store cannot be written.
    """
    with open_lock(store / _ABSORB_LOCK) as file:
        busy = "another command is taking it in; wait until it is done"
        wait_for(file, fcntl.LOCK_EX, _ABSORB_SECONDS, busy)
        yield


def open_lock(path: Path) -> IO[str]:
    """Open a lock file, which is made where it is not there.

    Raises:
        StoreReadOnly: it cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("w")
    except OSError as error:
        raise StoreReadOnly(f"{path}: {error.strerror}; the store cannot be written") from error


def open_locked(path: Path, kind: int = fcntl.LOCK_EX) -> IO[bytes]:
    """Open a file for appending, which is made where it is not there, and lock it.

    A file that is not locked is taken for left behind, and removed: also between its making and
    its locking, in which case it is made again.

    Args:
        path: the file.
        kind: the lock, of `fcntl`.

    Raises:
        BlockingIOError: another holds it, and `kind` does not wait.
        OSError: it cannot be made or locked.
    """
    while True:
        file = path.open("ab", buffering=0)
        try:
            fcntl.flock(file, kind)
            if _is_at(path, file):
                return file
        except OSError:
            file.close()
            raise
        file.close()


@contextmanager
def abandoned_file(path: Path) -> Iterator[IO[bytes] | None]:
    """Open a file that nobody holds any more, alone; None where somebody does, or removed it."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(path.open("rb"))
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (FileNotFoundError, BlockingIOError):
            yield None
        else:
            yield file if _is_at(path, file) else None


def _is_at(path: Path, file: IO[Any]) -> bool:
    """Tell whether an open file is still the one of that name."""
    with suppress(FileNotFoundError):
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    return False


def wait_for(file: IO[str], kind: int, seconds: float, busy: str) -> bool:
    """Wait until a lock can be had; tells whether it could not be had at once.

    Args:
        file: the lock file.
        kind: `fcntl.LOCK_SH` or `fcntl.LOCK_EX`.
        seconds: how long.
        busy: the message where that was not long enough.

    Raises:
        StoreBusy: others still hold it.
    """
    give_up_at = time.monotonic() + seconds
    has_waited = False
    while True:
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= give_up_at:
                raise StoreBusy(busy) from None
        else:
            return has_waited
        has_waited = True
        time.sleep(_PAUSE_SECONDS)
