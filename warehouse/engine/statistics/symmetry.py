"""Tests and intervals of means of differences that are symmetric about their mean.

If they are symmetric about a mean m, the mean of a random subset of them is as likely above m as
below it, and so are the ranks of m among the means of many subsets (Hartigan 1969, Journal of the
American Statistical Association 64, 1303). For m = 0 that is the sign-flip test (Fisher 1935, The
Design of Experiments, section 21), so that test and interval always agree. Tasks of one cluster are
not independent: a subset has all of them or none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warehouse.engine.statistics.arrays import MIN_CLUSTERS
from warehouse.engine.statistics.proportions import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warehouse.engine.statistics.arrays import Floats

SEED = 23
_LEVEL = 0.95
_ALL_SUBSETS_OF = 14
_MANY_SUBSETS, _FEW_SUBSETS = 100_000, 20_000
_CHEAP = 2e8  # products of subsets, clusters and pairs that take about a second
_BITS_AT_ONCE = 8_000_000
# Sums of the same numbers in another order differ by this share of their size.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class SymmetricMean:
    """What the subsets show of a mean.

    Attributes:
        p_value: two-sided p-value of "the mean is 0", twice the smaller one-sided one.
        interval: 95 % interval, which excludes 0 if and only if p_value is below 0.05; None below 6
            clusters.
    """

    p_value: float
    interval: Interval | None


def symmetric_means(sums: Floats, sizes: Floats, *, seed: int = SEED) -> list[SymmetricMean]:
    """Test several mean differences on the same clusters by the same random subsets.

    All subsets are used of at most 14 clusters, otherwise 100,000 random ones, or 20,000 if those
    would take long.

    Args:
        sums: sums of each pair's differences over the tasks of each cluster: shape (pairs,
            clusters).
        sizes: tasks of each cluster: shape (clusters,).
        seed: of the random subsets.
    """
    means = np.vstack([_means(sums, sizes, bits) for bits in _subsets(len(sums), len(sizes), seed)])
    # The empty subset is above and below everything.
    count = len(means) + 1
    tolerance = _ROUNDING * np.abs(sums).sum(axis=1)
    n_low = 1 + (means <= tolerance).sum(axis=0)
    n_high = 1 + (means >= -tolerance).sum(axis=0)
    p_values = np.minimum(1.0, 2 * np.minimum(n_low, n_high) / count)
    if len(sizes) < MIN_CLUSTERS:
        return [SymmetricMean(p_value=float(p), interval=None) for p in p_values]
    # The mean of this rank is the first that the one-sided test does not reject.
    rank = int(np.ceil((1 - _LEVEL) / 2 * count - _ROUNDING)) - 1
    ordered = np.partition(means, (rank - 1, len(means) - rank), axis=0)
    return [
        SymmetricMean(p_value=float(p), interval=Interval(float(low), float(high)))
        for p, low, high in zip(
            p_values, ordered[rank - 1], ordered[len(means) - rank], strict=True
        )
    ]


def _means(sums: Floats, sizes: Floats, bits: Floats) -> Floats:
    """Return the mean difference of each subset: shape (subsets, pairs)."""
    means: Floats = (bits @ sums.T) / (bits @ sizes)[:, np.newaxis]
    return means


def _subsets(n_pairs: int, n_clusters: int, seed: int) -> Iterator[Floats]:
    """Yield blocks of subsets that are not empty, a row of 0 and 1 for each."""
    if n_clusters <= _ALL_SUBSETS_OF:
        numbers = np.arange(1, 2**n_clusters)[:, np.newaxis]
        yield (numbers >> np.arange(n_clusters) & 1).astype(np.float64)
        return
    is_cheap = _MANY_SUBSETS * n_clusters * n_pairs <= _CHEAP
    left = (_MANY_SUBSETS if is_cheap else _FEW_SUBSETS) - 1
    random = np.random.default_rng(seed)
    while left > 0:
        rows = min(left, max(1, _BITS_AT_ONCE // n_clusters))
        drawn = random.integers(0, 256, size=(rows, -(-n_clusters // 8)), dtype=np.uint8)
        bits = np.unpackbits(drawn, axis=1, count=n_clusters).astype(np.float64)
        bits = bits[bits.any(axis=1)]
        left -= len(bits)
        yield bits
