"""The values of two sides on the tasks that both were asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from warehouse.analysis.decisions.pooling import pool_runs
from warehouse.analysis.decisions.series import CALL_METRICS, VERDICT, Asked, MetricKey, Series
from warehouse.engine.views.suite_traits import suite_traits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy.typing as npt

    from warehouse.analysis.decisions.series import SeriesKey
    from warehouse.engine.statistics.arrays import Floats, Indices

Missing: TypeAlias = Literal["exclude", "fail"]

_UNKNOWN = -1


@dataclass(slots=True, kw_only=True, eq=False)
class Panel:
    """All series of one metric on one task set, on a common list of tasks.

    Attributes:
        suite: suite of the runs; of several suites, their names joined with `+`.
        task_set: task set, joined likewise.
        metric: the metric.
        series: what was called.
        task_ids: the tasks, sorted; of several suites, the hashes of their items.
        means: mean of the attempts at each task, NaN without a value: shape (series, tasks).
        n_attempts: attempts with a value: shape (series, tasks).
        is_asked: whether the task was asked: shape (series, tasks).
        hashes: a number for each hash of a task's content, -1 if not known: shape (series, tasks).
        least: the least that each task can count, if every verdict that is missing is a failure:
            the mean, where none is; NaN without a call: shape (series, tasks).
        most: the most that it can count, likewise.
        is_binary: whether each attempt passed or failed.
        scale: largest possible value, 1 or 100; None if not known.
        clusters: a number for each task, equal for those that depend on each other: shape (tasks,);
            None if all are independent. See `set_clusters`.
        less_is_better: whether less of the metric is better: of costs, times and tokens, and of
            some scores, see `set_directions`.
    """

    suite: str
    task_set: str
    metric: MetricKey
    series: list[Series]
    task_ids: tuple[str, ...]
    means: Floats
    n_attempts: Indices
    is_asked: npt.NDArray[np.bool_]
    hashes: Indices
    least: Floats
    most: Floats
    is_binary: bool
    scale: float | None
    clusters: Indices | None = None
    less_is_better: bool = False

    def clusters_of(self, tasks: Indices) -> Indices | None:
        """Return the number of each task's cluster, from 0 and without gaps.

        None if no two of the tasks share one.

        Args:
            tasks: positions of the tasks.
        """
        if self.clusters is None:
            return None
        distinct, numbers = np.unique(self.clusters[tasks], return_inverse=True)
        return None if len(distinct) == len(tasks) else numbers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Paired:
    """Two sides on the tasks that both were asked and that have values, the first minus the second.

    Attributes:
        panel: where they are from.
        a: position of the first series in the panel.
        b: position of the second.
        tasks: positions of the tasks in the panel, ascending.
        means_a: mean of all attempts of the first at each of these tasks.
        means_b: mean of all attempts of the second.
        n_attempts_a: attempts of the first at these tasks.
        n_attempts_b: attempts of the second.
        is_single: whether each side has one attempt at each task.
        n_unjudged_a: tasks that the first was asked, but that have no value.
        n_unjudged_b: tasks that the second was asked, but that have no value.
        n_excluded: tasks that both were asked and that were left out, because only one has a value.
        n_changed: tasks of the same name whose content differs between the sides: not paired.
        bounded: positions of the tasks that both were asked, each of which has a mean or bounds, if
            a verdict is missing on any of them; none otherwise.
    """

    panel: Panel
    a: int
    b: int
    tasks: Indices
    means_a: Floats
    means_b: Floats
    n_attempts_a: int
    n_attempts_b: int
    is_single: bool
    n_unjudged_a: int
    n_unjudged_b: int
    n_excluded: int
    n_changed: int
    bounded: Indices

    @property
    def task_ids(self) -> list[str]:
        """The IDs of the tasks."""
        return [self.panel.task_ids[task] for task in self.tasks]

    @property
    def clusters(self) -> Indices | None:
        """The number of each task's cluster, from 0 and without gaps; None if each is one."""
        return self.panel.clusters_of(self.tasks)

    @property
    def differences(self) -> Floats:
        """The differences on the tasks, of all attempts."""
        return self.means_a - self.means_b

    def against(self, *, is_a_ahead: bool) -> Paired | None:
        """Return the pair with every missing verdict counted against the side that is ahead.

        None if no verdict is missing.
        """
        if not len(self.bounded):
            return None
        worse, better = self.panel.least, self.panel.most
        if self.panel.is_binary and self.is_single:
            # What is passed once in two attempts, and not judged the other time, is not passed.
            worse, better = np.floor(worse), np.ceil(better)
        of_a, of_b = (worse, better) if is_a_ahead else (better, worse)
        return replace(
            self,
            tasks=self.bounded,
            means_a=of_a[self.a, self.bounded],
            means_b=of_b[self.b, self.bounded],
        )

    def with_missing_failed(self, *, is_rescored: bool, is_first: bool) -> Paired | None:
        """Return the pair with what one side lacks on tasks of the other counted as failed.

        None if it lacks nothing there, and of metrics for which the worst value is not known.

        Args:
            is_rescored: whether the verdicts are a re-score's, of which no bounds are known.
            is_first: whether the side is the first, not the second.
        """
        panel = self.panel
        side, other = (self.a, self.b) if is_first else (self.b, self.a)
        least = least_means(panel, side, is_rescored=is_rescored)
        is_shared = panel.is_asked[self.a] & panel.is_asked[self.b]
        is_shared &= ~_has_changed(panel, self.a, self.b)
        tasks = np.flatnonzero(is_shared & ~np.isnan(panel.means[other]) & ~np.isnan(least))
        if (least[tasks] == panel.means[side, tasks]).all():
            return None
        worst, known = least[tasks], panel.means[other, tasks]
        if panel.is_binary and self.is_single:
            worst = np.floor(worst)
        means_a, means_b = (worst, known) if is_first else (known, worst)
        return replace(self, tasks=tasks, means_a=means_a, means_b=means_b)


def least_means(panel: Panel, row: int, *, is_rescored: bool) -> Floats:
    """Return the mean of a series on each task if all that it lacks had failed.

    NaN where it has no value and lacks none: tasks that it was not asked, or that nothing judges.
    If the least value of the metric is not known, the means as they are.

    Args:
        panel: the panel.
        row: position of the series.
        is_rescored: whether the verdicts are a re-score's, of which no bounds are known.
    """
    means: Floats = panel.means[row]
    if panel.scale is None or panel.metric.metric in CALL_METRICS:
        return means
    if panel.metric == MetricKey(VERDICT, None, None) and not is_rescored:
        least: Floats = panel.least[row]
        return least
    is_valued = ~np.isnan(panel.means).all(axis=0)
    failed: Floats = np.where(np.isnan(means) & panel.is_asked[row] & is_valued, 0.0, means)
    return failed


def panels(series: Iterable[Series], *, missing: Missing = "exclude") -> list[Panel]:
    """Return the series, grouped by suite, task set and metric.

    Args:
        series: the series; those with the same key are runs whose attempts are pooled.
        missing: with `fail`, a task that was asked but not judged counts as 0, unless it is judged
            for no side. Costs and times have no such value and stay unknown.
    """
    groups: dict[tuple[str, str, MetricKey], list[Series]] = {}
    for one in series:
        groups.setdefault((one.key.suite, one.key.task_set, one.metric), []).append(one)
    return [
        _panel(members, suite=suite, task_set=task_set, metric=metric, missing=missing)
        for (suite, task_set, metric), members in groups.items()
    ]


def across_suites(
    series: Iterable[Series],
    items: Mapping[tuple[SeriesKey, str, str], str],
    *,
    missing: Missing = "exclude",
) -> list[Panel]:
    """Return the series of several suites by metric, their tasks named by the items' hashes.

    Args:
        series: the series.
        items: the hash of the item of each series, task and run; see `read_items`.
        missing: as in `panels`.
    """
    groups: dict[MetricKey, list[Series]] = {}
    for one in series:
        # The tools' names for the scorer and the filter differ, though the metric is the same.
        metric = MetricKey(one.metric.metric, None, None)
        groups.setdefault(metric, []).append(_by_item(one, items))
    return [
        _panel(
            members,
            suite="+".join(sorted({one.key.suite for one in members})),
            task_set="+".join(sorted({one.key.task_set for one in members})),
            metric=metric,
            missing=missing,
        )
        for metric, members in groups.items()
    ]


def pair(panel: Panel, a: int, b: int) -> Paired:
    """Return two series of a panel on the tasks that both were asked and that have values.

    Args:
        panel: the panel.
        a: position of the first series.
        b: position of the second.
    """
    has_changed = _has_changed(panel, a, b)
    shared = panel.is_asked[a] & panel.is_asked[b]
    has_a, has_b = ~np.isnan(panel.means[a]), ~np.isnan(panel.means[b])
    tasks = np.flatnonzero(shared & has_a & has_b & ~has_changed)
    is_known = ~np.isnan(panel.least[a]) & ~np.isnan(panel.least[b])
    is_open = (panel.least[a] < panel.most[a]) | (panel.least[b] < panel.most[b])
    is_bounded = shared & ~has_changed & is_known
    means_a, means_b = panel.means[a, tasks], panel.means[b, tasks]
    attempts_a, attempts_b = panel.n_attempts[a, tasks], panel.n_attempts[b, tasks]
    return Paired(
        panel=panel,
        a=a,
        b=b,
        tasks=tasks,
        means_a=means_a,
        means_b=means_b,
        n_attempts_a=int(attempts_a.sum()),
        n_attempts_b=int(attempts_b.sum()),
        is_single=bool((attempts_a == 1).all() and (attempts_b == 1).all()),
        n_unjudged_a=_n_unjudged(panel, a),
        n_unjudged_b=_n_unjudged(panel, b),
        n_excluded=int((shared & ~has_changed & (has_a ^ has_b)).sum()),
        n_changed=int((shared & has_changed).sum()),
        bounded=np.flatnonzero(is_bounded & (is_bounded & is_open).any()),
    )


def _has_changed(panel: Panel, a: int, b: int) -> npt.NDArray[np.bool_]:
    """Return for each task whether its content is known to differ between two series."""
    of_a, of_b = panel.hashes[a], panel.hashes[b]
    return np.asarray((of_a != of_b) & (of_a != _UNKNOWN) & (of_b != _UNKNOWN))


def _panel(
    series: list[Series], *, suite: str, task_set: str, metric: MetricKey, missing: Missing
) -> Panel:
    if missing == "fail" and metric.metric not in CALL_METRICS:
        series = _fail_unjudged(series)
    series = pool_runs(series)
    task_ids = tuple(sorted(set().union(*(one.asked for one in series))))
    places = {task_id: place for place, task_id in enumerate(task_ids)}
    shape = len(series), len(task_ids)
    means, n_attempts = np.full(shape, np.nan), np.zeros(shape, dtype=np.int64)
    least, most = np.full(shape, np.nan), np.full(shape, np.nan)
    is_asked, hashes = np.zeros(shape, dtype=np.bool_), np.full(shape, _UNKNOWN, dtype=np.int64)
    numbers: dict[str, int] = {}
    for row, one in enumerate(series):
        for task_id, asked in one.asked.items():
            place = places[task_id]
            is_asked[row, place] = True
            if asked.task_hash is not None:
                hashes[row, place] = numbers.setdefault(asked.task_hash, len(numbers))
        for task_id, values in one.values.items():
            means[row, places[task_id]] = sum(values) / len(values)
            n_attempts[row, places[task_id]] = len(values)
        least[row], most[row] = means[row], means[row]
        for task_id, ends in one.bounds.items() if missing == "exclude" else ():
            least[row, places[task_id]], most[row, places[task_id]] = ends
    is_binary, scale = _kind(suite, metric, series)
    return Panel(
        suite=suite,
        task_set=task_set,
        metric=metric,
        series=series,
        task_ids=task_ids,
        means=means,
        n_attempts=n_attempts,
        is_asked=is_asked,
        hashes=hashes,
        least=least,
        most=most,
        is_binary=is_binary,
        scale=scale,
        less_is_better=metric.metric in CALL_METRICS,
    )


def _fail_unjudged(series: Iterable[Series]) -> list[Series]:
    """Give tasks that were asked but not judged the value 0, unless nothing ever judges them."""
    judged = set().union(*(one.values for one in series))
    return [
        replace(one, values=dict.fromkeys(one.asked.keys() & judged, (0.0,)) | one.values)
        for one in series
    ]


def _by_item(series: Series, items: Mapping[tuple[SeriesKey, str, str], str]) -> Series:
    """Name the tasks by their items; those of unknown items, or that share one, are left out."""
    named: dict[str, list[str]] = {}
    for task_id, asked in series.asked.items():
        if item := items.get((series.key, task_id, asked.run_id)):
            named.setdefault(item, []).append(task_id)
    single = {item: task_ids[0] for item, task_ids in named.items() if len(task_ids) == 1}
    return Series(
        key=series.key,
        metric=series.metric,
        newer=series.newer,
        asked={item: Asked(series.asked[task].run_id, None, task) for item, task in single.items()},
        values={
            item: series.values[task] for item, task in single.items() if task in series.values
        },
        bounds={
            item: series.bounds[task] for item, task in single.items() if task in series.bounds
        },
    )


def _kind(suite: str, metric: MetricKey, series: Iterable[Series]) -> tuple[bool, float | None]:
    """Return whether each attempt passed or failed, and the largest possible value if known."""
    if metric.metric in CALL_METRICS:
        return False, None
    if metric.metric in suite_traits(suite).percent_metrics:
        return False, 100.0
    found = set().union(*(values for one in series for values in one.values.values()))
    is_verdict = metric == MetricKey(VERDICT, None, None)
    # Scores that all happen to be 0 can be of any scale.
    is_binary = found <= {0.0, 1.0} and (is_verdict or 1.0 in found)
    is_share = bool(found) and min(found) >= 0 and 0 < max(found) <= 1
    return is_binary, 1.0 if is_binary or is_share else None


def _n_unjudged(panel: Panel, row: int) -> int:
    return int((panel.is_asked[row] & np.isnan(panel.means[row])).sum())


def pairs_of_sides(panel: Panel) -> list[tuple[int, int]]:
    """Return the pairs of series to compare: each of one side with each of every later one.

    Of three or more sides the settings of one model are compared with each other too, so that all
    can be ranked. Where both sides have the same model, provider and settings (of other runs), only
    these are compared; a model written twice is compared by its settings.
    """
    rows: dict[int, list[int]] = {}
    for row, one in enumerate(panel.series):
        rows.setdefault(one.key.side, []).append(row)
    found: list[tuple[int, int]] = []
    for first, second in combinations(sorted(rows), 2):
        found += _of_two_sides(panel, rows[first], rows[second])
    if len(rows) > 2:  # noqa: PLR2004 - sides
        found += [pair for members in rows.values() for pair in combinations(members, 2)]
    return sorted(found)


def pairs_between(panel: Panel, first: int, second: int) -> list[tuple[int, int]]:
    """Return the pairs of series to compare of two of the sides, as `pairs_of_sides` does."""
    rows = [
        [row for row, one in enumerate(panel.series) if one.key.side == side]
        for side in (first, second)
    ]
    return sorted(_of_two_sides(panel, *rows))


def _of_two_sides(panel: Panel, first: list[int], second: list[int]) -> list[tuple[int, int]]:
    names = [one.key[1:] for one in panel.series]
    every = list(product(first, second))
    same = [(a, b) for a, b in every if names[a] == names[b]]
    if other_runs := [(a, b) for a, b in same if panel.series[a].runs != panel.series[b].runs]:
        return other_runs
    differing = [(a, b) for a, b in every if names[a] != names[b]]
    # The same side twice: each pair once.
    return [pair for pair in differing if names[pair[0]] < names[pair[1]]] if same else differing
