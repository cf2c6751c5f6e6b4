"""Bootstrap intervals and comparisons of mean scores.

The benchmark draws with Python's `random.Random(23)`. The same draws are made here in bulk, from
the same Mersenne Twister, and every mean adds its scores in the order in which they were drawn, so
that the results equal those of a plain loop to the last bit, on any version of Python.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Indices = NDArray[np.intp]

RESAMPLES, SEED, ALPHA = 1000, 23, 0.05
_LOW = int(ALPHA / 2 * RESAMPLES)
_HIGH = int((1 - ALPHA / 2) * RESAMPLES) - 1

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two means.

    Attributes:
        mean: mean of the first minus mean of the second, in units of the scores.
        interval: bounds of the 95 % percentile interval.
        p_value: two-sided, 0.0 to 1.0.
        significant: whether the interval excludes zero.
    """

    mean: float
    interval: Interval
    p_value: float
    significant: bool


def mean(scores: Sequence[float]) -> float | None:
    """Return the mean, added from left to right; None if there are no scores."""
    total = 0.0
    for score in scores:
        total += score
    return total / len(scores) if scores else None


def confidence_interval(scores: Sequence[float]) -> Interval | None:
    """Return the 95 % percentile interval of the mean; None if there are no scores.

    As in the benchmark, a single score has an interval without width, which says nothing.
    """
    if not scores:
        return None
    size = len(scores)
    return _bounds(_resampled_means(scores, _draws(size, RESAMPLES)))


def difference(a: Sequence[float], b: Sequence[float]) -> Difference | None:
    """Compare two means as the benchmark does, by unpaired resampling.

    The lists may differ in length; None if one is empty. The p-value, twice the smaller share of
    resampled differences on either side of zero, can be 0.0. As in the benchmark, a list of one
    score is resampled too, although it says nothing about the spread.
    """
    return compare_all({"a": a, "b": b})[0]


def compare_all(scores: Mapping[str, Sequence[float]]) -> list[Difference | None]:
    """Compare all pairs of models, (first, second), (first, third) and so on; see `difference`.

    A model's resampled means depend only on its place in a pair and on the other's number of
    scores, so they are computed once for all its pairs.
    """
    observed = {name: mean(values) for name, values in scores.items()}

    @cache
    def resampled(name: str, other_size: int, place: int) -> Floats:
        size = len(scores[name])
        sizes = (other_size, size) if place else (size, other_size)
        return _resampled_means(scores[name], _pair_draws(*sizes)[place])

    def compare(a: str, b: str) -> Difference | None:
        mean_a, mean_b = observed[a], observed[b]
        if mean_a is None or mean_b is None:
            return None
        resamples_a, resamples_b = resampled(a, len(scores[b]), 0), resampled(b, len(scores[a]), 1)
        return _difference(mean_a - mean_b, resamples_a - resamples_b)

    return [compare(a, b) for a, b in combinations(scores, 2)]


def paired_difference(a: Sequence[float | None], b: Sequence[float | None]) -> Difference | None:
    """Compare two means over the same posters, by resampling the posters.

    Posters that lack either score are left out; None if fewer than two remain. Of B resamples, l
    have a mean difference of zero or less and g one of zero or more. The two-sided p-value inverts
    the percentile interval and counts the observed sample as one more resample, so that it is never
    zero: min(1, 2 (min(l, g) + 1) / (B + 1)) (Davison and Hinkley, "Bootstrap Methods and their
    Application", 1997, chapter 4; Phipson and Smyth, "Permutation p-values should never be zero",
    2010).

    Raises:
        ValueError: the lists differ in length.
    """
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    differences = [x - y for x, y in pairs]
    observed = mean(differences)
    if observed is None or len(differences) < 2:  # noqa: PLR2004 - one has no spread
        return None
    means = _resampled_means(differences, _draws(len(differences), RESAMPLES))
    fewer = min(int((means <= 0).sum()), int((means >= 0).sum()))
    low, high = _bounds(means)
    return Difference(
        mean=observed,
        interval=(low, high),
        p_value=min(1.0, 2 * (fewer + 1) / (RESAMPLES + 1)),
        significant=low > 0 or high < 0,
    )


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust p-values for multiple comparisons by Holm's step-down method (Holm, 1979).

    The k-th smallest of m becomes the largest of (m - j + 1) p(j) over j up to k, at most 1.0.
    Missing values stay missing and do not count.
    """
    known = sorted((p, at) for at, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, at) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * p))
        adjusted[at] = largest
    return adjusted


def _difference(observed: float, differences: Floats) -> Difference:
    low, high = _bounds(differences)
    below = int((differences <= 0).sum())
    share = min(below / RESAMPLES, (RESAMPLES - below) / RESAMPLES)
    return Difference(observed, (low, high), 2 * share, low > 0 or high < 0)


def _bounds(means: Floats) -> Interval:
    import numpy as np

    ordered = np.partition(means, (_LOW, _HIGH))
    return float(ordered[_LOW]), float(ordered[_HIGH])


def _resampled_means(scores: Sequence[float], draws: Indices) -> Floats:
    """Return the mean of each resample; `draws` has a row per draw, a column per resample."""
    import numpy as np

    values = np.asarray(scores, dtype=np.float64)
    totals = np.zeros(draws.shape[1])
    for nth_draws in draws:
        totals += values[nth_draws]
    return totals / len(values)


@lru_cache(maxsize=8)
def _pair_draws(size_a: int, size_b: int) -> tuple[Indices, Indices]:
    """Return draws for two lists, made in turns from one generator."""
    if size_a == size_b:
        both = _draws(size_a, 2 * RESAMPLES)
        return both[:, 0::2].copy(), both[:, 1::2].copy()
    return _drawn_one_by_one(size_a, size_b)


def _drawn_one_by_one(size_a: int, size_b: int) -> tuple[Indices, Indices]:
    import numpy as np

    rng = random.Random(SEED)  # noqa: S311 - the benchmark's generator, no secret
    rows = [
        [rng.randrange(size_a) for _ in range(size_a)]
        + [rng.randrange(size_b) for _ in range(size_b)]
        for _ in range(RESAMPLES)
    ]
    draws = np.array(rows, dtype=np.intp).T.copy()
    return draws[:size_a], draws[size_a:]


@lru_cache(maxsize=8)
def _draws(size: int, resamples: int) -> Indices:
    """Return `size` values of `randrange(size)` per resample; a column per resample.

    `randrange` takes the top bits of a 32-bit number and draws again while they are too large.
    """
    import numpy as np

    wanted, shift = size * resamples, 32 - size.bit_length()
    generator = _generator()
    kept = np.empty(0, dtype=np.uint64)
    while len(kept) < wanted:
        missing = wanted - len(kept)
        numbers = generator.random_raw((missing << size.bit_length()) // size + 1) >> shift
        kept = np.concatenate((kept, numbers[numbers < size]))
    return kept[:wanted].astype(np.intp).reshape(resamples, size).T.copy()


def _generator() -> np.random.MT19937:
    """Return a generator of the 32-bit numbers that `random.Random(SEED)` starts with."""
    import numpy as np

    *key, position = random.Random(SEED).getstate()[1]  # noqa: S311
    generator = np.random.MT19937()
    generator.state = {
        "bit_generator": "MT19937",
        "state": {"key": np.array(key, dtype=np.uint32), "pos": position},
    }
    return generator
