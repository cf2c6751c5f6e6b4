"""Ends a piece of work at a chosen moment, as `kill -9` or a full disk does, in a forked child.

A warm process forks a child for each moment: nothing is imported anew, so that all moments can be
tried in the time that a few new interpreters would take. Moments are counted in deeds (each file
opened for writing, made, renamed, removed or flushed, by Python or in its name), or in the bytes
that a file may have at most (which also stops what DuckDB and Arrow write themselves).
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import traceback
import warnings
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Work = Callable[[], object]

_DEEDS = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "os.link", "os.symlink"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_SECONDS = 60  # what takes longer hangs


@dataclass(frozen=True)
class Ended:
    """How a piece of work ended.

    Attributes:
        is_killed: it was stopped at the chosen moment.
        error: the traceback, where it failed by itself; empty otherwise.
    """

    is_killed: bool
    error: str = ""


def killed_at_each_deed(work: Work) -> Iterator[int]:
    """Do the work again and again, killed one deed later each time, until it comes to its end.

    Gives the number of each kill, for the caller to look at what is left. What one kill leaves,
    the next attempt finds.

    Raises:
        AssertionError: an attempt failed by itself.
    """
    for deed in count(1):
        ended = forked(work, at_deed=deed)
        if ended.error:
            raise AssertionError(ended.error)
        if not ended.is_killed:
            return
        yield deed


def forked(
    work: Work,
    *,
    at_deed: int | None = None,
    at_bytes: int | None = None,
    full_at_bytes: int | None = None,
    after_seconds: float | None = None,
) -> Ended:
    """Do the work in a child process, to be stopped at a moment.

    Args:
        work: what is done.
        at_deed: killed at the n-th deed, from 1, before it is done.
        at_bytes: killed where a file would grow beyond.
        full_at_bytes: not killed: the disk is full, for each file, at this size.
        after_seconds: killed after this time.

    Raises:
        AssertionError: the child hangs.
    """
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns where other threads run: the child uses none of what they may hold.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(reading)
        _in_child(
            work,
            writing,
            at_deed=at_deed,
            at_bytes=at_bytes,
            full_at_bytes=full_at_bytes,
            after_seconds=after_seconds,
        )
    os.close(writing)
    with os.fdopen(reading) as pipe:
        error = pipe.read()
    _, status = os.waitpid(child, 0)
    ending = os.waitstatus_to_exitcode(status)
    if ending == -signal.SIGALRM and after_seconds is None:
        raise AssertionError("the work hangs")
    return Ended(is_killed=ending < 0, error=error)


def _in_child(
    work: Work,
    errors: int,
    *,
    at_deed: int | None,
    at_bytes: int | None,
    full_at_bytes: int | None,
    after_seconds: float | None,
) -> None:
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        # SIGALRM ends a process on the spot where nobody handles it, as SIGKILL does.
        signal.setitimer(signal.ITIMER_REAL, after_seconds or _SECONDS)
        if at_deed is not None:
            _kill_at_deed(at_deed)
        if at_bytes is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        limit = at_bytes if at_bytes is not None else full_at_bytes
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        work()
    except BaseException:  # noqa: BLE001 - told to the parent
        os.write(errors, traceback.format_exc().encode())
    finally:
        os._exit(0)


def _kill_at_deed(number: int) -> None:
    n_done = 0

    def deed() -> None:
        nonlocal n_done
        n_done += 1
        if n_done == number:
            os.kill(os.getpid(), signal.SIGKILL)

    def on_audit(event: str, arguments: tuple[Any, ...]) -> None:
        is_written = event == "open" and bool((arguments[2] or 0) & _WRITING)
        if event in _DEEDS or (is_written and arguments[0] != os.devnull):
            deed()

    sys.addaudithook(on_audit)
    # What no audit event tells of: a flush, and Arrow's own writing.
    import pyarrow.parquet as pq

    _before(os, "fsync", deed)
    _before(pq.ParquetWriter, "write_table", deed)
    _before(pq.ParquetWriter, "close", deed)


def _before(owner: Any, name: str, deed: Callable[[], None]) -> None:
    original = getattr(owner, name)

    def watched(*arguments: Any, **named: Any) -> Any:
        deed()
        return original(*arguments, **named)

    setattr(owner, name, watched)
