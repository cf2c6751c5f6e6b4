r"""Users' regular expressions, matched so that none of them can hang the program.

A pattern whose work is bounded (`bounds`) runs in this process. Any other runs in a separate one
(`worker`), because nothing can interrupt Python's matcher from a thread.

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
_LINEAR = Path(__file__).with_name("linear.py")
_SECONDS_PER_TEXT = 1.0
_LINEAR_SECONDS = 60.0
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
    After a first timeout, the texts are matched in linear time; only patterns that cannot be
    (back-references, lookarounds) time out. After a hundred timeouts the rest counts as timed out.

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
    matches: dict[int, Match] = {}
    waiting = list(range(len(texts)))
    n_losses = 0
    while waiting:
        worker = _run_worker(pattern, [texts[at] for at in waiting], seconds)
        if worker.returncode == REFUSED:
            return [Match(None, f"invalid: {worker.stderr.decode()}")] * len(texts)
        matches |= _answers(waiting, worker)
        waiting = [at for at in waiting if at not in matches]
        if worker.returncode != 0 and waiting:
            loss = Match(None, _loss(worker))
            if not worker.stdout:
                return [loss] * len(texts)  # while it was compiled
            matches[waiting[0]] = loss
            n_losses += 1
            if n_losses == _MAX_LOSSES:
                return [matches.get(at, loss) for at in range(len(texts))]
            if loss.reason == TIMEOUT and n_losses == 1:
                linear = _run_worker(pattern, [texts[at] for at in waiting])
                matches |= _answers(waiting, linear)
            waiting = [at for at in waiting if at not in matches]
    return [matches[at] for at in range(len(texts))]


def _answers(asked: Sequence[int], worker: subprocess.CompletedProcess[bytes]) -> dict[int, Match]:
    known = {ord("1"): _MATCHED, ord("0"): _UNMATCHED}
    answers = zip(asked, worker.stdout[1:], strict=False)
    return {at: known[answer] for at, answer in answers if answer in known}


def _run_worker(
    pattern: str, texts: Sequence[str], seconds: float | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Match texts in a process, by backtracking if seconds are given, else in linear time."""
    linear = str(_LINEAR) if seconds is None else None
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-I", "-S", "-W", "ignore", str(_WORKER)],
        input=marshal.dumps((pattern, seconds or _LINEAR_SECONDS, list(texts), linear)),
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
