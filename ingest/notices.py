"""What an import tells its user about files: grouped by reason, what matters most first."""

from __future__ import annotations

from enum import IntEnum
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_LINES = 50  # of each level


class Level(IntEnum):
    """How much a notice matters: something was refused, a secret was found, or all is as usual."""

    PROBLEM = 0
    SECRET = 1
    NOTE = 2


# How many files are named with each reason.
_NAMED = {Level.PROBLEM: 5, Level.SECRET: 5, Level.NOTE: 1}


class Notice(NamedTuple):
    """What the user should know about a file.

    Attributes:
        level: how much it matters.
        place: path of the file, with a line if it is about one.
        text: the message.
        reason: the part of it that other files share; empty if that is the text.
    """

    level: Level
    place: str
    text: str
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


def all_lines(notices: Iterable[Notice]) -> list[str]:
    """Return a line for each notice."""
    return list(map(str, sorted(notices, key=attrgetter("level"))))


def grouped_lines(notices: Sequence[Notice]) -> Iterator[str]:
    """Yield lines for the first notices with each reason, and the number of the others."""
    groups: dict[Level, dict[str, list[Notice]]] = {level: {} for level in Level}
    for notice in notices:
        of_level = groups[notice.level]
        of_level.setdefault(notice.reason or notice.text, []).append(notice)
    n_shown = 0
    for level, reasons in groups.items():
        lines = [
            line
            for reason, members in reasons.items()
            for line in _group_lines(members, reason, _NAMED[level])
        ]
        yield from lines[:_LINES]
        n_shown += len(lines[:_LINES])
        if len(lines) > _LINES:
            yield f"… and {len(lines) - _LINES:,} more"
    if n_shown < len(notices):
        yield "`--verbose` names every file"


def _group_lines(members: Sequence[Notice], reason: str, n_named: int) -> Iterator[str]:
    if len(members) <= n_named:
        yield from map(str, members)
        return
    yield from map(str, members[: n_named - 1])
    yield f"{members[n_named - 1].place} and {len(members) - n_named:,} more: {reason}"
