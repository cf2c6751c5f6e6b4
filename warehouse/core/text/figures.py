"""Figures as text: shares, differences, money, numbers."""

from __future__ import annotations

import math

from warehouse.core.text.formatting import human

UNKNOWN = "unknown"
_THOUSAND, _EXPONENT, _TINY = 1e3, 1e15, 1e-6


def percent(value: object) -> str:
    """Return a share, from 0 to 1, in per cent; empty for NULL."""
    return f"{value * 100:.1f} %" if isinstance(value, int | float) else human(value)


def whole_percent(share: float) -> str:
    """Return a share, from 0 to 1, in per cent without decimals."""
    return f"{share * 100:.0f} %"


def points(value: object) -> str:
    """Return the difference of two rates in percentage points."""
    return f"{value * 100:+.1f} pp" if isinstance(value, int | float) else human(value)


def money(value: object) -> str:
    """Return US dollars; `unknown` for NULL."""
    if value is None:
        return UNKNOWN
    return number(float(value)) if isinstance(value, int | float) else human(value)


def number(value: object) -> str:
    """Return a number with four significant digits; whole ones keep all of theirs."""
    if not isinstance(value, float) or not math.isfinite(value) or abs(value) >= _EXPONENT:
        return human(value)
    if abs(value) >= _THOUSAND:
        return f"{value:.0f}"
    text = f"{value:.4g}"
    return f"{value:.9f}".rstrip("0") if "e" in text and abs(value) >= _TINY else text


def counted(value: int, noun: str, plural: str = "") -> str:
    """Return a number of things: `1 run`, `2 runs`."""
    return f"{value:,} {noun if value == 1 else plural or noun + 's'}"
