"""The limit of the caches of object stores: those used least recently go first.

All files of a cache are read together, so that they go together. A cache is in use while a process
that opened it lives, and by what is only there: a journal, or a batch that was not uploaded.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from pathlib import Path

LIMIT = "EVALSTORE_CACHE_MB"
# What can be fetched or computed again.
_FETCHED = {
    *("remote.json", "lake", "staging", "uploaded", "tables", "versions"),
    *("warehouse.duckdb", "warehouse.duckdb.wal"),
}
# Kept as long as this process: by their locks, others see that it uses the caches.
_LOCKS: dict[str, int] = {}


def use(cache: Path) -> None:
    """Note that this process uses a cache from now on; remove others beyond the limit.

    Raises:
        BadInput: `EVALSTORE_CACHE_MB` is not a number.
        OSError: the cache cannot be locked.
    """
    limit = _limit()
    lock = str(_lock(cache))
    if lock not in _LOCKS:
        _LOCKS[lock] = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        fcntl.flock(_LOCKS[lock], fcntl.LOCK_SH)
    os.utime(lock)
    if limit is None:
        return
    caches = sorted(cache.parent.glob("*/remote.json"), key=lambda path: _used_at(path.parent))
    sizes = {path.parent: _size(path.parent) for path in caches}
    total = sum(sizes.values())
    for other, size in sizes.items():
        if total > limit and _remove(other):
            total -= size


def _limit() -> float | None:
    """Return the most bytes of all caches; None if nothing limits them."""
    text = os.environ.get(LIMIT, "")
    if not text:
        return None
    with suppress(ValueError):
        if (limit := float(text)) >= 0:
            return limit * 2**20
    raise BadInput(f"{LIMIT}: takes a number of megabytes, not {text!r}")


def _remove(cache: Path) -> bool:
    """Remove a cache that nobody uses; return whether it was."""
    lock = os.open(_lock(cache), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _has_own_data(cache):
            return False
        removed = cache.with_name(f".{cache.name}.removed")
        cache.rename(removed)
        shutil.rmtree(removed)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True


def _has_own_data(cache: Path) -> bool:
    """Return whether a cache has what its object store may lack, or what we do not know."""
    uploaded = {path.name for path in (cache / "uploaded").glob("*")}
    batches = {path.name for path in (cache / "lake").glob("*") if path.is_dir()}
    others = [path for path in cache.iterdir() if path.name not in _FETCHED]
    return not batches <= uploaded or any(
        path.suffix != ".lock" and not (path.is_dir() and not any(path.iterdir()))
        for path in others
    )


def _lock(cache: Path) -> Path:
    return cache.with_name(f"{cache.name}.lock")


def _used_at(cache: Path) -> float:
    """Return when a process opened a cache (seconds since 1970); 0 if none has noted it."""
    with suppress(OSError):
        return _lock(cache).stat().st_mtime
    return 0.0


def _size(folder: Path) -> int:
    size = 0
    for path in folder.rglob("*"):
        with suppress(OSError):  # removed meanwhile
            size += path.lstat().st_size
    return size
