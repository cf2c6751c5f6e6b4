"""An upper bound for the work that a regular expression can cause, known before it runs.

Only a small, plain part of the language is read; whatever lies outside it has no known bound. In
that part every way in which the pattern can consume a text is counted: a match costs at most
(number of ways) x (length of one way) steps.
"""

import math
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

# Compiling takes time as well: a longer pattern is not read.
LONGEST_PATTERN = 200

_LEADING_FLAGS = re.compile(r"\(\?[ims]+\)")
# No set that makes the re module warn ("possible nested set") is accepted.
_TOKEN = re.compile(
    r"""
    (?P<anchor> \^ | \$ | \\[AZbB] )
  | (?P<open> \( (?:\?:)? (?!\?) )
  | (?P<close> \) (?P<optional> \? (?![?+]) )? (?![?*+{]) )
  | (?P<bar> \| )
  | (?P<atom>
        \\ (?: [dDwWsSnrt] | [^\w\s] )
      | \[ \^? (?: [0-9A-Za-z]-[0-9A-Za-z] | [^][\\&~|^-] | \\ (?: [dDwWsSnrt] | [^\w\s] ) )+ -? \]
      | [^][\\(){}*+?|^$]
    )
    (?: (?P<unbounded> [*+] ) | (?P<maybe> \? ) | \{ (?P<low> \d{1,3} ) (?P<high> ,\d{0,3} )? \} )?
    (?: (?<= [*+?}] ) \? )?
    (?! [*+?{] )
    """,
    re.VERBOSE,
)


class Cost(NamedTuple):
    """The work of a pattern on a text of n characters: ways x (n + 1) ** degree x (width + 1)."""

    ways: int = 1
    degree: int = 0
    width: int = 0

    def then(self, other: "Cost") -> "Cost":
        """The cost of this part followed by another."""
        return Cost(self.ways * other.ways, self.degree + other.degree, self.width + other.width)

    def steps(self, length: int) -> int:
        """The bound for a text of this many characters."""
        return self.ways * math.prod([length + 1] * self.degree) * (self.width + 1)


def _either(branches: Iterable[Cost]) -> Cost:
    ways, degrees, widths = zip(*branches, strict=True)
    return Cost(sum(ways), max(degrees), max(widths))


def _atom_cost(token: re.Match[str]) -> Cost | None:
    low, high = token["low"], token["high"]
    if token["unbounded"] or high == ",":
        return Cost(degree=1, width=int(low or 1))
    if token["maybe"]:
        return Cost(ways=2, width=1)
    least = int(low or 1)
    most = int(high[1:]) if high else least
    return Cost(ways=most - least + 1, width=most) if most >= least else None


@lru_cache(maxsize=4096)
def pattern_cost(pattern: str) -> Cost | None:
    """The bound for a pattern, or None where none is known.

    Args:
        pattern: a regular expression as Python's re module reads it.
    """
    flags = _LEADING_FLAGS.match(pattern)
    at = flags.end() if flags else 0
    if len(pattern) > LONGEST_PATTERN:
        return None
    # Each open group is the list of its branches; the last one is being read.
    groups: list[list[Cost]] = [[Cost()]]
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None or not _read(token, groups):
            return None
        at = token.end()
    return _either(groups[0]) if len(groups) == 1 else None


def _read(token: re.Match[str], groups: list[list[Cost]]) -> bool:
    """Add a token to the innermost group; False where it has no bound."""
    if token["open"]:
        groups.append([Cost()])
    elif token["bar"]:
        groups[-1].append(Cost())
    elif token["close"]:
        if len(groups) == 1:
            return False
        branches = groups.pop()
        _append(groups, _either([*branches, Cost()] if token["optional"] else branches))
    elif token["atom"]:
        cost = _atom_cost(token)
        if cost is None:
            return False
        _append(groups, cost)
    return True


def _append(groups: list[list[Cost]], cost: Cost) -> None:
    groups[-1][-1] = groups[-1][-1].then(cost)
