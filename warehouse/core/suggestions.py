"""Similar names for a name that is not known, for error messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def similar_names(name: str, known: Iterable[str], *, limit: int = 3) -> list[str]:
    """Return the known names that resemble a name, the most similar first; case is ignored."""
    from difflib import get_close_matches  # only when a name was mistyped

    by_lower: dict[str, list[str]] = {}
    for candidate in known:
        by_lower.setdefault(candidate.casefold(), []).append(candidate)
    near = get_close_matches(name.casefold(), by_lower, n=limit)
    return [candidate for key in near for candidate in by_lower[key]][:limit]


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return a question that names the similar names, such as `did you mean 'runs'?`.

    Args:
        name: the name that is not known.
        known: all known names.
        otherwise: returned if no known name is similar.
    """
    *others, last = [repr(near) for near in similar_names(name, known)] or [""]
    if not last:
        return otherwise
    return f"did you mean {', '.join(others)} or {last}?" if others else f"did you mean {last}?"
