"""The program of a process that matches one pattern that might never finish.

It is started by file name and imports only the standard library. Its standard input is a marshalled
(pattern, CPU seconds per text, texts). It writes `.` when the pattern is compiled, then `1` or `0`
for each text as soon as it is known.
A text that takes too long ends the process: the kernel's timer needs no cooperation from the match.
A pattern that cannot be compiled gives exit status `REFUSED`, with the reason on standard error.
"""

import marshal
import os
import re
import resource
import signal
import sys

REFUSED = 3  # Python itself uses 1 and 2
MEMORY_BYTES = 2 << 30


def main() -> None:
    """Answer the request on standard input."""
    # Masks and ignored signals are inherited; either would disable the timer.
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    # A killed process must not leave a core file behind.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    request = sys.stdin.buffer.read()
    pattern, seconds, texts = marshal.loads(request)  # noqa: S302 - our parent's
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        fullmatch = re.compile(pattern).fullmatch
    except (re.error, RecursionError, OverflowError, MemoryError) as error:
        os.write(2, (str(error) or "cannot be compiled").encode(errors="backslashreplace"))
        os._exit(REFUSED)
    os.write(1, b".")
    for text in texts:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        os.write(1, b"1" if fullmatch(text) else b"0")


if __name__ == "__main__":
    main()
