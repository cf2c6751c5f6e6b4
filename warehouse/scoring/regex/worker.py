"""The program of the process that runs users' regular expressions.

It is started by file name and imports the standard library alone. Requests come over the socket
that is its standard input: a marshalled (pattern, CPU seconds per text, texts). It answers once for
the pattern (nothing, or what is wrong with it), then once for each text (1, 0, or what went wrong).
A text that takes too long ends the process: the kernel's timer needs no cooperation from the match.
"""

import marshal
import os
import re
import resource
import signal
import warnings
from multiprocessing.connection import Connection

MEMORY_BYTES = 2 << 30
IDLE_SECONDS = 5.0
_ERRORS = (re.error, RecursionError, OverflowError, MemoryError)


def _answer(connection: Connection, pattern: str, seconds: float, texts: list[str]) -> None:
    """Answer one request; the timer runs from the first step to the last."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        fullmatch = re.compile(pattern).fullmatch
    except _ERRORS as error:
        connection.send_bytes(str(error).encode(errors="backslashreplace") or b"cannot be compiled")
        return
    connection.send_bytes(b"")
    for text in texts:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            connection.send_bytes(b"1" if fullmatch(text) else b"0")
        except (RecursionError, MemoryError) as error:
            connection.send_bytes(type(error).__name__.encode())


def _serve(connection: Connection) -> None:
    """Answer requests until the other side closes or its process is gone."""
    parent = os.getppid()
    while True:
        signal.setitimer(signal.ITIMER_PROF, 0)
        # A fork of the parent may hold its end of the socket open: then there is no end of file.
        while not connection.poll(IDLE_SECONDS):
            if os.getppid() != parent:
                return
        try:
            request = connection.recv_bytes()
        except EOFError:
            return
        _answer(connection, *marshal.loads(request))  # noqa: S302 - comes from our own parent


def main() -> None:
    """Serve until the parent is gone."""
    # Masks and ignored signals are inherited; either would disable the timer.
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    # A killed worker must not leave a core file behind.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    try:
        _serve(Connection(os.dup(0)))
    except (BrokenPipeError, ConnectionResetError):
        return


if __name__ == "__main__":
    main()
