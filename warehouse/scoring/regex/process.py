"""The process that runs regular expressions which may never end: started, asked, ended."""

import atexit
import contextlib
import marshal
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

TIMEOUT = "regex_timeout"
# The worker counts its own CPU seconds. This is for a worker that cannot run at all.
_PATIENCE_SECONDS = 30.0
_WORKER = Path(__file__).with_name("worker.py")


class WorkerLostError(Exception):
    """The worker ended, or had to be ended, before it answered; the message is the reason."""


class _Worker:
    """One process and the socket to it."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            # A session of its own: Ctrl-C in the terminal is for the parent to handle.
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-I", "-S", str(_WORKER)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            self._connection = Connection(ours.detach())

    def request(self, pattern: str, texts: Sequence[str], seconds: float) -> Iterator[str]:
        try:
            self._connection.send_bytes(marshal.dumps((pattern, seconds, list(texts))))
            for _ in range(len(texts) + 1):
                if not self._connection.poll(seconds + _PATIENCE_SECONDS):
                    raise WorkerLostError(TIMEOUT)
                yield self._connection.recv_bytes().decode()
        except (EOFError, OSError) as error:
            raise WorkerLostError(self._why_it_ended()) from error

    def _why_it_ended(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self._process.wait(_PATIENCE_SECONDS)
            if status != -signal.SIGPROF:
                return f"regex_failed: the worker ended with status {status}"
        return TIMEOUT

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._connection.close()
        self._process.kill()
        self._process.wait()

    def disown(self) -> None:
        """Let go of a process that belongs to our parent."""
        self._connection.close()
        # Else subprocess would wait for a process that is not our child.
        self._process.returncode = 0


_lock = threading.Lock()
_current: _Worker | None = None


def ask(pattern: str, texts: Sequence[str], seconds: float) -> Iterator[str]:
    """The worker's answers as they come: one for the pattern, then one for each text.

    The first is empty or says what is wrong with the pattern, and then there are no others. The
    rest are `1`, `0`, or the name of an error. One caller at a time; others wait.

    Args:
        pattern: a regular expression.
        texts: what to match whole.
        seconds: CPU time for one text, and for compiling the pattern.

    Raises:
        WorkerLostError: no further answer comes; the next call starts another worker.
    """
    with _lock:
        finished = False
        try:
            answers = _worker().request(pattern, texts, seconds)
            wrong = next(answers)
            yield wrong
            if not wrong:
                yield from answers
            finished = True
        except OSError as error:
            raise WorkerLostError(f"regex_failed: {error}") from error
        finally:
            if not finished:
                _drop()


def close() -> None:
    """End the worker, if there is one. The next question starts another."""
    with _lock:
        _drop()


def _worker() -> _Worker:
    global _current  # noqa: PLW0603 - one worker per process, shared by all threads
    if _current is None:
        _current = _Worker()
    return _current


def _drop() -> None:
    global _current  # noqa: PLW0603
    if _current is not None:
        _current.close()
        _current = None


def _after_fork() -> None:
    global _current, _lock  # noqa: PLW0603
    # A thread that does not exist in this process may have held the lock.
    _lock = threading.Lock()
    if _current is not None:
        _current.disown()
        _current = None


atexit.register(close)
os.register_at_fork(after_in_child=_after_fork)
