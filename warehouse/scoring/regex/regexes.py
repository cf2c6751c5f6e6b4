"""Users' regular expressions, run so that none of them can hang the program.

A pattern whose work is bounded (`regex_cost`) runs here. Any other runs in a process of its own
(`regex_process`), which ends when a text takes too long: nothing can interrupt Python's matcher
from a thread.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from warehouse.scoring.columns import map_by_key
from warehouse.scoring.regex.cost import pattern_cost
from warehouse.scoring.regex.process import TIMEOUT, WorkerLostError, ask, close

__all__ = [
    "ABANDONED",
    "TIMEOUT",
    "Match",
    "close",
    "full_match_batch",
    "fullmatch",
    "fullmatch_many",
    "pattern_error",
]

ABANDONED = "regex_abandoned"

# Worst case of a match that runs in this process: about 20 ms.
_STEPS_HERE = 1_000_000
_SECONDS_PER_TEXT = 1.0
_TEXTS_PER_REQUEST = 1_000
# Without it a bad pattern over a million texts would take a million timeouts.
_LOSSES_PER_CALL = 5


@dataclass(frozen=True, slots=True)
class Match:
    """Whether a pattern matched a whole text.

    Attributes:
        matched: None where it could not be found out.
        reason: why not: `regex_timeout`; `regex_abandoned` for the texts after the fifth timeout
            in one call; `invalid: ...` for a pattern that cannot be compiled; `regex_failed: ...`
            where the worker failed.
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
    """Match whole texts as `re.fullmatch` does, in bounded time.

    Args:
        pattern: a regular expression, possibly hostile.
        texts: what to match.
        seconds: CPU time for one text, and for compiling the pattern.

    Returns:
        One match per text. A timeout is a value, never an exception.
    """
    if _is_bounded(pattern, max(map(len, texts), default=0)):
        there = []
    else:
        there = [at for at, text in enumerate(texts) if not _is_bounded(pattern, len(text))]
    if len(there) == len(texts):
        return _match_there(pattern, texts, seconds)
    compiled = _compiled(pattern)
    if isinstance(compiled, str):
        return [Match(None, compiled)] * len(texts)
    matches_there = dict(
        zip(there, _match_there(pattern, [texts[at] for at in there], seconds), strict=True)
    )
    return [
        matches_there.get(at) or (_MATCHED if compiled.fullmatch(text) else _UNMATCHED)
        for at, text in enumerate(texts)
    ]


def full_match_batch(
    patterns: Sequence[str | None], texts: Sequence[str | None]
) -> list[dict[str, object] | None]:
    """Whether each whole text matches its pattern: `matched`, or the `reason` for not knowing."""
    return map_by_key(_rows, patterns, texts)


def _rows(pattern: str | None, texts: Sequence[str]) -> list[dict[str, object] | None]:
    if pattern is None:
        return [None] * len(texts)
    return [
        {"matched": match.matched, "reason": match.reason}
        for match in fullmatch_many(pattern, texts)
    ]


def pattern_error(pattern: str) -> str | None:
    """What is wrong with a pattern, or None; one that takes too long on an empty text is wrong."""
    return fullmatch(pattern, "").reason


def _is_bounded(pattern: str, length: int) -> bool:
    cost = pattern_cost(pattern)
    return cost is not None and cost.steps(length) <= _STEPS_HERE


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str] | str:
    try:
        return re.compile(pattern)
    except re.error as error:
        return f"invalid: {error}"


def _match_there(pattern: str, texts: Sequence[str], seconds: float) -> list[Match]:
    matches: list[Match] = []
    losses = 0
    while len(matches) < len(texts) and losses < _LOSSES_PER_CALL:
        chunk = texts[len(matches) : len(matches) + _TEXTS_PER_REQUEST]
        try:
            _match_chunk(pattern, chunk, seconds, matches)
        except WorkerLostError as lost:
            matches.append(Match(None, str(lost)))
            losses += 1
    return matches + [Match(None, ABANDONED)] * (len(texts) - len(matches))


def _match_chunk(pattern: str, texts: Sequence[str], seconds: float, matches: list[Match]) -> None:
    """Append the matches as they come, so that those before a loss are kept."""
    answers = ask(pattern, texts, seconds)
    wrong = next(answers)
    if wrong:
        matches += [Match(None, f"invalid: {wrong}")] * len(texts)
    for answer in answers:
        matches.append(_match(answer))


def _match(answer: str) -> Match:
    if answer in {"0", "1"}:
        return _MATCHED if answer == "1" else _UNMATCHED
    return Match(None, f"regex_failed: {answer}")
