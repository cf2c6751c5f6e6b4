r"""Users' regular expressions, matched so that none of them can hang the program.

A pattern whose work is bounded (`bounds`) runs in this process. Any other runs in a separate one
(`worker`), because nothing can interrupt Python's matcher from a thread. A process takes 15 ms of
CPU: with one for each answer, a run of 200 recorded answers would take four times as long.

The package `regex` has a time limit but reads patterns differently, which would change verdicts:
`\w` matches Thai vowel marks but not `²`, `\s` not `\x1c`, `[[:alpha:]]` is a class, `a{e}` matches
approximately. It also counts wall-clock time, and bounds neither memory nor compilation.
"""

import marshal
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from warehouse.engine.scoring.columns import map_by_key
from warehouse.engine.scoring.regex.bounds import longest_bounded_text
from warehouse.engine.scoring.regex.worker import REFUSED

TIMEOUT = "regex_timeout"

_WORKER = Path(__file__).with_name("worker.py")
_SECONDS_PER_TEXT = 1.0
# Of a pattern that times out this often in one call, the texts that are left are not tried: over a
# million texts it would hold up an import for days.
_MAX_LOSSES = 100


@dataclass(frozen=True, slots=True)
class Match:
    """Whether a pattern matched a whole text.

    Attributes:
        matched: None if unknown.
        reason: why it is unknown: `regex_timeout`; `invalid: ...` for a pattern that cannot be
            compiled; `regex_failed: ...` if the worker process failed.
    """

    matched: bool | None
    reason: str | None = None


_MATCHED, _UNMATCHED = Match(matched=True), Match(matched=False)


def fullmatch(pattern: str, text: str, *, seconds: float = _SECONDS_PER_TEXT) -> Match:
    """Match one text; see `fullmatch_many`."""
    return fullmatch_many(pattern, [text], seconds=seconds)[0]


def fullmatch_many(
    pattern: str, texts: Sequence[str], *, seconds: float = _SECONDS_PER_TEXT
) -> list[Match]:
    """Match whole texts as `re.fullmatch` does, in bounded time and memory.

    What one text gives does not depend on the others: a rebuild must give what an increment gave.
    After a hundred timeouts the rest counts as timed out.

    Args:
        pattern: a regular expression, possibly hostile.
        texts: the texts to match.
        seconds: CPU time for one text, and for compiling the pattern.

    Returns:
        One match per text. A timeout is a value, never an exception.
    """
    longest = longest_bounded_text(pattern)
    unbounded = [text for text in texts if len(text) > longest]
    there = iter(_match_in_worker(pattern, unbounded, seconds))
    return [next(there) if len(text) > longest else _match_here(pattern, text) for text in texts]


def full_match_batch(
    patterns: Sequence[str | None], texts: Sequence[str | None]
) -> list[dict[str, object] | None]:
    """Return for each row whether the whole text matches: `matched`, or the `reason` why not."""
    return map_by_key(_rows, patterns, texts)


def _rows(pattern: str | None, texts: Sequence[str]) -> list[dict[str, object] | None]:
    if pattern is None:
        return [None] * len(texts)
    return [
        {"matched": match.matched, "reason": match.reason}
        for match in fullmatch_many(pattern, texts)
    ]


@lru_cache(maxsize=1024)
def pattern_error(pattern: str) -> str | None:
    """Return what is wrong with a pattern; one that times out on an empty text is wrong."""
    return fullmatch(pattern, "").reason


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str] | Match:
    try:
        return re.compile(pattern)
    except re.error as error:
        return Match(None, f"invalid: {error}")


def _match_here(pattern: str, text: str) -> Match:
    compiled = _compiled(pattern)
    if isinstance(compiled, Match):
        return compiled
    return _MATCHED if compiled.fullmatch(text) else _UNMATCHED


def _match_in_worker(pattern: str, texts: Sequence[str], seconds: float) -> list[Match]:
    matches: list[Match] = []
    n_losses = 0
    while len(matches) < len(texts):
        worker = _run_worker(pattern, texts[len(matches) :], seconds)
        if worker.returncode == REFUSED:
            return [Match(None, f"invalid: {worker.stderr.decode()}")] * len(texts)
        matches += [_MATCHED if answer == ord("1") else _UNMATCHED for answer in worker.stdout[1:]]
        if len(matches) < len(texts):
            n_losses += 1
            # Before the first answer it was being compiled.
            is_last = not worker.stdout or n_losses == _MAX_LOSSES
            n_lost = len(texts) - len(matches) if is_last else 1
            matches += [Match(None, _loss(worker))] * n_lost
    return matches


def _run_worker(
    pattern: str, texts: Sequence[str], seconds: float
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-I", "-S", "-W", "ignore", str(_WORKER)],
        input=marshal.dumps((pattern, seconds, list(texts))),
        capture_output=True,
        check=False,
        # In its own session, so that only the parent receives Ctrl-C in the terminal.
        start_new_session=True,
    )


def _loss(worker: subprocess.CompletedProcess[bytes]) -> str:
    if worker.returncode == -signal.SIGPROF:
        return TIMEOUT
    message = worker.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    return f"regex_failed: {message or f'the worker ended with status {worker.returncode}'}"
