"""What is compared for the sides of a command: which metric, which tasks, under which names."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from warehouse.analysis.decisions.clusters import set_clusters
from warehouse.analysis.decisions.comparison import Contest, subset
from warehouse.analysis.decisions.corrected import raw_metric
from warehouse.analysis.decisions.paired import across_suites, pair, pairs_of_sides, panels
from warehouse.analysis.decisions.series import (
    ALIASES,
    CALL_METRICS,
    SIDES,
    VERDICT,
    read_items,
    read_series,
    run_parameters,
)
from warehouse.analysis.decisions.sides import resolve_sides
from warehouse.analysis.decisions.task_columns import slices, task_values
from warehouse.core.errors import BadInput
from warehouse.core.suggestions import did_you_mean
from warehouse.core.text.figures import counted
from warehouse.engine.views.suite_traits import suite_traits

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    import duckdb
    import numpy.typing as npt

    from warehouse.analysis.decisions.paired import Missing, Panel
    from warehouse.analysis.decisions.rescored import Rescorer
    from warehouse.analysis.decisions.series import Series, SeriesKey
    from warehouse.analysis.decisions.sides import ResolvedSide

SideT = TypeVar("SideT", bound="Hashable")
# The tasks of each run of a series that count.
CountedTasks: TypeAlias = "dict[tuple[SeriesKey, str], set[str]]"

# Fewer of them hardly move a pass rate.
_MANY = 0.05
_UNANSWERED = (
    SIDES
    + """
SELECT sides.place, rates.n_open, rates.n_trials, list(rates.task_id) AS task_ids
FROM sides
JOIN scores.task_rates AS rates ON sides.entry = rates.entry
GROUP BY ALL
"""
)
_METRICS = """
SELECT scored.metric
FROM scores.scored_tasks AS scored
JOIN (SELECT unnest($side) AS side, unnest($suite) AS suite, unnest($run_id) AS run_id,
    unnest($model) AS model) AS sides USING (suite, run_id, model)
WHERE len(scored.scored) > 0
GROUP BY scored.metric
HAVING count(DISTINCT sides.side) > 1
ORDER BY scored.metric
"""
# Error rates and perplexities, by what their logs say.
_LESSER = """
SELECT suite, task_set, metric
FROM scores.lesser_metrics
SEMI JOIN (SELECT unnest($suite) AS suite, unnest($task_set) AS task_set) USING (suite, task_set)
"""
_ANSWERED = """
SELECT DISTINCT sides.side
FROM scores.outcomes AS calls
JOIN (SELECT unnest($side) AS side, unnest($suite) AS suite, unnest($run_id) AS run_id,
    unnest($model) AS model) AS sides USING (suite, run_id, model)
WHERE calls.is_answered
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which tasks and values count.

    Attributes:
        suite: the only suite, if given.
        task_set: the only task set, if given.
        metric: name of the metric; by default `passed`, and where nothing is judged so the main
            scores.
        missing: what becomes of tasks that were asked but not judged.
        rescorer: the re-score whose verdicts count as `passed`, if any.
        cluster: the column of tasks whose equal values mark tasks that depend on each other; by
            default, the clusters that the store knows.
        mix_runs: whether each task counts by the latest run that asked it, see `read_series`.
    """

    suite: str | None = None
    task_set: str | None = None
    metric: str | None = None
    missing: Missing = "exclude"
    rescorer: Rescorer | None = None
    cluster: str | None = None
    mix_runs: bool = False


def find_contests(
    connection: duckdb.DuckDBPyConnection, texts: Sequence[str], choice: Choice
) -> list[Contest]:
    """Return all pairs of the sides that share a task, in the order of the sides.

    Args:
        connection: an open warehouse.
        texts: the sides as written, two or more.
        choice: which tasks and values count.

    Raises:
        BadInput: a side is not known, or no two sides share a task with values.
    """
    sides = resolve_sides(connection, texts, suite=choice.suite)
    metric = ALIASES.get(choice.metric or "", choice.metric)
    metric = metric and raw_metric(metric)
    if choice.rescorer is not None:
        if metric not in {None, VERDICT}:
            raise BadInput(f"--scorer: a re-score is a verdict; leave out --metric {metric}")
        metric = VERDICT
    if metric in CALL_METRICS and choice.missing == "fail":
        raise BadInput(f"--missing fail: a task without a known {metric} has no value to count")
    found = _of_metric(connection, sides, metric or VERDICT, choice)
    judged = {contest.paired.panel.suite for contest in found}
    if metric is None and judged != {call.suite for side in sides for call in side.calls}:
        # Suites whose tasks are not passed or failed have other scores.
        found += [
            contest
            for contest in _of_metric(connection, sides, None, choice)
            if contest.paired.panel.suite not in judged and _is_main(contest.paired.panel)
        ]
    if not found:
        raise _nothing_shared(connection, sides, choice)
    return found


def sliced(
    connection: duckdb.DuckDBPyConnection, contests: Sequence[Contest], column: str
) -> list[Contest]:
    """Return a contest for each slice of each contest's tasks, by the values of a column.

    Raises:
        BadInput: no task has such a value, there are too many, or the tasks are of several suites.
    """
    values = task_values(connection, column)
    found: list[Contest] = []
    for contest in contests:
        paired = contest.paired
        of_tasks = _values_of(paired.panel, values)
        # Tasks whose verdicts are missing are in a slice, too.
        tasks = np.union1d(paired.tasks, paired.bounded)
        task_ids = [paired.panel.task_ids[task] for task in tasks]
        for label, keep in slices(of_tasks, task_ids).items():
            name = f"{column} {label}"
            kept = tasks[np.array(keep)]
            part = subset(paired, np.isin(paired.tasks, kept))
            part = replace(part, bounded=paired.bounded[np.isin(paired.bounded, kept)])
            found.append(Contest(a=contest.a, b=contest.b, paired=part, slice=name))
    return found


def _of_metric(
    connection: duckdb.DuckDBPyConnection,
    sides: Sequence[ResolvedSide],
    metric: str | None,
    choice: Choice,
) -> list[Contest]:
    series = read_series(
        connection,
        sides,
        metric=metric,
        task_set=choice.task_set,
        rescorer=choice.rescorer,
        mix_runs=choice.mix_runs,
    )
    found = _contests(connection, panels(series, missing=choice.missing), sides, choice)
    if found or len({one.key[1:3] for one in series}) < 2:  # noqa: PLR2004 - task sets
        return found
    items = read_items(connection, sides)
    return _contests(
        connection, across_suites(series, items, missing=choice.missing), sides, choice
    )


def _contests(
    connection: duckdb.DuckDBPyConnection,
    found: Sequence[Panel],
    sides: Sequence[ResolvedSide],
    choice: Choice,
) -> list[Contest]:
    set_clusters(connection, found, choice.cluster)
    set_directions(connection, found)
    _check_missing(found, choice)
    contests = []
    for panel in found:
        names = side_names(panel.series, sides)
        for a, b in pairs_of_sides(panel):
            paired = pair(panel, a, b)
            if len(paired.tasks):
                contests.append(Contest(a=names[a], b=names[b], paired=paired))
    return contests


def _check_missing(found: Sequence[Panel], choice: Choice) -> None:
    for panel in found:
        if choice.missing == "fail" and panel.less_is_better:
            raise BadInput(
                f"--missing fail: less of {panel.metric.metric} is better, so that a missing value "
                "would count as the best"
            )


def set_directions(connection: duckdb.DuckDBPyConnection, panels: Sequence[Panel]) -> None:
    """Set of which panels of scores less is better; of several suites, if all say so.

    Args:
        connection: an open warehouse.
        panels: the panels, whose `less_is_better` is set.
    """
    scores = [panel for panel in panels if panel.metric.metric not in {VERDICT, *CALL_METRICS}]
    if not scores:
        return
    sets = sorted({(one.key.suite, one.key.task_set) for panel in scores for one in panel.series})
    suites, task_sets = zip(*sets, strict=True)
    parameters = {"suite": list(suites), "task_set": list(task_sets)}
    lesser = {*connection.execute(_LESSER, parameters).fetchall()}
    for panel in scores:
        metric = panel.metric.metric
        of_panel = {(one.key.suite, one.key.task_set, metric) for one in panel.series}
        panel.less_is_better = of_panel <= lesser


def side_names(series: Sequence[Series], sides: Sequence[ResolvedSide]) -> list[str]:
    """Return a name for each series: the side as written, and what distinguishes it."""
    texts = [sides[one.key.side].text for one in series]
    return [
        text if texts.count(text) == 1 else _distinguished(one, text, series)
        for one, text in zip(series, texts, strict=True)
    ]


def _distinguished(one: Series, text: str, series: Sequence[Series]) -> str:
    key = one.key
    alike = [other.key for other in series if other.key.model == key.model]
    parts = []
    if len({other.provider for other in alike}) > 1:
        parts.append(key.provider or "no provider")
    if len({other.settings for other in alike}) > 1:
        parts.append(key.settings or "no settings")
    if len({other.suite for other in alike}) > 1:
        parts.append(key.suite)
    name = text if text.startswith(key.model) else f"{text}, {key.model}"
    return f"{name} ({', '.join(parts)})" if parts else name


def _is_main(panel: Panel) -> bool:
    return suite_traits(panel.suite).main_metric in {None, panel.metric.metric}


def _values_of(panel: Panel, values: Mapping[tuple[str, str], dict[str, str]]) -> dict[str, str]:
    found = values.get((panel.suite, panel.task_set))
    if found is None and "+" in panel.suite + panel.task_set:
        raise BadInput("--by: the tasks are of several suites or task sets; compare within one")
    return found or {}


def _nothing_shared(
    connection: duckdb.DuckDBPyConnection, sides: Sequence[ResolvedSide], choice: Choice
) -> BadInput:
    names = " and ".join(repr(side.text) for side in sides)
    if choice.rescorer is not None:
        hint = "`evalstore rescore` judges their answers"
        scorer = choice.rescorer.text
        return BadInput(f"--scorer: {names} have no task in common judged by {scorer}; {hint}")
    where = f" in task set {choice.task_set!r}" if choice.task_set else ""
    calls = [(place, *call) for place, side in enumerate(sides) for call in side.calls]
    parameters = {
        name: [call[at] for call in calls]
        for at, name in enumerate(("side", "suite", "run_id", "model"))
    }
    if len({side.text for side in sides}) == 1:
        hint = (
            "a model named twice is compared by its settings, of which no two share a scored task"
        )
        return BadInput(f"{names} are the same side; {hint}")
    known = [metric for (metric,) in connection.execute(_METRICS, parameters).fetchall()]
    if choice.metric is None or choice.metric in known:
        answered = {place for (place,) in connection.execute(_ANSWERED, parameters).fetchall()}
        silent = [repr(side.text) for place, side in enumerate(sides) if place not in answered]
        hint = "`evalstore show leaderboard` lists the models and task sets"
        if silent:
            hint = f"no call of {' and '.join(silent)} got an answer"
        return BadInput(f"{names} have no scored task in common{where}; {hint}")
    listed = f"they share: {', '.join([*known, *CALL_METRICS])}"
    hint = did_you_mean(choice.metric, [*known, *CALL_METRICS], listed)
    what = f"have no task in common{where} with a score {choice.metric!r}"
    return BadInput(f"--metric: {names} {what}; {hint}")


def unanswered_sentences(
    connection: duckdb.DuckDBPyConnection, contests: Iterable[Contest]
) -> dict[str, str]:
    """Return which sides got no answer to many calls: a sentence about each, by its name.

    Args:
        connection: an open warehouse.
        contests: the pairs; only those by the verdict count, and of these the tasks compared.
    """
    # The tasks of a side once, not of each of its pairs.
    compared: dict[tuple[str, Panel, int], npt.NDArray[np.bool_]] = {}
    for contest in contests:
        paired = contest.paired
        panel = paired.panel
        if panel.metric != (VERDICT, None, None):
            continue
        for name, place in ((contest.a, paired.a), (contest.b, paired.b)):
            none = np.zeros(len(panel.task_ids), dtype=bool)
            is_compared = compared.setdefault((name, panel, place), none)
            is_compared[paired.tasks] = is_compared[paired.bounded] = True
    sides: dict[tuple[str, SeriesKey], CountedTasks] = {}
    for (name, panel, place), is_compared in compared.items():
        one = panel.series[place]
        runs = sides.setdefault((name, one.key), {})
        for task in np.flatnonzero(is_compared):
            task_id = panel.task_ids[task]
            asked = one.asked[task_id]
            for run_id in (asked.run_id, *one.pooled):
                of_run = runs.setdefault((one.key, run_id), set())
                of_run.add(asked.task_id or task_id)
    n_boards = Counter(name for name, _ in sides)
    sentences: dict[str, list[str]] = {}
    for (name, key), text in unanswered_calls(connection, sides).items():
        board = f" ({key.suite}, {key.task_set})" if n_boards[name] > 1 else ""
        sentences.setdefault(name, []).append(f"{name}{board} {text}.")
    return {name: " ".join(texts) for name, texts in sentences.items()}


def unanswered_calls(
    connection: duckdb.DuckDBPyConnection, sides: Mapping[SideT, CountedTasks]
) -> dict[SideT, str]:
    """Return which sides got no answer to many of their calls, in words.

    Args:
        connection: an open warehouse.
        sides: the tasks of each side that count.
    """
    calls = [(side, run, tasks) for side, runs in sides.items() for run, tasks in runs.items()]
    parameters = run_parameters((place, *call[1]) for place, call in enumerate(calls))
    unanswered, total = Counter[SideT](), Counter[SideT]()
    rows = connection.execute(_UNANSWERED, parameters).fetchall()
    for place, n_open, n_trials, task_ids in rows:
        side, _, tasks = calls[place]
        n_tasks = len(tasks.intersection(task_ids))
        unanswered[side] += n_open * n_tasks
        total[side] += n_trials * n_tasks
    return {
        side: f"got no answer to {unanswered[side]:,} of {counted(total[side], 'call')}"
        # A side without any answer has no pass rate in which calls could count.
        + (", which count as not passed" if unanswered[side] < total[side] else "")
        for side in sides
        if unanswered[side] > _MANY * total[side]
    }
