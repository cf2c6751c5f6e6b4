"""Runs of the same model, settings and tasks as one: their attempts at each task together."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warehouse.analysis.decisions.series import Asked, Series, SeriesKey


def pool_runs(series: Iterable[Series]) -> list[Series]:
    """Return one series for each key: the tasks of the first, with the attempts of all.

    Attempts at a task whose content differs from the first run's are left out. Where verdicts are
    missing, the bounds are the mean of those of the runs.
    """
    members: dict[SeriesKey, list[Series]] = {}
    for one in series:
        members.setdefault(one.key, []).append(one)
    return [_pooled(first, others) if others else first for first, *others in members.values()]


def _pooled(first: Series, others: Sequence[Series]) -> Series:
    values, bounds, n_missing = dict(first.values), dict(first.bounds), dict(first.n_missing)
    for task_id, asked in first.asked.items():
        runs = [first, *(one for one in others if _is_same_task(asked, one.asked.get(task_id)))]
        if found := [one.values[task_id] for one in runs if task_id in one.values]:
            values[task_id] = tuple(chain.from_iterable(found))
        if any(task_id in one.bounds for one in runs):
            ends = [pair for one in runs for pair in _ends(one, task_id)]
            least, most = (sum(side) / len(ends) for side in zip(*ends, strict=True))
            bounds[task_id] = least, most
            n_missing[task_id] = sum(one.n_missing.get(task_id, 0) for one in runs)
    pooled = tuple(run for one in others for run in one.runs)
    return replace(first, pooled=pooled, values=values, bounds=bounds, n_missing=n_missing)


def _is_same_task(asked: Asked, other: Asked | None) -> bool:
    if other is None:
        return False
    hashes = {asked.task_hash, other.task_hash}
    return len(hashes) == 1 or None in hashes


def _ends(series: Series, task_id: str) -> list[tuple[float, float]]:
    """Return the least and most that a task can count; nothing if it cannot have a verdict."""
    if task_id in series.bounds:
        return [series.bounds[task_id]]
    values = series.values.get(task_id)
    return [(sum(values) / len(values),) * 2] if values else []
