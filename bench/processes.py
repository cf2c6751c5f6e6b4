"""A way to do some work, in a process of its own, whose time and memory are its own."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Says at its end what the process held at most. `ru_maxrss` is not asked: on Linux a new program
# begins with what its parent held.
_PEAK = """
import atexit, sys
def peak():
    with open("/proc/self/status") as status:
        (line,) = (line for line in status if line.startswith("VmHWM"))
    print(line.split()[1], file=sys.stderr)
atexit.register(peak)
"""


@dataclass(frozen=True)
class Spent:
    """What a process took.

    Attributes:
        seconds: of wall time, the interpreter's start included.
        megabytes: at most, in memory.
        output: what it printed.
    """

    seconds: float
    megabytes: float
    output: str


def python(code: str, *arguments: str, may_fail: bool = False) -> Spent:
    """Run Python code in a new process.

    Args:
        code: a program.
        arguments: its `sys.argv[1:]`.
        may_fail: an exit code other than 0 is expected.
    """
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _PEAK + code, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - start
    if done.returncode and not may_fail:
        raise SystemExit(f"a side of the benchmark failed:\n{done.stderr}")
    return Spent(seconds, int(done.stderr.split()[-1]) * 1024 / 1e6, done.stdout)


def command(*words: str) -> float:
    """Run a program, and give its seconds of wall time."""
    start = time.perf_counter()
    subprocess.run(words, cwd=ROOT, capture_output=True, check=True, env={**os.environ})
    return time.perf_counter() - start


def medians(rounds: int, *ways: tuple[str, ...]) -> list[float]:
    """Run programs in turn, and give each one's median time in seconds."""
    times = [[command(*way) for way in ways] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*times, strict=True)]
