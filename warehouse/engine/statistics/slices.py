"""Whether the means of slices differ: a permutation test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from warehouse.engine.statistics.arrays import Floats, Indices

_PERMUTATIONS = 9_999
_VALUES_AT_ONCE = 2_000_000
_ROUNDING = 1e-9


def slices_p_value(values: Floats, slices: Indices, *, seed: int) -> float:
    """Return the p-value of the hypothesis that which slice a value is in does not matter.

    The statistic is the largest |t| of a slice: the distance of its mean from that of all values,
    divided by its standard deviation over all permutations of the labels. So it is adjusted for the
    number of slices.

    Args:
        values: the values.
        slices: the slice of each, from 0.
        seed: of the permutations.
    """
    sizes = np.bincount(slices)
    errors = np.sqrt(np.maximum(1 / sizes - 1 / len(values), 0.0))
    centred = values - values.mean()
    if len(sizes) < 2 or np.abs(centred).max() <= _ROUNDING:  # noqa: PLR2004 - slices
        return 1.0
    members = (slices[:, None] == np.arange(len(sizes))) / (sizes * errors)
    observed = np.abs(centred @ members).max()
    random, n_as_large = np.random.default_rng(seed), 1
    at_once = max(1, _VALUES_AT_ONCE // len(values))
    for start in range(0, _PERMUTATIONS, at_once):
        count = min(at_once, _PERMUTATIONS - start)
        drawn = random.permuted(np.tile(centred, (count, 1)), axis=1)
        largest = np.abs(drawn @ members).max(axis=1)
        n_as_large += int((largest >= observed * (1 - _ROUNDING)).sum())
    return n_as_large / (1 + _PERMUTATIONS)
