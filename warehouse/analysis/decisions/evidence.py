"""The test and the interval that fit the values of a pair, each the other's inversion.

score         pass or fail, each task once: the exact unconditional score test
bounded_mean  anything else whose bounds are known, and clusters: Gaffke's test of the mean
sign_flip_log costs, times and tokens: symmetric differences of logarithms
sign_flip     what has no bounds and no logarithm: symmetric differences
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from warehouse.analysis.decisions.series import CALL_METRICS
from warehouse.engine.statistics.arrays import cluster_sums
from warehouse.engine.statistics.bounded_means import bounded_mean_limits, equality_of_bounded_means
from warehouse.engine.statistics.proportions import Interval
from warehouse.engine.statistics.score_test import difference_interval, equality_p_values
from warehouse.engine.statistics.symmetry import symmetric_means

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from warehouse.analysis.decisions.paired import Paired
    from warehouse.engine.statistics.arrays import Floats, Indices
    from warehouse.engine.statistics.symmetry import SymmetricMean

Test: TypeAlias = Literal["score", "bounded_mean", "sign_flip", "sign_flip_log"]

_DIGITS = 12  # sums of clusters that differ by less are equal


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a test and its interval show of a pair, the first side minus the second.

    Attributes:
        test: the test.
        p_value: two-sided p-value.
        n_clusters: clusters of tasks; a task that depends on no other is one.
        n_differing: clusters on which the sides differ.
        interval: of the difference; None below 6 clusters, and of logarithms.
        ratio: of the first side's typical value to the second's, and its interval; only of
            logarithms.
        n_only: tasks that only the first passed, and only the second; only of `score`.
        p_exchangeable: p-value of sign flips: may each difference as well have the other sign?
    """

    test: Test
    p_value: float
    n_clusters: int
    n_differing: int
    interval: Interval | None = None
    ratio: tuple[float, Interval | None] | None = None
    n_only: tuple[int, int] | None = None
    p_exchangeable: float | None = None


def find_evidence(
    pairs: Sequence[Paired],
    *,
    seed: int,
    has_exchangeable: bool = True,
    n_intervals: int | None = None,
) -> list[Evidence]:
    """Return what the tests show of each pair; pairs on the same tasks share the slow part.

    Args:
        pairs: pairs with at least one task each.
        seed: of random subsets.
        has_exchangeable: whether `p_exchangeable` is wanted where it decides nothing: it is slow.
        n_intervals: of how many pairs, those with the smallest p-values, the interval is wanted,
            which takes much longer than the p-value; by default, of all.
    """
    found: dict[int, Evidence] = {}
    verdicts: dict[int, list[int]] = {}
    others: dict[tuple[object, ...], list[int]] = {}
    for place, paired in enumerate(pairs):
        if paired.panel.is_binary and paired.is_single and paired.clusters is None:
            verdicts.setdefault(len(paired.tasks), []).append(place)
        else:
            others.setdefault((id(paired.panel), paired.tasks.tobytes()), []).append(place)
    for places in verdicts.values():
        of_group = _by_score([pairs[place] for place in places])
        found.update(zip(places, of_group, strict=True))
    for places in others.values():
        of_group = _by_means([pairs[place] for place in places], seed, has_exchangeable)
        found.update(zip(places, of_group, strict=True))
    by_evidence = sorted(range(len(pairs)), key=lambda place: found[place].p_value)
    for place in by_evidence[:n_intervals]:
        found[place] = replace(found[place], interval=_interval(pairs[place], found[place]))
    return [found[place] for place in range(len(pairs))]


def verdict_p_values(pairs: Iterable[Paired]) -> Iterator[float]:
    """Yield the p-values that `find_evidence` has of pairs of verdicts, without their intervals."""
    for paired in pairs:
        differences, clusters = paired.differences, paired.clusters
        if paired.panel.is_binary and paired.is_single and clusters is None:
            only_a, only_b = int((differences > 0).sum()), int((differences < 0).sum())
            yield from equality_p_values([only_a], [only_b], len(differences))
        else:
            yield equality_of_bounded_means(differences, largest=1.0, clusters=clusters)


def _by_score(pairs: Sequence[Paired]) -> list[Evidence]:
    """Test pairs of equally many tasks, each passed or failed once."""
    n = len(pairs[0].tasks)
    only_a = [int((paired.differences > 0).sum()) for paired in pairs]
    only_b = [int((paired.differences < 0).sum()) for paired in pairs]
    return [
        Evidence(
            test="score",
            p_value=p_value,
            n_clusters=n,
            n_differing=a + b,
            n_only=(a, b),
        )
        for a, b, p_value in zip(only_a, only_b, equality_p_values(only_a, only_b, n), strict=True)
    ]


def _by_means(pairs: Sequence[Paired], seed: int, has_exchangeable: bool) -> list[Evidence]:  # noqa: FBT001
    """Test pairs on the same tasks."""
    clusters, scale = pairs[0].clusters, pairs[0].panel.scale
    sums = np.stack([tested_differences(paired) for paired in pairs])
    sizes = np.ones(sums.shape[1])
    if clusters is not None:
        sums = np.round(cluster_sums(sums, clusters), _DIGITS)
        sizes = np.bincount(clusters).astype(np.float64)
    if scale is None:
        return [
            _flipped(paired, pair_sums, sizes, symmetric)
            for paired, pair_sums, symmetric in zip(
                pairs, sums, _symmetric(sums, sizes, clusters, seed), strict=True
            )
        ]
    found = [_bounded(*each, scale, clusters) for each in zip(pairs, sums, strict=True)]
    if not has_exchangeable:
        return found
    return [
        replace(evidence, p_exchangeable=symmetric.p_value)
        for evidence, symmetric in zip(found, _symmetric(sums, sizes, clusters, seed), strict=True)
    ]


def _symmetric(
    sums: Floats, sizes: Floats, clusters: Indices | None, seed: int
) -> list[SymmetricMean]:
    """Test sums by flips, in the order that `scores.pair_tests` has: the subsets are of places."""
    if clusters is None:
        return symmetric_means(np.sort(sums, axis=1), sizes, seed=seed)
    return [_flipped_clusters(pair_sums, sizes, seed) for pair_sums in sums]


def _flipped(paired: Paired, sums: Floats, sizes: Floats, symmetric: SymmetricMean) -> Evidence:
    """Return the evidence about values without bounds."""
    n_differing = int((sums != 0).sum())
    evidence = Evidence(
        test="sign_flip",
        p_value=symmetric.p_value,
        n_clusters=len(sizes),
        n_differing=n_differing,
        interval=symmetric.interval,
        p_exchangeable=symmetric.p_value,
    )
    if has_logarithms(paired):
        return _as_ratio(evidence, float(sums.sum() / sizes.sum()))
    # Without a difference nothing is known of how far such values can differ.
    return evidence if n_differing else replace(evidence, interval=None)


def _flipped_clusters(sums: Floats, sizes: Floats, seed: int) -> SymmetricMean:
    """Test the sums of a pair's clusters, in the order in which `scores.pair_tests` has them."""
    order = np.lexsort((sizes, sums))
    (found,) = symmetric_means(sums[np.newaxis, order], sizes[order], seed=seed)
    return found


def has_logarithms(paired: Paired) -> bool:
    """Return whether a pair's values are compared as ratios: of amounts above 0, or both 0."""
    if paired.panel.metric.metric not in CALL_METRICS:
        return False
    is_zero_a, is_zero_b = paired.means_a == 0, paired.means_b == 0
    return bool((is_zero_a == is_zero_b).all() and not is_zero_a.all())


def tested_differences(paired: Paired) -> Floats:
    """Return the differences whose symmetry is tested."""
    if paired.panel.scale is None and has_logarithms(paired):
        is_positive = paired.means_a > 0
        ratios: Floats = np.ones(len(paired.tasks))
        ratios[is_positive] = paired.means_a[is_positive] / paired.means_b[is_positive]
        logarithms: Floats = np.log(ratios)
        return logarithms
    return paired.differences


def _bounded(paired: Paired, sums: Floats, scale: float, clusters: Indices | None) -> Evidence:
    """Return the evidence about the mean of values whose differences are at most `scale`."""
    differences = paired.differences
    return Evidence(
        test="bounded_mean",
        p_value=equality_of_bounded_means(differences, largest=scale, clusters=clusters),
        n_clusters=len(sums),
        n_differing=int((sums != 0).sum()),
    )


def _interval(paired: Paired, found: Evidence) -> Interval | None:
    """Return the interval that inverts the test of a pair; that of flips comes with its p-value."""
    if found.n_only is not None:
        return difference_interval(*found.n_only, found.n_clusters)
    scale = paired.panel.scale
    if scale is None:
        return found.interval
    return bounded_mean_limits(paired.differences, -scale, scale, clusters=paired.clusters)


def _as_ratio(flipped: Evidence, mean: float) -> Evidence:
    """Return the evidence about logarithms as that about ratios."""
    ends = flipped.interval
    limits = None if ends is None else Interval(exp(ends.low), exp(ends.high))
    return replace(flipped, test="sign_flip_log", interval=None, ratio=(exp(mean), limits))
