"""The adjustment of p-values for several comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.scoring.statistics.bootstrap import holm

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["holm", "holm_thresholds"]


def holm_thresholds(p_values: Sequence[float], alpha: float, n_tests: int) -> list[float]:
    """Return the level that Holm's method compares each p-value with: alpha / (n_tests - rank + 1).

    Source: Holm 1979, Scandinavian Journal of Statistics 6, 65.

    Args:
        p_values: p-values of the family.
        alpha: level of the whole family.
        n_tests: size of the family; p-values that are not given count as larger than these.
    """
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    thresholds = [0.0] * len(p_values)
    for rank, at in enumerate(order):
        thresholds[at] = alpha / max(1, n_tests - rank)
    return thresholds
