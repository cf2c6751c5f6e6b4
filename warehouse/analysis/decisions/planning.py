"""Plans of comparisons: how many tasks and attempts a difference takes, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from warehouse.analysis.decisions.gate.words import amount
from warehouse.analysis.decisions.paired import pair, pairs_of_sides
from warehouse.engine.statistics.arrays import MIN_CLUSTERS, cluster_sums
from warehouse.engine.statistics.bounded_means import bounded_mean_limits
from warehouse.engine.statistics.detectable import variance_of_bounds
from warehouse.engine.statistics.sample_size import (
    POWER,
    detectable,
    tasks_needed,
    tasks_needed_for_margin,
    tasks_needed_of_verdicts,
    upper_variance,
    variance_against_alike,
    variance_of,
    variance_of_difference,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from warehouse.analysis.decisions.paired import Panel
    from warehouse.analysis.decisions.series import SeriesKey
    from warehouse.engine.statistics.arrays import Floats, Indices
    from warehouse.engine.statistics.sample_size import Variance

ATTEMPTS = (1, 2, 3, 5, 10)
# With fewer tasks, the variances are too uncertain to plan with.
MIN_TASKS = 20
_STEPS = 14  # as those of detectable_proportion: a plan says what `compare` does


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a plan is for.

    Attributes:
        difference: true difference to be found, in the metric's unit, above 0 and the margin.
        margin: drop that a gate allows, if the plan is for a gate; None for `compare`.
        power: probability that it is found.
        alpha: level of the test: two-sided for `compare`, one-sided for a gate.
        attempts: numbers of attempts to consider.
        correlation: of the tasks' means with those of a model that is not known yet, 0 to 1.
    """

    difference: float
    margin: float | None = None
    power: float = POWER
    alpha: float = 0.05
    attempts: tuple[int, ...] = ATTEMPTS
    correlation: float = 0.5

    @property
    def tail(self) -> float:
        """The level of the one-sided test that finds the difference."""
        return self.alpha / 2 if self.margin is None else self.alpha

    @property
    def excess(self) -> float:
        """How far the difference is from what is tested."""
        return self.difference - (self.margin or 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRow:
    """A number of attempts, and the tasks that it takes with it.

    Attributes:
        suite: suite.
        task_set: task set.
        metric: the metric.
        a: the model.
        b: the other model; None if it is not known yet.
        n_attempts: attempts of each model at each task.
        n_tasks: tasks needed if the variance is that of the store's tasks; None if the variance
            within tasks is not known.
        n_tasks_safe: tasks needed if it is as large as the upper end of its 80 % interval.
        n_calls: calls of both models at n_tasks_safe tasks.
        cost_usd: their cost, US dollars; None if it is not known what a call costs.
        is_cheapest: whether no other number of attempts costs less; where costs are not known,
            takes fewer calls. Tasks that the task set does not have are not planned with.
        n_tasks_known: tasks that the store has values of.
        n_clusters_known: their clusters, of which a plan then assumes more of the same size; None
            if no two of the tasks are known to depend on each other.
        detectable_difference: difference that these would find with as many attempts.
        variance_between: variance of the difference between tasks.
        variance_within: variance of the difference of single attempts within a task.
        scale: largest possible value of the metric, 1 or 100; None if not known.
    """

    suite: str
    task_set: str
    metric: str
    a: str
    b: str | None
    n_attempts: int
    n_tasks: int | None
    n_tasks_safe: int | None
    n_calls: int | None
    cost_usd: float | None
    is_cheapest: bool
    n_tasks_known: int
    n_clusters_known: int | None
    detectable_difference: float | None
    variance_between: float | None
    variance_within: float | None
    scale: float | None


class _Pilot(NamedTuple):
    """What is known of the tasks.

    Attributes:
        variance: variance of the difference.
        n_tasks: tasks behind it.
        n_clusters: their clusters; None if the tasks are independent.
        design_effect: by how much the clusters increase the variance of a mean (Kish 1965).
        bounds: what the test adds to the variance of the sum of the differences.
    """

    variance: Variance
    n_tasks: int
    n_clusters: int | None
    design_effect: float
    bounds: float

    @property
    def n_units(self) -> int:
        """What is independent: the clusters, or the tasks."""
        return self.n_tasks if self.n_clusters is None else self.n_clusters


def plan_rows(
    panel: Panel, costs: Mapping[SeriesKey, float | None], wanted: Wanted
) -> Iterator[list[PlanRow]]:
    """Yield the rows of each pair of a panel's sides; of a single side, those of each series.

    Args:
        panel: values of one side or two.
        costs: mean cost of a call of each series, US dollars; None if not known.
        wanted: what the plan is for.
    """
    if len({series.key.side for series in panel.series}) > 1:
        for a, b in pairs_of_sides(panel):
            paired = pair(panel, a, b)
            tasks = paired.task_ids
            values = [[panel.series[row].values[task] for task in tasks] for row in (a, b)]
            if len(tasks) >= MIN_TASKS:
                cost = _sum(costs.get(panel.series[a].key), costs.get(panel.series[b].key))
                variance = variance_of_difference(*values)
                pilot = _pilot(variance, paired.differences, paired.clusters, panel.scale)
                if pilot.n_units >= MIN_CLUSTERS:
                    yield _rows(panel, (a, b), pilot, cost, wanted)
        return
    for row, series in enumerate(panel.series):
        known = [series.values[task] for task in sorted(series.values)]
        if len(known) >= MIN_TASKS:
            variance = variance_against_alike(variance_of(known), wanted.correlation)
            valued = np.flatnonzero(~np.isnan(panel.means[row]))
            # A difference from an unknown model is as if twice the distance from half the scale.
            middle = 0.0 if panel.scale is None else panel.scale / 2
            values = 2 * (panel.means[row, valued] - middle)
            pilot = _pilot(variance, values, panel.clusters_of(valued), panel.scale)
            cost = costs.get(series.key)
            if pilot.n_units >= MIN_CLUSTERS:
                yield _rows(panel, (row, None), pilot, _sum(cost, cost), wanted)


def _pilot(
    variance: Variance, values: Floats, clusters: Indices | None, scale: float | None
) -> _Pilot:
    limits = (
        None if scale is None else bounded_mean_limits(values, -scale, scale, clusters=clusters)
    )
    bounds = variance_of_bounds(values, limits, clusters)
    if clusters is None:
        return _Pilot(variance, len(values), None, 1.0, bounds)
    spread = values - values.mean()
    together, apart = (cluster_sums(spread, clusters) ** 2).sum(), (spread**2).sum()
    effect = max(1.0, float(together / apart)) if apart > 0 else 1.0
    return _Pilot(variance, len(values), int(clusters.max()) + 1, effect, bounds)


def _sum(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a + b


def _rows(
    panel: Panel,
    pair_of: tuple[int, int | None],
    pilot: _Pilot,
    cost: float | None,
    wanted: Wanted,
) -> list[PlanRow]:
    (a, b), variance, n_known = pair_of, pilot.variance, pilot.n_tasks
    # Of tasks in clusters the means are tested.
    can_be_verdicts = panel.is_binary and pilot.n_clusters is None
    rows = []
    for attempts in wanted.attempts:
        is_verdict = can_be_verdicts and attempts == 1
        of_task = variance.of_task(attempts)
        n_tasks, n_safe, found = None, None, None
        if of_task is not None:
            of_task *= pilot.design_effect
            safe = upper_variance(of_task, pilot.n_units, scale=panel.scale, is_verdict=is_verdict)
            bounds = None if is_verdict else pilot.bounds
            n_tasks, n_safe = (_needed(v, wanted, bounds) for v in (of_task, safe))
            found = _found(safe, n_known, wanted, bounds)
        n_pairs = None if n_safe is None else n_safe * attempts
        rows.append(
            PlanRow(
                suite=panel.suite,
                task_set=panel.task_set,
                metric=panel.metric.metric,
                a=_name(panel.series[a].key),
                b=None if b is None else _name(panel.series[b].key),
                n_attempts=attempts,
                n_tasks=n_tasks,
                n_tasks_safe=n_safe,
                n_calls=None if n_pairs is None else 2 * n_pairs,
                cost_usd=None if n_pairs is None or cost is None else n_pairs * cost,
                is_cheapest=False,
                n_tasks_known=n_known,
                n_clusters_known=pilot.n_clusters,
                detectable_difference=found,
                variance_between=variance.between,
                variance_within=variance.within,
                scale=panel.scale,
            )
        )
    return _with_cheapest(rows, len(panel.task_ids))


def _with_cheapest(rows: Sequence[PlanRow], n_tasks: int) -> list[PlanRow]:
    """Mark the row with the fewest calls that the task set has enough tasks for.

    All calls of a plan cost the same, so that the fewest calls are the cheapest. If the task set is
    too small for every row, it is the row with the fewest calls at all.
    """
    known = [row for row in rows if row.n_calls is not None and row.n_tasks is not None]
    feasible = [row for row in known if (row.n_tasks_safe or 0) <= n_tasks] or known
    if not feasible:
        return list(rows)
    best = min(feasible, key=lambda row: (row.n_calls or 0, row.n_attempts))
    return [replace(row, is_cheapest=row is best) for row in rows]


def _needed(variance: float, wanted: Wanted, bounds: float | None) -> int:
    """Return the tasks that the test needs; of single verdicts the variance is a share of tasks.

    Args:
        variance: of the difference on a task.
        wanted: what the plan is for.
        bounds: what the test adds to the variance of the sum; None of single verdicts.
    """
    power, alpha = wanted.power, wanted.alpha
    if bounds is not None:
        return tasks_needed(variance, wanted.excess, bounds=bounds, tail=wanted.tail, power=power)
    if wanted.margin is None:
        return tasks_needed_of_verdicts(variance, wanted.difference, alpha=alpha, power=power)
    return tasks_needed_for_margin(
        variance, wanted.difference, wanted.margin, alpha=alpha, power=power
    )


def _found(variance: float, n_tasks: int, wanted: Wanted, bounds: float | None) -> float | None:
    """Return the difference that so many tasks find; None if none does."""
    if bounds is not None:
        tail, power = wanted.tail, wanted.power
        excess = detectable(variance, n_tasks, bounds=bounds, tail=tail, power=power)
        return excess + (wanted.margin or 0.0)
    if _needed(variance, replace(wanted, difference=1.0), None) > n_tasks:
        return None
    low, high = wanted.margin or 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        n_needed = _needed(variance, replace(wanted, difference=middle), None)
        low, high = (low, middle) if n_needed <= n_tasks else (middle, high)
    return high


def _name(key: SeriesKey) -> str:
    return f"{key.model} ({key.settings})" if key.settings else key.model


def mean_costs(panels: Sequence[Panel]) -> dict[SeriesKey, float | None]:
    """Return the mean cost of a call of each series, from panels of the metric `cost_usd`."""
    costs: dict[SeriesKey, float | None] = {}
    for panel in panels:
        for series in panel.series:
            values = [value for attempts in series.values.values() for value in attempts]
            costs[series.key] = float(np.mean(values)) if values else None
    return costs


def plan_sentence(rows: Sequence[PlanRow], wanted: Wanted) -> str:
    """Return what a plan says: the cheapest way, and what the present tasks would find."""
    first = rows[0]
    best = next((row for row in rows if row.is_cheapest), None)
    difference = amount(wanted.difference, first.scale)
    aim = f"{100 * wanted.power:.3g} % power to detect {_what(first, wanted)} of {difference}"
    if best is None or best.n_tasks_safe is None or best.n_calls is None:
        return f"{_place(first)}: {aim} cannot be planned: no task has two attempts."
    attempts = "1 attempt" if best.n_attempts == 1 else f"{best.n_attempts} attempts"
    cost = "" if best.cost_usd is None else f", about {best.cost_usd:,.2f} US dollars"
    text = (
        f"{_place(first)}: {aim} takes {best.n_tasks:,} tasks if the pilot is right, "
        f"{best.n_tasks_safe:,} to be safe, with {attempts} of each "
        f"({best.n_calls:,} calls{cost}). The pilot is the {_tasks(best)} of the "
        "store."
    )
    if best.detectable_difference is not None:
        found = amount(best.detectable_difference, first.scale)
        text += f" They have that power for {found}."
    if first.variance_within is None and len(rows) > 1:
        text += " No task has two attempts, so that more attempts cannot be planned."
    return text


def _tasks(row: PlanRow) -> str:
    tasks = f"{row.n_tasks_known:,} tasks"
    if row.n_clusters_known is None:
        return tasks
    return f"{tasks} in {row.n_clusters_known:,} clusters"


def _what(row: PlanRow, wanted: Wanted) -> str:
    sides = f"between {row.a} and {row.b}" if row.b else f"from {row.a}"
    if wanted.margin is None:
        return f"a difference {sides}"
    return f"a drop {sides}, of which the gate allows {amount(wanted.margin, row.scale)},"


def _place(row: PlanRow) -> str:
    return "/".join(dict.fromkeys((row.suite, row.task_set))) + f", {row.metric}"
