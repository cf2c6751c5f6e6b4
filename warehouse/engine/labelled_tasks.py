"""Tasks of a run that a judge rated and people labelled in part, and what they say together.

The rows are those of `scores.labelled_tasks`. A figure is corrected only if it is known with
which probability the answers of each task were chosen to be labelled.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from math import sqrt
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from warehouse.engine.statistics.corrected_means import (
    MIN_LABELS,
    corrected_difference,
    corrected_mean,
)
from warehouse.engine.statistics.proportions import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import duckdb

    from warehouse.engine.statistics.arrays import Floats, Indices
    from warehouse.engine.statistics.corrected_means import CorrectedMean

# What the metric of a corrected figure is called, after the judge's own.
SUFFIX = " (corrected)"
# A shortfall of labels by more standard deviations has a probability of about 0.001.
_MOST_DEVIATIONS = 3.1
_COLUMNS = (
    "suite, run_id, entry, scorer, metric, task_id, source, value, label, is_partial, chance, "
    "scale_low, scale_high, cluster, n_results"
)
_N_KEY = 5

Chances: TypeAlias = "Floats | str"


class LabelKey(NamedTuple):
    """A run's model on a task set, by a judge and a criterion."""

    suite: str
    run_id: str
    entry: int
    scorer: str
    metric: str


class Corrected(NamedTuple):
    """A figure that labels correct, or why there is none.

    Attributes:
        remark: how many labels of whom, or "labelled answers only" and why.
        n_labels: labelled tasks.
        mean: the figure; None if there is none.
        interval: its interval; None if there is none.
        standard_error: of `mean`; None if there is none, and of the labels alone.
    """

    remark: str
    n_labels: int
    mean: float | None = None
    interval: Interval | None = None
    standard_error: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelledTasks:
    """The tasks of a run that a judge rated, sorted.

    Attributes:
        source: who labelled: people or gold.
        task_ids: the tasks.
        judge: the judge's mean rating of each.
        labels: the mean label of each, NaN without one.
        chances: the recorded probability that it was chosen to be labelled, NaN without one.
        limits: the scale; None if it is not recorded, or not one.
        n_partial: tasks of which only some answers are labelled.
        is_clustered: whether some tasks depend on each other.
        n_results: attempts at the tasks that the judge rated.
    """

    source: str
    task_ids: tuple[str, ...]
    judge: Floats
    labels: Floats
    chances: Floats
    limits: Interval | None
    n_partial: int
    is_clustered: bool
    n_results: int

    @property
    def n_labels(self) -> int:
        """Labelled tasks."""
        return int((~np.isnan(self.labels)).sum())

    def corrected(self, *, level: float = 0.95) -> Corrected:
        """Return the mean over all tasks, corrected by the labels."""
        chances = self.drawn_chances()
        if isinstance(chances, str) or self.limits is None:
            return _uncorrected(f"{self._counts}, {chances}", self.n_labels)
        found = corrected_mean(self.judge, self.labels, chances, limits=self.limits, level=level)
        return _figure(found, self.source, self._counts)

    @property
    def _counts(self) -> str:
        return f"{self.n_labels:,} of {len(self.task_ids):,} tasks"

    def drawn_chances(self) -> Chances:
        """Return the probability that each task was chosen to be labelled, or why it is unknown."""
        if self.is_clustered:
            return "some of which depend on each other"
        if self.n_partial:
            asked = "label all attempts and turns of a task, or none"
            return f"and {self.n_partial:,} more in part: {asked}"
        if self.limits is None or not self._is_on_scale():
            return "and no scale is recorded that all ratings are on"
        return _drawn_chances(~np.isnan(self.labels), self.chances)

    def _is_on_scale(self) -> bool:
        values, limits = np.concatenate([self.judge, self.labels]), self.limits
        values = values[~np.isnan(values)]
        return limits is not None and limits.low <= values.min() and values.max() <= limits.high


def _drawn_chances(
    is_labelled: np.ndarray[tuple[int], np.dtype[np.bool_]], chances: Floats
) -> Chances:
    """Return each task's probability; of those without a record, the one that all others have."""
    if is_labelled.all():
        return np.ones(len(chances))
    recorded = chances[~np.isnan(chances)]
    if np.isnan(chances[is_labelled]).any() or not (recorded > 0).all():
        return "and how they were drawn is not recorded"
    if len(recorded) < len(chances):
        if not len(recorded) or np.ptp(recorded) > 0:
            return "and the probabilities of the others are not recorded"
        chances = np.full(len(chances), recorded[0])
    expected, deviation = chances.sum(), sqrt(float((chances * (1 - chances)).sum()))
    if is_labelled.sum() < expected - _MOST_DEVIATIONS * deviation - 0.5:
        return f"although about {expected:,.0f} were drawn: which are left out is not by chance"
    return chances


def corrected_pair(
    a: LabelledTasks, b: LabelledTasks, task_ids: Sequence[str], *, level: float = 0.95
) -> Corrected:
    """Return the mean of the first less the second over some tasks, corrected by labels of both.

    Args:
        a: tasks of the first.
        b: tasks of the second, by the same judge and criterion.
        task_ids: tasks that both have.
        level: confidence of the interval.
    """
    places = [
        np.array([numbers[task_id] for task_id in task_ids], dtype=np.int64)
        for numbers in ({t: n for n, t in enumerate(side.task_ids)} for side in (a, b))
    ]
    judge = a.judge[places[0]], b.judge[places[1]]
    labels = a.labels[places[0]], b.labels[places[1]]
    n_labels = int((~np.isnan(labels[0] - labels[1])).sum())
    counts = f"{n_labels:,} of {len(task_ids):,} tasks of both"
    chances = _paired_chances(a, b, places)
    if isinstance(chances, str) or a.limits is None:
        return _uncorrected(f"{counts}, {chances}", n_labels)
    scale = a.limits.high - a.limits.low
    found = corrected_difference(judge, labels, chances, scale=scale, level=level)
    return _figure(found, a.source, counts)


def _paired_chances(a: LabelledTasks, b: LabelledTasks, places: Sequence[Indices]) -> Chances:
    sides = [side.drawn_chances() for side in (a, b)]
    if (reason := next((each for each in sides if isinstance(each, str)), None)) is not None:
        return reason
    if (a.source, a.limits) != (b.source, b.limits):
        return "by other raters, or on another scale"
    of_a, of_b = (side[place] for side, place in zip(sides, places, strict=True))
    # Equal chances are equal for pairs, too, drawn together or not; only their ratios matter.
    if np.ptp(of_a) == np.ptp(of_b) == 0:
        return of_a
    missing_a, missing_b = (
        np.isnan(side.labels[place]) for side, place in zip((a, b), places, strict=True)
    )
    if np.array_equal(of_a, of_b) and np.array_equal(missing_a, missing_b):
        return of_a
    return "and the two were drawn with different probabilities"


def _figure(found: CorrectedMean, source: str, counts: str) -> Corrected:
    labels = f"{found.n_labels:,} labels ({source})"
    if found.source == "labelled answers only":
        effective = f", which count as {found.n_effective:,.0f}"
        is_less = round(found.n_effective) < found.n_labels
        return _uncorrected(
            f"{counts}{effective if is_less else ''}; it takes {MIN_LABELS}", found.n_labels
        )
    if found.source == "judge and labels":
        remark = f"corrected by {labels}"
        return Corrected(remark, found.n_labels, found.mean, found.interval, found.standard_error)
    # The interval is about the labels' own mean.
    remark = f"{labels} alone: the judge narrows nothing"
    return Corrected(remark, found.n_labels, found.labelled_mean, found.interval)


def _uncorrected(reason: str, n_labels: int) -> Corrected:
    return Corrected(f"labelled answers only: {reason}", n_labels)


def read_labelled(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    parameters: Mapping[str, object] | None = None,
) -> Iterator[tuple[LabelKey, LabelledTasks]]:
    """Yield what judges and people said of the tasks of each run, in order.

    Args:
        connection: the warehouse.
        source: `scores.labelled_tasks`, or the part of it that is wanted, as after FROM.
        parameters: of `source`.
    """
    query = f"SELECT {_COLUMNS} FROM {source} ORDER BY ALL"  # noqa: S608 - `source` is ours
    rows = connection.execute(query, parameters or {}).fetchall()
    for key, members in groupby(rows, itemgetter(*range(_N_KEY))):
        yield LabelKey(*key), _labelled([row[_N_KEY:] for row in members])


def _labelled(rows: Sequence[tuple[object, ...]]) -> LabelledTasks:
    columns = list(zip(*rows, strict=True))
    task_ids, sources, judge, labels, partial, chances, low, high, clusters, n_results = columns
    scales = {scale for scale in zip(low, high, strict=True) if scale[0] is not None}
    known = [cluster for cluster in clusters if cluster is not None]
    return LabelledTasks(
        source=str(sources[0]),
        task_ids=task_ids,
        judge=np.array(judge, dtype=np.float64),
        labels=np.array(labels, dtype=np.float64),
        chances=np.array(chances, dtype=np.float64),
        limits=Interval(*scales.pop()) if len(scales) == 1 else None,
        n_partial=sum(map(bool, partial)),
        is_clustered=len(set(known)) < len(known),
        n_results=sum(n_results),
    )
