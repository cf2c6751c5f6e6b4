"""An upper bound on the work of a regular expression, known before it runs.

Only plain patterns have one: no repeated groups, lookarounds or back-references. In such a pattern
every choice is counted, and a match takes at most (ways to read the text) x (length of one way)
steps. Each `|` and `?` doubles the ways, `{2,5}` multiplies them by 4, and each `*` and `+` by the
number of characters + 1.
"""

import re
import sys
from functools import lru_cache
from typing import Final

# Worst case of a match within the bound: about 20 ms.
MAX_STEPS: Final = 1_000_000
# Compiling takes time as well.
MAX_PATTERN_LENGTH: Final = 200

_LEADING_FLAGS = re.compile(r"(?:\(\?[ims]+\))?")
# No set that makes the re module warn ("possible nested set") is accepted.
_TOKEN = re.compile(
    r"""
    \^ | \$ | \\[AZbB]
  | \( (?:\?:)? (?!\?)
  | (?P<doubled> \| | \)\? (?![?+]) ) (?![*+?{])
  | \) (?![?*+{])
  | (?: \\ (?: [dDwWsSnrt] | [^\w\s] )
      | \[ \^? (?: [0-9A-Za-z]-[0-9A-Za-z] | [^][\\&~|^-] | \\ (?: [dDwWsSnrt] | [^\w\s] ) )+ -? \]
      | [^][\\(){}*+?|^$]
    )
    (?: (?P<unbounded> [*+] ) | (?P<maybe> \? ) | \{ (?P<low> \d{1,3} ) (?P<high> ,\d{0,3} )? \} )?
    (?: (?<= [*+?}] ) \? )?
    (?! [*+?{] )
    """,
    re.VERBOSE,
)


@lru_cache(maxsize=4096)
def longest_bounded_text(pattern: str) -> int:
    """Return the length in characters up to which a match takes at most `MAX_STEPS` steps.

    Args:
        pattern: a regular expression as Python's re module reads it, valid or not.

    Returns:
        -1 if no bound is known, even for the empty text.
    """
    if len(pattern) > MAX_PATTERN_LENGTH:
        return -1
    flags = _LEADING_FLAGS.match(pattern)
    at = flags.end() if flags else 0
    ways, width, degree = 1, 1, 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:
            return -1
        at = token.end()
        low, high = int(token["low"] or 1), token["high"]
        if token["unbounded"] or high == ",":
            degree += 1
        elif token["doubled"] or token["maybe"]:
            ways *= 2
        elif high:
            ways *= max(int(high[1:]) - low, 0) + 1
        width += max(low, int((high or "")[1:] or 1))
    return _longest(MAX_STEPS // (ways * width), degree)


def _longest(readings: int, degree: int) -> int:
    """Return the largest n with (n + 1) ** degree <= readings."""
    if readings == 0 or degree == 0:
        return sys.maxsize if readings else -1
    n: int = round(readings ** (1 / degree))
    return n - 1 if n**degree <= readings else n - 2
