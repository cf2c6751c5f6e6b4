"""Plans of labels: how many narrow the interval of a judge's figure, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from warehouse.core.errors import BadInput
from warehouse.core.text.figures import percent
from warehouse.engine.labelled_tasks import read_labelled
from warehouse.engine.statistics.corrected_means import MIN_LABELS
from warehouse.engine.statistics.label_plans import judge_correlation, planned_width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import duckdb

_NUMBERS = (30, 50, 100, 200, 300, 500, 1000, 2000)
# Of a judge whose accuracy no labels show.
_ACCURACIES = (0.7, 0.8, 0.9)
# A narrower interval is worth a label only if it can be seen.
_LEAST_NARROWING = 0.02
_JUDGES = """
WITH judges AS (
    SELECT
        coalesce(rated_suite, suite) AS suite, criterion AS metric,
        rater_name(rater, rater_kind, rater_config) AS scorer,
        min(scale_low) AS low, max(scale_high) AS high
    FROM lake.ratings
    WHERE rater_kind NOT IN ('human', 'gold') AND value IS NOT NULL
    GROUP BY ALL
    -- A mean over several scales has none.
    HAVING low < high AND max(scale_low) = low AND min(scale_high) = high
)

SELECT
    entries.suite, entries.task_set, scorer, metric, any_value(low) AS low, any_value(high) AS high,
    max(n_tasks) AS n_answers, exact_sum(mean * n_tasks) / sum(n_tasks) AS mean
FROM scores.headline_scores AS scored
JOIN scores.entries AS entries ON scored.entry = entries.entry
JOIN judges USING (suite, scorer, metric)
WHERE suite = $suite AND remark IS NULL AND mean IS NOT NULL
GROUP BY ALL
ORDER BY ALL
"""
_LABELLED = """(
    SELECT labelled.* FROM scores.labelled_tasks AS labelled
    JOIN scores.entries AS entries ON labelled.entry = entries.entry
    WHERE labelled.suite = $suite AND entries.task_set = $task_set
        AND scorer = $scorer AND metric = $metric
)"""


class _Judge(NamedTuple):
    """A judge's ratings of a task set: its scale, the most answers of a model, its mean."""

    suite: str
    task_set: str
    scorer: str
    metric: str
    low: float
    high: float
    n_answers: int
    mean: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPlanRow:
    """How wide the interval of a figure is with so many labels of a model's answers.

    Attributes:
        suite: suite.
        task_set: task set.
        scorer: the judge.
        metric: the criterion.
        n_answers: most tasks that it rated of one model.
        n_labels: labels of them, chosen at random.
        accuracy: share of right verdicts that is assumed; None where labels show how good it is.
        correlation: of the judge's ratings with labels.
        n_pilot: labels that show it; 0 if it is assumed.
        width_of_labels: expected width of the 95 % interval of the labels alone.
        width: of the corrected figure; at most so wide where ratings are more than pass and fail.
    """

    suite: str
    task_set: str
    scorer: str
    metric: str
    n_answers: int
    n_labels: int
    accuracy: float | None
    correlation: float
    n_pilot: int
    width_of_labels: float
    width: float

    @property
    def is_narrower(self) -> bool:
        """Whether the judge narrows the interval visibly."""
        return self.width <= (1 - _LEAST_NARROWING) * self.width_of_labels


def plan_labels(connection: duckdb.DuckDBPyConnection, suites: Sequence[str]) -> list[LabelPlanRow]:
    """Return what labels would narrow, by suite, task set, judge and criterion.

    Args:
        connection: an open warehouse.
        suites: the suites of the answers.

    Raises:
        BadInput: no judge has rated 30 answers of a suite on a recorded scale.
    """
    found: list[LabelPlanRow] = []
    for suite in dict.fromkeys(suites):
        rows = connection.execute(_JUDGES, {"suite": suite}).fetchall()
        judges = [judge for judge in map(_Judge._make, rows) if judge.n_answers >= MIN_LABELS]
        if not judges:
            raise BadInput(
                f"--labels {suite}: no judge has rated {MIN_LABELS} answers of a model on a "
                "recorded scale, always the same; `evalstore judges` lists the judges"
            )
        for judge in judges:
            found += _rows(connection, judge)
    return found


def _rows(connection: duckdb.DuckDBPyConnection, judge: _Judge) -> Iterator[LabelPlanRow]:
    width = judge.high - judge.low
    n_pilot, mean, correlation = _pilot(connection, judge)
    rate = min(1.0, max(0.0, (mean - judge.low) / width))
    cases: list[tuple[float | None, float]] = [(None, correlation or 0.0)]
    if correlation is None:
        cases = [(accuracy, judge_correlation(rate, accuracy)) for accuracy in _ACCURACIES]
    for accuracy, assumed in cases:
        for n_labels in _NUMBERS:
            if n_labels > judge.n_answers:
                break
            planned = planned_width(n_labels, judge.n_answers, rate=rate, correlation=assumed)
            yield LabelPlanRow(
                suite=judge.suite,
                task_set=judge.task_set,
                scorer=judge.scorer,
                metric=judge.metric,
                n_answers=judge.n_answers,
                n_labels=n_labels,
                accuracy=accuracy,
                correlation=assumed,
                n_pilot=n_pilot,
                width_of_labels=width * planned.own_width,
                width=width * planned.width,
            )


def _pilot(connection: duckdb.DuckDBPyConnection, judge: _Judge) -> tuple[int, float, float | None]:
    """Return the number of labels, their mean and the correlation within models.

    Of fewer than 30 labels, or of equal ones, these are 0, the judge's mean and None.
    """
    key = {name: getattr(judge, name) for name in ("suite", "task_set", "scorer", "metric")}
    judged, labels, spreads = [], [], []
    for _, tasks in read_labelled(connection, _LABELLED, key):
        is_labelled = ~np.isnan(tasks.labels)
        if is_labelled.any():
            both = tasks.judge[is_labelled], tasks.labels[is_labelled]
            labels.append(both[1])
            judged.append(both[0] - both[0].mean())
            spreads.append(both[1] - both[1].mean())
    n_pilot = sum(map(len, labels))
    if n_pilot < MIN_LABELS:
        return 0, judge.mean, None
    x, y = np.concatenate(judged), np.concatenate(spreads)
    total = float(np.sqrt((x**2).sum() * (y**2).sum()))
    mean = float(np.concatenate(labels).mean())
    return (n_pilot, mean, float((x * y).sum()) / total) if total else (0, judge.mean, None)


def label_sentences(rows: Sequence[LabelPlanRow]) -> Iterator[str]:
    """Yield for each judge from how many labels on it narrows the interval of a figure."""
    for _, members in groupby(
        rows, attrgetter("suite", "task_set", "scorer", "metric", "accuracy")
    ):
        of_judge = list(members)
        first = of_judge[0]
        place = "/".join(dict.fromkeys((first.suite, first.task_set)))
        known = f"a correlation of {first.correlation:.2f} with {first.n_pilot:,} labels"
        if first.accuracy is not None:
            known = f"if it is right {percent(first.accuracy)} of the time, which no labels show"
        narrow = next((row for row in of_judge if row.is_narrower), None)
        says = f"{first.n_labels} labels narrow nothing" if not first.is_narrower else ""
        if narrow is None:
            says = f"up to {of_judge[-1].n_labels:,} labels it narrows nothing"
        else:
            gain = 1 - narrow.width / narrow.width_of_labels
            by = f"with {narrow.n_labels:,} the interval is {percent(gain)} narrower"
            says = "; ".join(filter(None, [says, f"{by} than that of the labels alone"]))
        yield f"{place}, {first.metric} by {first.scorer} ({known}): {says}."
