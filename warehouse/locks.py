"""Locks of a store: the system gives them up when their process ends, however it ends.

Who reads the lake's files shares it; who replaces batches (`compact`, `forget`) has it alone, so
that no file is removed under a reader. Who only adds a batch needs neither.
"""

from __future__ import annotations

import fcntl
import time
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from warehouse.errors import StoreBusy, StoreReadOnly

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LAKE_LOCK = "lake.lock"
_PAUSE_SECONDS = 0.05
# How long a command waits for one that replaces batches, or the other way round.
_LAKE_SECONDS = 120.0


@contextmanager
def sharing_lake(store: Path) -> Iterator[None]:
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
def having_lake_alone(store: Path, *, wait_seconds: float = _LAKE_SECONDS) -> Iterator[None]:
    """Keep everybody else from reading the lake's files meanwhile.

    Raises:
        StoreBusy: others still read the lake after `wait_seconds`.
        StoreReadOnly: the store cannot be written.
    """
    with open_lock(store / _LAKE_LOCK) as file:
        busy = f"{store}: an import, a run or a sync reads the lake; try again when it is done"
        wait_for(file, fcntl.LOCK_EX, wait_seconds, busy)
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
