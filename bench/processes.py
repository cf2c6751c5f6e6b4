"""Work in separate processes, so that time and memory are measured for each."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Prints the peak memory at the end. `ru_maxrss` is not used: on Linux it starts with the value of
# the parent process.
_PEAK = """
import atexit, sys
def peak():
    with open("/proc/self/status") as status:
        (line,) = (line for line in status if line.startswith("VmHWM"))
    print(line.split()[1], file=sys.stderr)
atexit.register(peak)
"""
# The program as a shell starts it, which sets for its process what other code has to set itself.
# It ends the process at its exit, before what was to be called later.
_PROGRAM = """
import sys, time, evalstore
sys.argv[0] = "evalstore"
try:
    evalstore.main()
finally:
    print(time.process_time())
    atexit.register(peak)
"""


@dataclass(frozen=True)
class Spent:
    """The resources that a process used.

    Attributes:
        seconds: wall time, including the start of the interpreter.
        megabytes: peak memory.
        output: its standard output.
    """

    seconds: float
    megabytes: float
    output: str


def python(
    code: str, *arguments: str, may_fail: bool = False, executable: str = sys.executable
) -> Spent:
    """Run Python code in a new process.

    Args:
        code: a program.
        arguments: its `sys.argv[1:]`.
        may_fail: whether an exit code other than 0 is accepted.
        executable: the interpreter, which may be that of another environment.
    """
    start = time.perf_counter()
    done = subprocess.run(
        [executable, "-c", _PEAK + code, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
    )
    seconds = time.perf_counter() - start
    if done.returncode and not may_fail:
        raise SystemExit(f"a side of the benchmark failed:\n{done.stderr}")
    return Spent(seconds, int(done.stderr.split()[-1]) * 1024 / 1e6, done.stdout)


def evalstore(*arguments: str, may_fail: bool = False) -> Spent:
    """Run the program; the last line of its output is its processor time in seconds.

    Args:
        arguments: its arguments.
        may_fail: whether an exit code other than 0 is accepted.
    """
    return python(_PROGRAM, *arguments, may_fail=may_fail)


def environment() -> dict[str, str]:
    """Return the environment of programs.

    Modules stay compiled from one run to the next, as those of an installed program are.
    """
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def command(*words: str) -> float:
    """Run a program, and return its wall time in seconds."""
    start = time.perf_counter()
    subprocess.run(words, cwd=ROOT, capture_output=True, check=True, env=environment())
    return time.perf_counter() - start


def medians(rounds: int, *ways: tuple[str, ...]) -> list[float]:
    """Run programs alternately, and return the median time of each in seconds."""
    times = [[command(*way) for way in ways] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*times, strict=True)]
