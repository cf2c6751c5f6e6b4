"""A campaign that feeds damaged and hostile input to every reader and command.

    python -m tests.campaigns.fuzz [--inputs N] [--seed S] [--kind KIND]

It finds tracebacks, hangs (300 s of CPU time per round), unbounded memory, files written outside
the store and the target folder, control characters on a terminal, and markup from the data in a
page. Each round has a seed, with which it can be repeated.
"""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import tempfile
import time
import traceback
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from tests.campaigns.fuzz_kinds import KINDS
from tests.campaigns.fuzz_round import BugError, Round

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_CPU_SECONDS = 300
_SECONDS = 1_800  # also on a busy machine
_MOST_MEMORY_KB = 1_500_000


def try_round(kind: Callable[[Round], None], seed: int) -> int:
    """Run a round, and return the number of its inputs.

    Raises:
        BugError: something happened that must not.
    """
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder, _time_limit():
        around = Round(Path(folder), Random(f"{kind.__name__} {seed}"))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            kind(around)
        except BugError:
            raise
        except Exception as error:
            raise BugError(f"{type(error).__name__}: {error}\n{traceback.format_exc()}") from error
        _check_outside(around.folder)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if memory > max(before, _MOST_MEMORY_KB):
            raise BugError(f"{memory:,} KB of memory")
        return around.n_inputs


def _check_outside(folder: Path) -> None:
    known = {"in", "out", "store", "canary", "published-sample"}
    if (folder / "canary").read_text() != "must not change":
        raise BugError("a file outside was changed")
    strange = {path.name for path in folder.iterdir()} - known
    if strange:
        raise BugError(f"written outside: {strange}")


@contextmanager
def _time_limit() -> Iterator[None]:
    def on_alarm(_signal: int, _frame: object) -> None:
        raise BugError(f"a round takes more than {_CPU_SECONDS} s of CPU time, or {_SECONDS} s")

    signal.signal(signal.SIGPROF, on_alarm)
    signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_PROF, _CPU_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, _SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def main() -> None:
    """Run rounds of each kind in turn until there were enough inputs, and print the findings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=[kind.__name__ for kind in KINDS])
    asked = parser.parse_args()
    kinds = [kind for kind in KINDS if asked.kind in (None, kind.__name__)]
    tried: dict[str, int] = {}
    bugs, seed, started, cpu = 0, asked.seed, time.monotonic(), time.process_time()
    try:
        while sum(tried.values()) < asked.inputs:
            for kind in kinds:
                try:
                    n = try_round(kind, seed)
                except BugError as bug:
                    n = 1
                    bugs += 1
                    print(f"BUG --kind {kind.__name__} --seed {seed}: {bug}", flush=True)
                tried[kind.__name__] = tried.get(kind.__name__, 0) + n
            seed += 1
    except KeyboardInterrupt:
        print("stopped")
    counts = ", ".join(f"{name} {n:,}" for name, n in tried.items())
    seconds = f"{time.monotonic() - started:.0f} s, {time.process_time() - cpu:.0f} s of one core"
    print(f"{sum(tried.values()):,} inputs ({counts}); seeds {asked.seed} to {seed - 1}; {seconds}")
    print(f"{bugs} bugs")
    sys.exit(bugs > 0)


if __name__ == "__main__":
    main()
