"""The verdicts of attempts as pass^k of their task: the probability that all of k attempts pass."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from math import comb
from typing import TYPE_CHECKING

from warehouse.analysis.decisions.pooling import pool_runs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warehouse.analysis.decisions.paired import Missing
    from warehouse.analysis.decisions.series import MetricKey, Series, Values


def pass_hat_series(series: Iterable[Series], k: int, *, missing: Missing) -> list[Series]:
    """Return the series with one value for each task, C(c, k) / C(n, k): c of n attempts passed.

    A task with fewer than k attempts that have a verdict has no value and counts in `n_too_few`.
    One without any attempt that a verdict could be missing of has none either: nothing judges it.

    Args:
        series: verdicts; of several runs with the same key, the attempts are pooled.
        k: number of attempts that must all pass.
        missing: with `exclude`, missing verdicts are bounds; with `fail`, the attempts failed.
    """
    by_metric: dict[MetricKey, list[Series]] = {}
    for one in series:
        by_metric.setdefault(one.metric, []).append(one)
    pooled = chain.from_iterable(map(pool_runs, by_metric.values()))
    return [_reduced(one, k, missing) for one in pooled]


def _reduced(series: Series, k: int, missing: Missing) -> Series:
    values: dict[str, Values] = {}
    bounds: dict[str, tuple[float, float]] = {}
    n_too_few = 0
    for task_id in series.asked:
        attempts = series.values.get(task_id, ())
        n, passed = len(attempts), round(sum(attempts))
        n_missing = series.n_missing.get(task_id, 0)
        if missing == "fail":
            n, n_missing = n + n_missing, 0
        if n < k:
            n_too_few += n + n_missing > 0
            continue
        values[task_id] = (comb(passed, k) / comb(n, k),)
        if n_missing:
            ways = comb(n + n_missing, k)
            bounds[task_id] = comb(passed, k) / ways, comb(passed + n_missing, k) / ways
    return replace(series, values=values, bounds=bounds, n_too_few=n_too_few)
