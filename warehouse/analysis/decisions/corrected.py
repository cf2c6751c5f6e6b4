"""Differences by a judge's metric, corrected by labels of people or gold on the same tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.core.text.figures import number
from warehouse.engine.labelled_tasks import SUFFIX, Corrected, corrected_pair, read_labelled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import duckdb

    from warehouse.analysis.decisions.comparison import Contest
    from warehouse.analysis.decisions.paired import Paired
    from warehouse.analysis.decisions.series import MetricKey, Series
    from warehouse.engine.labelled_tasks import LabelledTasks

# Constants are pushed down to the ratings, a join would not be.
_OF_SERIES = """(
    FROM scores.labelled_tasks
    WHERE suite = $suite AND run_id = $run_id AND scorer = $scorer AND metric = $metric
        AND entry IN (
            SELECT entry FROM scores.entries
            WHERE suite = $suite AND run_id = $run_id AND task_set = $task_set AND NOT is_replay
                AND provider IS NOT DISTINCT FROM $provider AND model = $model
                AND settings = $settings
        )
)"""
_IS_JUDGE = """
SELECT true FROM lake.ratings
WHERE rater_kind NOT IN ('human', 'gold') AND criterion = $metric
    AND rater_name(rater, rater_kind, rater_config) = $scorer
LIMIT 1
"""
# More sentences than this nobody reads.
_MOST_SENTENCES = 6


def raw_metric(metric: str) -> str:
    """Return the judge's own metric that a corrected one is about; any other as it is."""
    return metric.removesuffix(SUFFIX)


def labelled_tasks(
    connection: duckdb.DuckDBPyConnection, series: Series, metric: MetricKey
) -> LabelledTasks | None:
    """Return the labelled tasks of a run; None where no label is on what the judge rated.

    Args:
        connection: an open warehouse.
        series: the tasks of one run.
        metric: what the judge rated, and the judge.
    """
    if metric.scorer is None or len(series.runs) != 1:
        return None
    _, *of_calls = series.key
    names = ("suite", "task_set", "provider", "model", "settings")
    parameters = dict(zip(names, of_calls, strict=True)) | {
        "run_id": series.runs[0],
        "scorer": metric.scorer,
        "metric": metric.metric,
    }
    found = [tasks for _, tasks in read_labelled(connection, _OF_SERIES, parameters)]
    return found[0] if found and found[0].n_labels else None


def corrected_difference(
    paired: Paired, sides: tuple[LabelledTasks | None, LabelledTasks | None], *, level: float = 0.95
) -> Corrected:
    """Return the mean of the first side less the second's, corrected by labels of both.

    Args:
        paired: the tasks, with the judge's values.
        sides: their labels, see `labelled_tasks`.
        level: confidence of the interval.
    """
    a, b = sides
    if a is None or b is None:
        sides_with = "neither side has" if a is b else "only one side has"
        return Corrected(f"labelled answers only: {sides_with} labels of one run's answers", 0)
    known = set(a.task_ids) & set(b.task_ids)
    task_ids = [task_id for task_id in paired.task_ids if task_id in known]
    return corrected_pair(a, b, task_ids, level=level)


def correction_sentences(
    connection: duckdb.DuckDBPyConnection, contests: Sequence[Contest]
) -> Iterator[str]:
    """Yield the corrected difference of each comparison by a judge, or why there is none.

    Args:
        connection: an open warehouse.
        contests: what is compared.
    """
    judged = [each for each in contests if _is_by_judge(connection, each.paired.panel.metric)]
    if len(judged) > _MOST_SENTENCES:
        yield "Labels correct the differences of judges; compare two models to see them."
        return
    for contest in judged:
        paired, metric = contest.paired, contest.paired.panel.metric
        a, b = (
            labelled_tasks(connection, paired.panel.series[row], metric)
            for row in (paired.a, paired.b)
        )
        found = corrected_difference(paired, (a, b))
        what = f"{metric.metric} by {metric.scorer}, {contest.a} less {contest.b}"
        if found.mean is None or found.interval is None:
            yield f"{what}: not corrected; {found.remark}."
            continue
        low, high = map(number, found.interval)
        interval = f"95 % interval {low} to {high}"
        yield f"{what}: {number(found.mean)} ({interval}; {found.remark})."


def _is_by_judge(connection: duckdb.DuckDBPyConnection, metric: MetricKey) -> bool:
    parameters = {"scorer": metric.scorer, "metric": metric.metric}
    return metric.scorer is not None and bool(connection.execute(_IS_JUDGE, parameters).fetchall())
