"""Expressions that are compiled when they are first used: most texts need none of them."""

from __future__ import annotations

import re
from typing import cast

_ATTRIBUTES = (
    *("search", "match", "fullmatch", "finditer", "findall", "sub"),
    *("pattern", "flags"),
)


def late_pattern(pattern: bytes, flags: int = 0) -> re.Pattern[bytes]:
    """Return what has the methods, pattern and flags of a compiled expression.

    To compile all expressions takes longer than to search a log of a thousand records, and a fast
    search beforehand shows that most logs need none of them.
    """
    return cast("re.Pattern[bytes]", _Late(pattern, flags))


class _Late:
    def __init__(self, pattern: bytes, flags: int) -> None:
        self._given = pattern, flags

    def __getattr__(self, name: str) -> object:
        """Compile the expression; from then on they are attributes of this."""
        if name not in _ATTRIBUTES:
            raise AttributeError(name)
        compiled = re.compile(*self._given)
        for attribute in _ATTRIBUTES:
            setattr(self, attribute, getattr(compiled, attribute))
        return getattr(compiled, name)
