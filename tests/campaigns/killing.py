"""Interrupts work in a forked child at a chosen moment, as `kill -9` or a full disk would.

The parent has imported everything and forks a child for each moment, so that all moments can be
tried in the time that a few new interpreters would take. A moment is a file-system operation (a
file opened for writing, created, renamed, removed or flushed, by Python or on its behalf), or a
maximum size of files, which also interrupts writes by DuckDB and Arrow.
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
_SECONDS = 600  # work that takes longer is considered to hang


@dataclass(frozen=True)
class CommandResult:
    """How work in a child ended.

    Attributes:
        is_killed: whether it was killed at the chosen moment.
        error: the traceback if it failed by itself; otherwise empty.
    """

    is_killed: bool
    error: str = ""


def kill_at_each_operation(work: Work) -> Iterator[int]:
    """Repeat the work, killed one operation later each time, until it completes.

    Yields the number of each kill, so that the caller can check what is left. Each attempt starts
    from what the last one left.

    Raises:
        AssertionError: an attempt failed by itself.
    """
    for operation in count(1):
        ended = forked(work, at_operation=operation)
        if ended.error:
            raise AssertionError(ended.error)
        if not ended.is_killed:
            return
        yield operation


def forked(
    work: Work,
    *,
    at_operation: int | None = None,
    at_bytes: int | None = None,
    full_at_bytes: int | None = None,
    after_seconds: float | None = None,
) -> CommandResult:
    """Do the work in a child process, and interrupt it at a moment.

    Args:
        work: the work.
        at_operation: kill it before the n-th operation, from 1.
        at_bytes: kill it when a file would exceed this size.
        full_at_bytes: let writes fail at this size of a file, as on a full disk.
        after_seconds: kill it after this time.

    Raises:
        AssertionError: the child hangs.
    """
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns if there are other threads; the child uses none of their locks.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(reading)
        _in_child(
            work,
            writing,
            at_operation=at_operation,
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
    return CommandResult(is_killed=ending < 0, error=error)


def _in_child(
    work: Work,
    errors: int,
    *,
    at_operation: int | None,
    at_bytes: int | None,
    full_at_bytes: int | None,
    after_seconds: float | None,
) -> None:
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        # Without a handler, SIGALRM ends a process immediately, like SIGKILL.
        signal.setitimer(signal.ITIMER_REAL, after_seconds or _SECONDS)
        if at_operation is not None:
            _kill_at_operation(at_operation)
        if at_bytes is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        limit = at_bytes if at_bytes is not None else full_at_bytes
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        work()
    except BaseException:  # noqa: BLE001 - reported to the parent
        os.write(errors, traceback.format_exc().encode())
    finally:
        os._exit(0)


def _kill_at_operation(number: int) -> None:
    n_done = 0

    def operation() -> None:
        nonlocal n_done
        n_done += 1
        if n_done == number:
            os.kill(os.getpid(), signal.SIGKILL)

    def on_audit(event: str, arguments: tuple[Any, ...]) -> None:
        is_written = event == "open" and bool((arguments[2] or 0) & _WRITING)
        if event in _DEEDS or (is_written and arguments[0] != os.devnull):
            operation()

    sys.addaudithook(on_audit)
    # Flushes and Arrow's own writes have no audit event.
    import pyarrow.parquet as pq

    _before(os, "fsync", operation)
    _before(pq.ParquetWriter, "write_table", operation)
    _before(pq.ParquetWriter, "close", operation)


def _before(owner: Any, name: str, operation: Callable[[], None]) -> None:
    original = getattr(owner, name)

    def watched(*arguments: Any, **named: Any) -> Any:
        operation()
        return original(*arguments, **named)

    setattr(owner, name, watched)
