"""Comparisons of two sides: what the test and the interval that fit their values show.

Several comparisons are adjusted together (Holm). A side is better only where the adjusted p-value
is below 0.05, the interval excludes 0, and at least 6 clusters of tasks differ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from warehouse.analysis.decisions.evidence import find_evidence, verdict_p_values
from warehouse.engine.scoring.bootstrap import holm
from warehouse.engine.statistics.arrays import MIN_CLUSTERS, cluster_sums
from warehouse.engine.statistics.detectable import (
    detectable_mean,
    detectable_proportion,
    variance_of_bounds,
)
from warehouse.engine.statistics.macros import mcnemar_p_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warehouse.analysis.decisions.evidence import Evidence
    from warehouse.analysis.decisions.paired import Paired

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
        low: lower end of its 95 % interval, which is the test inverted; None below 6 clusters, and
            of `sign_flip_log`, whose interval is that of the ratio.
        high: upper end.
        p_value: two-sided p-value.
        p_missing: two-sided p-value with every missing verdict counted against the side that is
            ahead, 1 if it then is not; None if none is missing.
        p_adjusted: the larger of the two, adjusted for all comparisons made together (Holm); None
            below 6 clusters, where no data could be significant.
        test: `score`, `bounded_mean`, `sign_flip_log` or `sign_flip`, see
            `warehouse/analysis/decisions/evidence.py`.
        n_only_a: tasks that only the first passed; None unless each was passed or failed once.
        n_only_b: tasks that only the second passed.
        conclusion: which side is better by p_adjusted < 0.05, an interval without 0 and 6
            differing clusters; see `less_is_better`.
        noninferior: whether the interval excludes that the first is worse by the margin; None
            without a margin or an interval.
        detectable_difference: true difference that would be found four times in five, see
            `warehouse/engine/statistics/detectable.py`; None below 20 clusters.
        scorer: what gave the score, if known.
        filter: how the answer was extracted, if known.
        slice: the tasks that the row is about, if not all.
        n_clusters: clusters of tasks; a task that depends on no other is one.
        n_unjudged_a: tasks that the first was asked, but that have no value.
        n_unjudged_b: tasks that the second was asked, but that have no value.
        n_excluded: tasks that both were asked, left out because only one side has a value.
        n_changed: tasks left out because their content differs between the sides.
        n_differing: clusters on which the sides differ.
        p_mcnemar: McNemar's exact p-value; only of `score`.
        p_exchangeable: p-value of sign flips, which test whether the sides can be exchanged, not
            whether their means are equal: decides nothing.
        ratio: typical value of the first side as a share of the second's: the geometric mean over
            the tasks; only of `sign_flip_log`.
        ratio_low: lower end of its 95 % interval.
        ratio_high: upper end.
        less_is_better: whether less of the metric is better: of costs, times and tokens, and of
            scores whose logs say so.
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
    p_missing: float | None
    p_adjusted: float | None
    test: str
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
    n_differing: int
    p_mcnemar: float | None
    p_exchangeable: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    less_is_better: bool


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


def compare(
    contests: Sequence[Contest],
    *,
    margin: float | None = None,
    seed: int = SEED,
    has_exchangeable: bool = True,
    n_intervals: int | None = None,
) -> list[Comparison]:
    """Compare pairs, adjusted together; pairs without a shared task are left out.

    Args:
        contests: the pairs.
        margin: the difference by which the first side may be worse and still not be inferior, in
            the metric's unit, above 0; of ratios, 0.1 means 10 % more.
        seed: of random subsets.
        has_exchangeable: whether `p_exchangeable` is wanted, which is slow.
        n_intervals: of how many pairs, those with the smallest p-values, the interval and what
            follows from it are wanted; by default, of all.
    """
    shared = [contest for contest in contests if len(contest.paired.tasks)]
    evidence = find_evidence(
        [contest.paired for contest in shared],
        seed=seed,
        has_exchangeable=has_exchangeable,
        n_intervals=n_intervals,
    )
    # No data of fewer clusters could be significant (Tarone 1990, Biometrics 46, 515).
    family = [place for place, each in enumerate(evidence) if each.n_clusters >= MIN_CLUSTERS]
    missing = _with_missing(shared)
    held = [max(evidence[place].p_value, missing.get(place, 0.0)) for place in family]
    adjusted = dict(zip(family, holm(held), strict=True))
    alpha = ALPHA / max(1, len(family))
    p_mcnemar = _p_mcnemar(evidence)
    rows = []
    for place, (contest, found) in enumerate(zip(shared, evidence, strict=True)):
        detectable = _detectable(contest, found, alpha)
        row = _row(contest, found, adjusted.get(place), detectable)
        worst = found
        if margin is not None and (against := contest.paired.against(is_a_ahead=True)):
            (worst,) = find_evidence([against], seed=seed)
        sign = -1.0 if row.less_is_better else 1.0
        rows.append(
            replace(
                row,
                p_missing=missing.get(place),
                p_mcnemar=p_mcnemar.get(place),
                noninferior=None if margin is None else _is_noninferior(worst, margin, sign),
            )
        )
    return rows


def _with_missing(contests: Sequence[Contest]) -> dict[int, float]:
    """Return `p_missing` of the pairs on which a verdict is missing, by place."""
    against: dict[int, Paired] = {}
    found: dict[int, float] = {}
    for place, contest in enumerate(contests):
        ahead = float(contest.paired.differences.sum())
        worst = contest.paired.against(is_a_ahead=ahead > 0)
        if worst is None:
            continue
        if ahead * float(worst.differences.sum()) > 0:
            against[place] = worst
        else:
            found[place] = 1.0
    return found | dict(zip(against, verdict_p_values(against.values()), strict=True))


def _p_mcnemar(evidence: Sequence[Evidence]) -> dict[int, float]:
    """Return McNemar's p-values of the pairs that the score test compares, by place."""
    counts = {place: each.n_only for place, each in enumerate(evidence) if each.n_only}
    if not counts:
        return {}
    return dict(zip(counts, mcnemar_p_values(*zip(*counts.values(), strict=True)), strict=True))


def subset(paired: Paired, keep: Iterable[bool]) -> Paired:
    """Return a pair on some of its tasks."""
    chosen = np.fromiter(keep, dtype=np.bool_, count=len(paired.tasks))
    tasks, attempts = paired.tasks[chosen], paired.panel.n_attempts
    return replace(
        paired,
        tasks=tasks,
        means_a=paired.means_a[chosen],
        means_b=paired.means_b[chosen],
        bounded=paired.bounded[np.isin(paired.bounded, tasks)],
        n_attempts_a=int(attempts[paired.a, tasks].sum()),
        n_attempts_b=int(attempts[paired.b, tasks].sum()),
        is_single=bool(
            (attempts[paired.a, tasks] == 1).all() and (attempts[paired.b, tasks] == 1).all()
        ),
    )


def _detectable(contest: Contest, found: Evidence, alpha: float) -> float | None:
    """Return the difference that would be found four times in five; None below 20 clusters."""
    paired, n = contest.paired, found.n_clusters
    if found.test == "score":
        return detectable_proportion(found.n_differing, n, alpha=alpha)
    if n < FEW_CLUSTERS or found.ratio is not None:
        return None
    clusters, differences = paired.clusters, paired.differences
    spread = differences - differences.mean()
    if clusters is not None:
        spread = cluster_sums(spread, clusters)
    error = sqrt(float((spread**2).sum()) * n / (n - 1)) / len(differences)
    if error > 0:
        bounds = variance_of_bounds(differences, found.interval, clusters) / len(differences) ** 2
        return detectable_mean(error, n, bounds=bounds, alpha=alpha)
    share, scale = detectable_proportion(0, n, alpha=alpha), paired.panel.scale
    return None if share is None or scale is None else share * scale


def _row(
    contest: Contest,
    found: Evidence,
    p_adjusted: float | None,
    detectable: float | None,
) -> Comparison:
    paired, panel = contest.paired, contest.paired.panel
    ends, (only_a, only_b) = found.interval, found.n_only or (None, None)
    ratio, limits = found.ratio or (None, None)
    difference = float(paired.differences.mean())
    sign = -1.0 if panel.less_is_better else 1.0
    return Comparison(
        suite=panel.suite,
        task_set=panel.task_set,
        metric=panel.metric.metric,
        a=contest.a,
        b=contest.b,
        n_tasks=len(paired.tasks),
        n_attempts_a=paired.n_attempts_a,
        n_attempts_b=paired.n_attempts_b,
        mean_a=float(paired.means_a.mean()),
        mean_b=float(paired.means_b.mean()),
        difference=difference,
        low=ends.low if ends else None,
        high=ends.high if ends else None,
        p_value=found.p_value,
        p_missing=None,
        p_adjusted=p_adjusted,
        test=found.test,
        n_only_a=only_a,
        n_only_b=only_b,
        conclusion=_conclusion(found, p_adjusted, sign),
        noninferior=None,
        detectable_difference=detectable,
        scorer=panel.metric.scorer,
        filter=panel.metric.filter,
        slice=contest.slice,
        n_clusters=found.n_clusters,
        n_unjudged_a=paired.n_unjudged_a,
        n_unjudged_b=paired.n_unjudged_b,
        n_excluded=paired.n_excluded,
        n_changed=paired.n_changed,
        n_differing=found.n_differing,
        p_mcnemar=None,
        p_exchangeable=found.p_exchangeable,
        ratio=ratio,
        ratio_low=limits.low if limits else None,
        ratio_high=limits.high if limits else None,
        less_is_better=panel.less_is_better,
    )


def _conclusion(found: Evidence, p_adjusted: float | None, sign: float) -> Conclusion:
    ends, none = (found.ratio[1], 1.0) if found.ratio else (found.interval, 0.0)
    if p_adjusted is None or p_adjusted >= ALPHA or ends is None:
        return "unclear"
    if found.n_differing < MIN_CLUSTERS or ends.low <= none <= ends.high:
        return "unclear"
    return "a" if (ends.low > none) == (sign > 0) else "b"


def _is_noninferior(found: Evidence, margin: float, sign: float) -> bool | None:
    """Return whether the interval excludes that the first side is worse by a margin or more."""
    if found.ratio is not None:
        limits = found.ratio[1]
        return None if limits is None else limits.high < 1 + margin
    ends = found.interval
    return None if ends is None else (ends.low if sign > 0 else -ends.high) > -margin
