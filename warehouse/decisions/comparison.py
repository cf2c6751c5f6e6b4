"""Comparisons of two sides: the test and the interval that fit their values, and what they show.

Pass or fail with one attempt at each task is judged by McNemar's exact test, with Newcombe's
interval; anything else, and clusters of tasks, by sign flips, with a bootstrap interval. Several
comparisons are adjusted together (Holm). The adjusted p-value decides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from warehouse.decisions.series import CALL_METRICS
from warehouse.statistics.adjustment import holm
from warehouse.statistics.arrays import cluster_indices, cluster_sums
from warehouse.statistics.bootstrap import MIN_CLUSTERS, mean_intervals
from warehouse.statistics.detectable import detectable_mean, detectable_proportion
from warehouse.statistics.mcnemar import mcnemar
from warehouse.statistics.permutation import sign_flips
from warehouse.statistics.proportions import newcombe

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from warehouse.decisions.paired import Paired, Panel
    from warehouse.statistics.arrays import Floats, Indices
    from warehouse.statistics.proportions import Interval

Conclusion: TypeAlias = Literal["a", "b", "unclear"]

ALPHA = 0.05
SEED = 23
# Fewer clusters than this are too few for intervals to cover what they say.
FEW_CLUSTERS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A comparison of two sides, `a` minus `b`. Rates are 0 to 1, scores in the metric's own unit.

    Attributes:
        suite: suite, of several their names joined with `+`.
        task_set: task set, likewise.
        metric: the metric.
        a: name of the first side.
        b: name of the second.
        n_tasks: tasks with values of both.
        n_attempts_a: attempts of the first at them.
        n_attempts_b: attempts of the second.
        mean_a: mean over the tasks, attempts averaged.
        mean_b: the same of the second.
        difference: mean_a - mean_b.
        low: lower end of its 95 % interval; None below 6 clusters.
        high: upper end.
        p_value: two-sided p-value.
        p_adjusted: the same, adjusted for all comparisons made together (Holm).
        test: `mcnemar` or `sign_flip`.
        interval: `newcombe` or `bootstrap`; None without an interval.
        n_only_a: tasks that only the first passed; None unless each was passed or failed once.
        n_only_b: tasks that only the second passed.
        conclusion: which side is better by p_adjusted < 0.05; of costs, times and tokens less is
            better, of all else more.
        noninferior: whether the interval excludes that the first is worse by the margin; None
            without a margin or an interval.
        detectable_difference: true difference that would be found four times in five, see
            `warehouse/statistics/detectable.py`; None below 20 clusters.
        scorer: what gave the score, if known.
        filter: how the answer was extracted, if known.
        slice: the tasks that the row is about, if not all.
        n_clusters: clusters of tasks; by default each task is one.
        n_unjudged_a: tasks that the first was asked, but that have no value.
        n_unjudged_b: tasks that the second was asked, but that have no value.
        n_excluded: tasks that both were asked, left out because only one side has a value.
        n_changed: tasks left out because their content differs between the sides.
        p_mid: McNemar's mid-p.
    """

    suite: str
    task_set: str
    metric: str
    a: str
    b: str
    n_tasks: int
    n_attempts_a: int
    n_attempts_b: int
    mean_a: float
    mean_b: float
    difference: float
    low: float | None
    high: float | None
    p_value: float
    p_adjusted: float
    test: str
    interval: str | None
    n_only_a: int | None
    n_only_b: int | None
    conclusion: Conclusion
    noninferior: bool | None
    detectable_difference: float | None
    scorer: str | None
    filter: str | None
    slice: str | None
    n_clusters: int
    n_unjudged_a: int
    n_unjudged_b: int
    n_excluded: int
    n_changed: int
    p_mid: float | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contest:
    """A pair to compare.

    Attributes:
        a: name of the first side.
        b: name of the second.
        paired: their values.
        slice: the tasks that it is about, if not all.
    """

    a: str
    b: str
    paired: Paired
    slice: str | None = None


@dataclass(slots=True, kw_only=True)
class _Found:
    """What a test and an interval show."""

    p_value: float
    p_mid: float | None
    interval: Interval | None
    detectable: float | None
    n_clusters: int
    test: str
    n_only: tuple[int, int] | None = None


def compare(
    contests: Sequence[Contest],
    *,
    clusters: Mapping[str, Hashable] | None = None,
    margin: float | None = None,
    seed: int = SEED,
) -> list[Comparison]:
    """Compare pairs, adjusted together; pairs without a shared task are left out.

    Args:
        contests: the pairs.
        clusters: the cluster of each task by its ID; a task without one is a cluster of its own. By
            default, each task is.
        margin: the difference by which the first side may be worse and still not be inferior, in
            the metric's unit, above 0.
        seed: of random flips and resamples.
    """
    shared = [contest for contest in contests if len(contest.paired.tasks)]
    alpha = ALPHA / max(1, len(shared))
    found: dict[int, _Found] = {}
    batches: dict[tuple[object, ...], list[int]] = {}
    for place, contest in enumerate(shared):
        paired = contest.paired
        if paired.panel.is_binary and paired.is_single and clusters is None:
            found[place] = _by_mcnemar(paired, alpha)
        else:
            batches.setdefault(_batch(paired), []).append(place)
    for places in batches.values():
        pairs = [shared[place].paired for place in places]
        results = _by_flips(pairs, clusters, n_tests=len(shared), seed=seed)
        found.update(zip(places, results, strict=True))
    adjusted = holm([found[place].p_value for place in range(len(shared))])
    return [
        _row(contest, found[place], adjusted[place] or 0.0, margin)
        for place, contest in enumerate(shared)
    ]


def subset(paired: Paired, keep: Iterable[bool]) -> Paired:
    """Return a pair on some of its tasks."""
    chosen = np.fromiter(keep, dtype=np.bool_, count=len(paired.tasks))
    tasks, attempts = paired.tasks[chosen], paired.panel.n_attempts
    is_same_a, is_same_b = paired.tested_a is paired.means_a, paired.tested_b is paired.means_b
    means_a, means_b = paired.means_a[chosen], paired.means_b[chosen]
    return replace(
        paired,
        tasks=tasks,
        means_a=means_a,
        means_b=means_b,
        tested_a=means_a if is_same_a else paired.tested_a[chosen],
        tested_b=means_b if is_same_b else paired.tested_b[chosen],
        n_attempts_a=int(attempts[paired.a, tasks].sum()),
        n_attempts_b=int(attempts[paired.b, tasks].sum()),
        is_single=bool(
            (attempts[paired.a, tasks] == 1).all() and (attempts[paired.b, tasks] == 1).all()
        ),
    )


def is_smaller_better(metric: str) -> bool:
    """Return whether less of a metric is better: of costs, times and tokens."""
    return metric in CALL_METRICS


def _by_mcnemar(paired: Paired, alpha: float) -> _Found:
    n, both = len(paired.tasks), int((paired.means_a * paired.means_b).sum())
    only_a, only_b = int(paired.means_a.sum()) - both, int(paired.means_b.sum()) - both
    p_values = mcnemar(only_a, only_b)
    ends = newcombe(both, only_a, only_b, n - both - only_a - only_b)
    return _Found(
        p_value=p_values.exact,
        p_mid=p_values.mid,
        interval=ends if n >= MIN_CLUSTERS else None,
        detectable=detectable_proportion(only_a + only_b, n, alpha=alpha),
        n_clusters=n,
        test="mcnemar",
        n_only=(only_a, only_b),
    )


def _batch(paired: Paired) -> tuple[object, ...]:
    """Return what pairs have in common that can be flipped and resampled together."""
    is_even = paired.tested_a is paired.means_a and paired.tested_b is paired.means_b
    own = () if is_even else (paired.a, paired.b)
    return (id(paired.panel), paired.tasks.tobytes(), *own)


def _by_flips(
    pairs: Sequence[Paired],
    clusters: Mapping[str, Hashable] | None,
    *,
    n_tests: int,
    seed: int,
) -> list[_Found]:
    panel, task_ids = pairs[0].panel, pairs[0].task_ids
    labels = [clusters.get(task) if clusters else None for task in task_ids]
    numbers = cluster_indices(labels)
    sizes = np.bincount(numbers).astype(np.float64)
    rows = sorted({row for paired in pairs for row in (paired.a, paired.b)})
    places = {row: place for place, row in enumerate(rows)}
    contrasts = np.zeros((len(pairs), len(rows)))
    for at, paired in enumerate(pairs):
        contrasts[at, places[paired.a]], contrasts[at, places[paired.b]] = 1.0, -1.0
    sums = cluster_sums(panel.means[rows][:, pairs[0].tasks], numbers)
    tested = sums
    if len(pairs) == 1 and pairs[0].tested_a is not pairs[0].means_a:
        values = {pairs[0].a: pairs[0].tested_a, pairs[0].b: pairs[0].tested_b}
        tested = cluster_sums(np.stack([values[row] for row in rows]), numbers)
    tests = sign_flips(tested, contrasts, n_tests=n_tests, seed=seed)
    largest = np.array([_largest(paired) for paired in pairs])
    intervals = mean_intervals(sums, sizes, contrasts, largest=largest, seed=seed)
    return [
        _Found(
            p_value=test.p_value,
            p_mid=None,
            interval=_clipped(ends, panel),
            detectable=_detectable(paired, numbers, sizes, ALPHA / max(1, n_tests)),
            n_clusters=len(sizes),
            test="sign_flip",
        )
        for paired, test, ends in zip(pairs, tests, intervals, strict=True)
    ]


def _largest(paired: Paired) -> float:
    """Return the difference for the two clusters that the bootstrap adds."""
    if paired.panel.is_binary:
        return 1.0
    most = float(np.abs(paired.differences).max())
    return most if most > 0 else paired.panel.scale or 0.0


def _clipped(ends: Interval | None, panel: Panel) -> Interval | None:
    if ends is None or panel.scale is None:
        return ends
    return type(ends)(max(-panel.scale, ends.low), min(panel.scale, ends.high))


def _detectable(paired: Paired, numbers: Indices, sizes: Floats, alpha: float) -> float | None:
    differences, n = paired.differences, len(sizes)
    if n < FEW_CLUSTERS:
        return None
    spread = cluster_sums(differences, numbers) - differences.mean() * sizes
    error = sqrt(float((spread**2).sum()) * n / (n - 1)) / len(differences)
    if error > 0:
        return detectable_mean(error, n, alpha=alpha)
    share, scale = detectable_proportion(0, n, alpha=alpha), paired.panel.scale
    return None if share is None or scale is None else share * scale


def _row(contest: Contest, found: _Found, p_adjusted: float, margin: float | None) -> Comparison:
    paired, panel = contest.paired, contest.paired.panel
    mean_a, mean_b = float(paired.means_a.mean()), float(paired.means_b.mean())
    ends, (only_a, only_b) = found.interval, found.n_only or (None, None)
    difference = _mean(paired)
    sign = -1.0 if is_smaller_better(panel.metric.metric) else 1.0
    return Comparison(
        suite=panel.suite,
        task_set=panel.task_set,
        metric=panel.metric.metric,
        a=contest.a,
        b=contest.b,
        n_tasks=len(paired.tasks),
        n_attempts_a=paired.n_attempts_a,
        n_attempts_b=paired.n_attempts_b,
        mean_a=mean_a,
        mean_b=mean_b,
        difference=difference,
        low=ends.low if ends else None,
        high=ends.high if ends else None,
        p_value=found.p_value,
        p_adjusted=p_adjusted,
        test=found.test,
        interval=("newcombe" if found.n_only else "bootstrap") if ends else None,
        n_only_a=only_a,
        n_only_b=only_b,
        conclusion=_conclusion(sign * difference, p_adjusted),
        noninferior=None if margin is None or ends is None else _worst(ends, sign) > -margin,
        detectable_difference=found.detectable,
        scorer=panel.metric.scorer,
        filter=panel.metric.filter,
        slice=contest.slice,
        n_clusters=found.n_clusters,
        n_unjudged_a=paired.n_unjudged_a,
        n_unjudged_b=paired.n_unjudged_b,
        n_excluded=paired.n_excluded,
        n_changed=paired.n_changed,
        p_mid=found.p_mid,
    )


def _mean(paired: Paired) -> float:
    return float(paired.differences.mean())


def _conclusion(advantage: float, p_adjusted: float) -> Conclusion:
    if p_adjusted >= ALPHA or advantage == 0:
        return "unclear"
    return "a" if advantage > 0 else "b"


def _worst(ends: Interval, sign: float) -> float:
    """Return the end of the interval that is worst for the first side, as an advantage."""
    return ends.low if sign > 0 else -ends.high
