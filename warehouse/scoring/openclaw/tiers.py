"""Tiers of tool use, and percentiles as the original harness computes them."""

import math
from collections.abc import Sequence

TIER_NAMES = {
    1: "Tier 1 (Tool-Capable)",
    2: "Tier 2 (Tool-Capable but Inconsistent)",
    3: "Tier 3 (Tool-Incapable)",
}
_TIER_1_PERCENT = 80
_TIER_2_PERCENT = 50


def tier(rate_percent: float) -> int:
    """The tier (1, 2 or 3; see `TIER_NAMES`) of a tool-use success rate.

    Args:
        rate_percent: 0 to 100, not rounded: 79.99 is tier 2.
    """
    if rate_percent >= _TIER_1_PERCENT:
        return 1
    return 2 if rate_percent >= _TIER_2_PERCENT else 3


def tier_batch(rates_percent: Sequence[float | None]) -> list[int | None]:
    """`tier` for a column; None and NaN give None."""
    return [None if rate is None or math.isnan(rate) else tier(rate) for rate in rates_percent]


def percentile(values: Sequence[float], p: float) -> float | None:
    """The p-th percentile by linear interpolation, equal to the original's to the last bit.

    With the values sorted and r = (n - 1) * (p / 100), it lies between the neighbours a and b of
    rank r: a * (upper rank - r) + b * (r - lower rank).

    Args:
        values: in any order; none gives None.
        p: 0 to 100.

    Raises:
        ValueError: p is out of range.
    """
    if not 0 <= p <= 100:  # noqa: PLR2004
        raise ValueError(f"percentile {p} is not between 0 and 100")
    if not values:
        return None
    ordered = sorted(map(float, values))
    rank = (len(ordered) - 1) * (p / 100)
    lower, upper = math.floor(rank), math.ceil(rank)
    if lower == upper:
        return ordered[lower]
    return ordered[lower] * (upper - rank) + ordered[upper] * (rank - lower)


def percentile_batch(
    columns: Sequence[Sequence[float | None] | None], p: float
) -> list[float | None]:
    """`percentile` for a column of lists; None in a list is left out."""
    return [
        None if values is None else percentile([v for v in values if v is not None], p)
        for values in columns
    ]
