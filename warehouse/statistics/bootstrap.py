"""The bootstrap interval of a mean difference over tasks, with tasks of one cluster kept together.

Two clusters are added to the data before they are resampled: one in which the first model is better
by a large difference, and one in which the second is. Agresti and Min (2005, Statistics in Medicine
24, 729) and Bonett and Price (2012, Journal of Educational and Behavioral Statistics 37, 479) do so
for paired proportions. Without them a bootstrap takes rare differences for impossible ones: where
few tasks differ, percentile, BCa and studentised intervals cover as little as 64 %. The interval is
that of the percentiles; `docs/comparisons.md` compares it with the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warehouse.statistics.proportions import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warehouse.statistics.arrays import Floats

SEED = 23
RESAMPLES = 10_000
MIN_CLUSTERS = 6
_LEVEL = 0.95
_COUNTS_AT_ONCE = 4_000_000


def mean_intervals(
    sums: Floats,
    sizes: Floats,
    contrasts: Floats,
    *,
    largest: Floats,
    level: float = _LEVEL,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> list[Interval | None]:
    """Return the intervals of several mean differences of models on the same clusters.

    Below 6 clusters, and where `largest` is 0, there is none. All are computed from the same
    resamples, so that each model is resampled once, however many pairs there are.

    Args:
        sums: sums of each model's scores over the tasks of each cluster: shape (models, clusters).
        sizes: tasks in each cluster: shape (clusters,).
        contrasts: what is compared, such as 1 for one model and -1 for another: shape
            (comparisons, models).
        largest: the difference in the two clusters that are added, above 0: the largest possible
            one (1 for pass or fail), or the largest that occurs: shape (comparisons,).
        level: confidence, between 0 and 1.
        resamples: number of resamples.
        seed: of the resamples.
    """
    n_clusters = len(sizes)
    if n_clusters < MIN_CLUSTERS:
        return [None] * len(contrasts)
    # The added clusters are of the mean size.
    size = float(sizes.mean())
    all_sizes = np.concatenate([sizes, [size, size]])
    means = np.empty((len(contrasts), resamples))
    done = 0
    for counts in _resampled_counts(n_clusters + 2, resamples, seed):
        drawn = (counts[:, :n_clusters] @ sums.T) @ contrasts.T
        drawn += np.outer(counts[:, -2] - counts[:, -1], size * largest)
        means[:, done : done + len(counts)] = (drawn / (counts @ all_sizes)[:, np.newaxis]).T
        done += len(counts)
    ends = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=1)
    return [
        Interval(float(low), float(high)) if most > 0 else None
        for low, high, most in zip(*ends, largest, strict=True)
    ]


def _resampled_counts(n: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Yield blocks of rows that say how often each of `n` clusters is drawn in a resample."""
    random = np.random.default_rng(seed)
    rows = max(1, _COUNTS_AT_ONCE // n)
    for start in range(0, resamples, rows):
        n_rows = min(rows, resamples - start)
        drawn = random.integers(0, n, size=(n_rows, n), dtype=np.int64)
        drawn += n * np.arange(n_rows)[:, np.newaxis]
        counts = np.bincount(drawn.ravel(), minlength=n_rows * n)
        yield counts.reshape(n_rows, n).astype(np.float64)
