"""The process that answers the calls of agents, with limits of time and memory.

DuckDB cannot be interrupted within a block of rows, and does not count all the memory that it
takes. A process of its own can be ended by the kernel; the server goes on with a new one.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING, NamedTuple

from warehouse.app.agents.queries import stopped_message
from warehouse.app.agents.session import open_session
from warehouse.app.agents.tools import call_tool
from warehouse.app.console.crash import report_text, summary, write_report
from warehouse.core.errors import EvalstoreError
from warehouse.engine.connection import memory_limit

if TYPE_CHECKING:
    from collections.abc import Mapping
    from multiprocessing.connection import Connection
    from pathlib import Path

    from warehouse.app.agents.session import AgentSession


@dataclass(frozen=True, slots=True)
class Limits:
    """What a call may take.

    Attributes:
        max_seconds: time of a query.
        max_memory_mb: its memory.
    """

    max_seconds: float
    max_memory_mb: int


class Answer(NamedTuple):
    """The answer to a call.

    Attributes:
        text: JSON, or what went wrong.
        is_error: whether something did.
    """

    text: str
    is_error: bool = False


class Worker:
    """Answers calls one after the other, in a process that is replaced when it has ended."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path = path
        self._limits = limits
        self._start()

    def answer(self, name: str, arguments: Mapping[str, object]) -> Answer:
        """Return the answer to a call."""
        try:
            self._calls.send((name, dict(arguments)))
            answer: Answer = self._calls.recv()
        except (EOFError, OSError):
            self._process.join()
            message = self._end_message(self._process.exitcode)
            self._calls.close()
            self._start()
            return Answer(message, is_error=True)
        return answer

    def close(self) -> None:
        """End the process."""
        self._calls.close()
        self._process.kill()
        self._process.join()

    def _start(self) -> None:
        context = get_context("spawn")
        self._calls, theirs = context.Pipe()
        self._process = context.Process(
            target=_answer_calls, args=(theirs, self._path, self._limits), daemon=True
        )
        self._process.start()
        theirs.close()

    def _end_message(self, exit_code: int | None) -> str:
        if exit_code == -signal.SIGALRM:
            return stopped_message(self._limits.max_seconds)
        return (
            f"the process that answers ended (status {exit_code}), perhaps for lack of memory; "
            "select fewer rows or columns, or filter before joining"
        )


def answer_call(session: AgentSession, name: str, arguments: Mapping[str, object]) -> Answer:
    """Return the answer of a tool; whatever goes wrong is an answer, too."""
    try:
        return Answer(call_tool(session, name, arguments))
    except EvalstoreError as error:
        return Answer(str(error), is_error=True)
    except Exception as error:  # noqa: BLE001 - the server must answer, and go on
        return Answer(_crash_message(error), is_error=True)


def _answer_calls(calls: Connection, path: Path, limits: Limits) -> None:
    """Answer calls until the server closes its end of the pipe, or has ended."""
    # Masks and ignored signals are inherited; either would disable the timer.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    session = open_session(path, max_seconds=limits.max_seconds, is_expendable=True)
    with memory_limit(limits.max_memory_mb, covers_process=True):
        while True:
            try:
                name, arguments = calls.recv()
            except EOFError:
                return
            calls.send(answer_call(session, name, arguments))


def _crash_message(error: Exception) -> str:
    """Write a crash report, and return a message that says where it is."""
    message = f"evalstore failed unexpectedly ({summary(error)})"
    try:
        return f"{message}; crash report: {write_report(report_text(error, 'mcp'))}"
    except OSError as unwritable:
        return f"{message}; no crash report was written: {unwritable}"
