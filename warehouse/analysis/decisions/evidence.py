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
    from collections.abc import Sequence

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


def find_evidence(pairs: Sequence[Paired], *, seed: int) -> list[Evidence]:
    """Return what the tests show of each pair; pairs on the same tasks share the slow part.

    Args:
        pairs: pairs with at least one task each.
        seed: of random subsets.
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
        of_group = _by_means([pairs[place] for place in places], seed)
        found.update(zip(places, of_group, strict=True))
    return [found[place] for place in range(len(pairs))]


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
            interval=difference_interval(a, b, n),
            n_only=(a, b),
        )
        for a, b, p_value in zip(only_a, only_b, equality_p_values(only_a, only_b, n), strict=True)
    ]


def _by_means(pairs: Sequence[Paired], seed: int) -> list[Evidence]:
    """Test pairs on the same tasks."""
    panel, clusters = pairs[0].panel, pairs[0].clusters
    sums = np.stack([tested_differences(paired) for paired in pairs])
    sizes = np.ones(sums.shape[1])
    if clusters is None:
        # In the order of their size, as `scores.pair_tests` has them: the subsets are of places.
        flipped = symmetric_means(np.sort(sums, axis=1), sizes, seed=seed)
    else:
        sums = np.round(cluster_sums(sums, clusters), _DIGITS)
        sizes = np.bincount(clusters).astype(np.float64)
        flipped = [_flipped_clusters(pair_sums, sizes, seed) for pair_sums in sums]
    found = []
    for paired, pair_sums, symmetric in zip(pairs, sums, flipped, strict=True):
        n_differing = int((pair_sums != 0).sum())
        evidence = Evidence(
            test="sign_flip",
            p_value=symmetric.p_value,
            n_clusters=len(sizes),
            n_differing=n_differing,
            interval=symmetric.interval,
            p_exchangeable=symmetric.p_value,
        )
        if panel.scale is not None:
            evidence = _bounded(evidence, paired.differences, panel.scale, clusters)
        elif has_logarithms(paired):
            evidence = _as_ratio(evidence, float(pair_sums.sum() / sizes.sum()))
        elif n_differing == 0:
            # Nothing is known of how far such values can differ.
            evidence = replace(evidence, interval=None)
        found.append(evidence)
    return found


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


def _bounded(
    flipped: Evidence, differences: Floats, scale: float, clusters: Indices | None
) -> Evidence:
    """Return the evidence about the mean of values whose differences are at most `scale`."""
    return replace(
        flipped,
        test="bounded_mean",
        p_value=equality_of_bounded_means(differences, largest=scale, clusters=clusters),
        interval=bounded_mean_limits(differences, -scale, scale, clusters=clusters),
    )


def _as_ratio(flipped: Evidence, mean: float) -> Evidence:
    """Return the evidence about logarithms as that about ratios."""
    ends = flipped.interval
    limits = None if ends is None else Interval(exp(ends.low), exp(ends.high))
    return replace(flipped, test="sign_flip_log", interval=None, ratio=(exp(mean), limits))
