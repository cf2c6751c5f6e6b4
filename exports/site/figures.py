"""Figures as the terminal shows them, and where they are drawn on a scale."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from warehouse.analysis.decisions.sentences import p_text as _p_text
from warehouse.core.text.figures import counted, money, number, percent, points

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from warehouse.core.types import Row

_SECOND_MS = 1_000
_MINUTE_MS = 60_000
_SHORT = 24  # characters
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?!\d|[-T])")
_WIDTH = 100.0  # of a drawn interval, in units of its view box


class Mark(NamedTuple):
    """A figure on a scale from 0 to 100, with its interval if it has one."""

    value: str
    low: str | None
    high: str | None


def figure(value: float | None, *, is_rate: bool) -> str:
    """Return a pass rate in per cent, or a score; `unknown` for NULL."""
    if value is None:
        return "unknown"
    return percent(value) if is_rate else number(value)


def interval(low: float | None, high: float | None, *, is_rate: bool) -> str:
    """Return a 95 % interval in brackets; empty if an end is not known."""
    if low is None or high is None:
        return ""
    ends = (figure(end, is_rate=is_rate).removesuffix(" %") for end in (low, high))
    return f"[{', '.join(ends)}]"


def change(value: float | None, *, is_rate: bool) -> str:
    """Return a difference with its sign: percentage points of rates."""
    if value is None:
        return "unknown"
    value += 0.0  # -0.0 is 0.0: which of the two sides is first must not be seen
    return points(value) if is_rate else f"{'+' if value > 0 else ''}{number(value)}"


def count(value: int | None) -> str:
    """Return a whole number with commas; `unknown` for NULL."""
    return "unknown" if value is None else f"{value:,}"


def got_no_answer(row: Row) -> bool:
    """Return whether the row is of calls, and none of them got an answer."""
    return bool(row.get("n_unanswered")) and row["n_unanswered"] == row.get("n_results")


def cost(total_usd: float | None, n_known: int | None, n_calls: int | None) -> str:
    """Return a total in US dollars: a lower bound, `≥`, where not every call has a known cost."""
    text = money(total_usd)
    if total_usd is None:
        return text
    is_partial = n_known is not None and n_calls is not None and n_known < n_calls
    return f"{'≥ ' if is_partial else ''}${text}"


def duration(milliseconds: float | None) -> str:
    """Return a time in the unit that suits it; `unknown` for NULL."""
    if milliseconds is None:
        return "unknown"
    if milliseconds < _SECOND_MS:
        return f"{milliseconds:.0f} ms"
    if milliseconds < _MINUTE_MS:
        return f"{milliseconds / _SECOND_MS:.1f} s"
    return f"{milliseconds / _MINUTE_MS:.1f} min"


def are_shares(rows: Iterable[Mapping[str, float | None]]) -> bool:
    """Return whether figures and their intervals all lie from 0 to 1, as most scores do."""
    return all(value is None or 0 <= value <= 1 for row in rows for value in row.values())


def scale_ends(rows: Iterable[Mapping[str, float | None]], *, is_rate: bool) -> tuple[float, float]:
    """Return the ends of the scale of `marks`, which takes the same arguments."""
    known = [value for row in rows for value in row.values() if value is not None]
    return (0.0, 1.0) if is_rate else (min(known, default=0.0), max(known, default=1.0))


def marks(rows: Iterable[Mapping[str, float | None]], *, is_rate: bool) -> list[Mark | None]:
    """Return the marks of figures on one scale; None for a figure that is not known.

    Args:
        rows: each with `value`, `low` and `high`.
        is_rate: whether their scale is from 0 to 1, as that of rates; else it is that of the rows.
    """
    figures = list(rows)
    start, end = scale_ends(figures, is_rate=is_rate)
    span = (end - start) or 1.0

    def place(value: float | None) -> str | None:
        if value is None:
            return None
        return f"{min(max((value - start) / span, 0), 1) * _WIDTH:.1f}"

    return [
        None if value is None else Mark(value, place(row["low"]), place(row["high"]))
        for row in figures
        for value in [place(row["value"])]
    ]


def cut(text: str | None, n_characters: int) -> str:
    """Return the start of a text, and how much of it is left out; `unknown` for NULL."""
    if text is None:
        return "unknown"
    rest = len(text) - n_characters
    return text if rest <= 0 else f"{text[:n_characters]}… ({counted(rest, 'more character')})"


def start_of(text: str, n_characters: int = 80) -> str:
    """Return a text, or its start with an ellipsis."""
    return text if len(text) <= n_characters else f"{text[:n_characters]}…"


def unbroken(text: str) -> str:
    """Return a text whose per cent signs stay on the lines of their numbers."""
    return text.replace(" %", "\u00a0%")


def p_text(p_value: float | None) -> str:
    """Return a p-value, never rounded across 0.05; empty for NULL."""
    return "" if p_value is None else _p_text(p_value).removeprefix("= ")


def width(text: object) -> str:
    """Return the class of a cell by its text: `name` for a long one, which wraps, or `date`."""
    if len(str(text)) > _SHORT:
        return "name"
    return "date" if _DATE.match(str(text)) else ""


FOR_TEMPLATES = {
    "width": width,
    "cut": cut,
    "figure": figure,
    "interval": interval,
    "change": change,
    "count": count,
    "counted": counted,
    "got_no_answer": got_no_answer,
    "cost": cost,
    "duration": duration,
    "money": money,
    "p_text": p_text,
    "percent": percent,
    "unbroken": unbroken,
}
