"""The values of each side on its tasks, as the views have them.

Of several runs, the one counts that stands on the board (`scores.board_runs`): the latest of those
that asked most of the task set's version. Where it has no value for a task, the task is asked but
not judged: a value of another run does not stand in for it. Only if runs are to be mixed, each task
counts by the latest run that asked it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import date

    import duckdb

    from warehouse.analysis.decisions.rescored import Rescorer
    from warehouse.analysis.decisions.sides import ResolvedSide

# What a metric of calls is computed from; smaller values are better.
CALL_METRICS: Mapping[str, str] = {
    "cost_usd": "if(is_cached, NULL, cost_usd)",
    "latency_ms": "if(is_cached OR NOT is_answered, NULL, latency_ms)",
    "ttft_ms": "if(is_cached OR NOT is_answered, NULL, ttft_ms)",
    "tokens": "if(is_answered, input_tokens + output_tokens, NULL)",
    "input_tokens": "if(is_answered, input_tokens, NULL)",
    "output_tokens": "if(is_answered, output_tokens, NULL)",
}
ALIASES: Mapping[str, str] = {"cost": "cost_usd", "latency": "latency_ms"}
VERDICT = "passed"

# The runs of each side, the one first that counts if runs are not mixed.
_ENTRIES = """
WITH sides AS (
    SELECT unnest($side) AS side, unnest($suite) AS suite, unnest($run_id) AS run_id,
        unnest($model) AS model
),

entries AS (
    SELECT sides.side, entries.*
    FROM scores.entries AS entries
    JOIN sides USING (suite, run_id, model)
    WHERE NOT entries.is_replay AND ($task_set IS NULL OR entries.task_set = $task_set)
),

covered AS (
    SELECT
        facts.entry,
        count(*) AS n_tasks,
        count(newest.task_set) AS n_covered,
        max(facts.n_counted) > 0 AS is_counted,
        sum(facts.n_results) > sum(facts.n_unanswered) AS is_answered
    FROM scores.task_facts AS facts
    LEFT JOIN scores.newest_tasks AS newest
        ON facts.suite = newest.suite
        AND facts.task_set = newest.task_set
        AND facts.task_id IS NOT DISTINCT FROM newest.task_id
        AND coalesce(facts.task_hash = newest.task_hash, true)
    WHERE facts.entry IN (SELECT entry FROM entries)
    GROUP BY facts.entry
)

SELECT
    entries.side, entries.suite, entries.task_set, entries.provider, entries.model,
    entries.settings, entries.run_id, covered.n_tasks, covered.n_covered,
    covered.is_counted AND covered.is_answered AS is_answered, times.position, times.run_date,
    row_number() OVER (
        PARTITION BY entries.side, entries.series, entries.task_set
        ORDER BY covered.is_counted DESC, covered.is_answered DESC, covered.n_covered DESC,
            times.position DESC
    ) = 1 AS is_on_board,
    entries.entry IN (SELECT other_entry FROM scores.completions) AS is_completion
FROM entries
JOIN covered ON entries.entry = covered.entry
JOIN scores.run_times AS times
    ON entries.suite = times.suite AND entries.run_id = times.run_id
ORDER BY ALL
"""
_OF_SIDE = """
    ON {table}.suite = {sides}.suite
    AND {table}.run_id = {sides}.run_id
    AND {table}.task_set = {sides}.task_set
    AND {table}.provider IS NOT DISTINCT FROM {sides}.provider
    AND {table}.model = {sides}.model
    AND {table}.settings = {sides}.settings
"""
# Runs of series, see `run_parameters`, with their entries.
SIDES = (
    """
WITH named AS (
    SELECT unnest($place) AS place, unnest($suite) AS suite, unnest($task_set) AS task_set,
        unnest($provider) AS provider, unnest($model) AS model, unnest($settings) AS settings,
        unnest($run_id) AS run_id
),

sides AS (
    SELECT named.*, entries.entry
    FROM scores.entries AS entries
    JOIN named"""  # noqa: S608 - a constant
    + _OF_SIDE.format(table="entries", sides="named")
    + """
    WHERE NOT entries.is_replay
)
"""
)
# The hash of a task is that of the call. A run asks one version of a task.
_ASKED = (
    SIDES
    + """
SELECT sides.place, facts.task_id, facts.task_hash
FROM scores.task_facts AS facts
JOIN sides ON facts.entry = sides.entry
ANTI JOIN (FROM scores.task_clusters WHERE is_copy AND $is_verdict) AS copies
    ON facts.task = copies.task
WHERE facts.task_id IS NOT NULL
ORDER BY ALL
"""
)
# The list of a task's scores is made of the rows that are left: it is slow.
_SCORED = (
    SIDES
    + """
SELECT
    sides.place, scored.task_id, scored.scorer, scored.metric, scored.filter, {scored} AS scored
FROM {table} AS scored
JOIN sides ON scored.entry = sides.entry
LEFT JOIN suite_traits AS traits ON scored.suite = traits.suite
WHERE scored.task_id IS NOT NULL AND {metric}
"""
)
# The least and most that each task can count, whose attempts lack a verdict. The first condition
# is of the table that all others are computed from.
_BOUNDS = (
    SIDES
    + """
SELECT sides.place, rates.task_id, rates.min_rate, rates.max_rate, rates.n_missing
FROM scores.task_rates AS rates
JOIN sides ON rates.entry = sides.entry
WHERE rates.n_results > rates.n_judged AND rates.n_missing > 0 AND rates.task_id IS NOT NULL
"""
)
_OF_CALLS = (
    SIDES  # noqa: S608 - `value` is one of the constants above
    + """
, calls AS (
    SELECT *, coalesce(availability_status = 'ok' AND success, false) AS is_answered
    FROM results
    -- The join alone would read all runs.
    WHERE NOT is_replay AND task_id IS NOT NULL AND list_contains($run_id, run_id)
)

SELECT
    sides.place, calls.task_id, NULL AS scorer, $metric AS metric, NULL AS filter,
    list(CAST({value} AS DOUBLE) ORDER BY attempt, seq) FILTER ({value} IS NOT NULL) AS scored
FROM calls
JOIN sides"""
    + _OF_SIDE.format(table="calls", sides="sides")
    + """
GROUP BY ALL
"""
)
# Thousands of tasks have few different values, and a row of each would take longer than the query.
_BY_VALUES = """
SELECT place, scorer, metric, filter, scored, list(task_id ORDER BY task_id) AS task_ids
FROM ({})
GROUP BY ALL
ORDER BY ALL
"""
_RECORDED = {
    "table": "scores.task_attempts",
    "scored": """coalesce(
        scored.listed, attempts_of(scored.n_attempts, scored.n_passed, scored.first_passed)
    )""",
}
# In the place of the verdicts, those of one version of a scorer.
_RESCORED = {
    "table": """(
    SELECT rescored.* REPLACE (NULL AS scorer), sides.entry
    FROM scores.rescored_tasks AS rescored
    JOIN sides"""  # noqa: S608 - a constant
    + _OF_SIDE.format(table="rescored", sides="sides")
    + """
    WHERE rescored.scorer = $scorer AND rescored.version = $version
)""",
    "scored": "scored.scored",
}
# Of the many scores of posters those that sum them up, as in the leaderboard.
_HEADLINE = """
    scored.metric <> 'passed'
    AND is_headline(scored.metric, traits.headline_metrics, traits.minor_metrics)
"""
_NAMED = "scored.metric = $metric"
_ITEMS = """
SELECT
    sides.side, items.suite, items.task_set, items.provider, items.model, items.settings,
    items.task_id, items.run_id, min(items.item_hash) AS item_hash
FROM result_items AS items
JOIN (
    SELECT unnest($side) AS side, unnest($suite) AS suite, unnest($run_id) AS run_id,
        unnest($model) AS model
) AS sides USING (suite, run_id, model)
WHERE NOT items.is_replay AND items.item_hash IS NOT NULL
GROUP BY ALL
HAVING count(DISTINCT items.item_hash) = 1
"""


class SeriesKey(NamedTuple):
    """What was called, and on which tasks.

    Attributes:
        side: position of the side on the command line, from 0.
        suite: suite of the runs.
        task_set: task set.
        provider: way to reach the model; None if not known.
        model: name of the model.
        settings: parameters of the calls as text.
    """

    side: int
    suite: str
    task_set: str
    provider: str | None
    model: str
    settings: str


class SidedRun(NamedTuple):
    """A run of a side.

    Attributes:
        key: what was called.
        run_id: the run.
        n_tasks: tasks asked.
        n_covered: how many of them are in the version of the task set that counts.
        is_answered: whether any call was answered and counts.
        position: position in time among the suite's runs.
        run_date: date of the run, if known.
        is_on_board: whether it is the one that counts, if runs are not mixed.
        is_completion: whether its answers count where an earlier run got none.
    """

    key: SeriesKey
    run_id: str
    n_tasks: int
    n_covered: int
    is_answered: bool
    position: int
    run_date: date | None
    is_on_board: bool
    is_completion: bool = False


class MetricKey(NamedTuple):
    """A score by name.

    Attributes:
        metric: name of the score.
        scorer: what gave it, if known.
        filter: how the answer was extracted, if known.
    """

    metric: str
    scorer: str | None
    filter: str | None


class Asked(NamedTuple):
    """A task that was asked.

    Attributes:
        run_id: latest run that asked it.
        task_hash: hash of the task's content, if the log has it.
        task_id: ID of the task in the log, where the series names it otherwise.
    """

    run_id: str
    task_hash: str | None
    task_id: str | None = None


Values: TypeAlias = tuple[float, ...]


class _Scored(NamedTuple):
    run: SidedRun
    metric: MetricKey
    values: Values
    task_ids: list[str]


@dataclass(slots=True, kw_only=True)
class Series:
    """The values of one side by one metric.

    Attributes:
        key: what was called.
        metric: the metric.
        asked: the tasks asked, by ID, whether or not they have a value.
        values: the values of the attempts at each task that has any, in their order.
        bounds: the least and most that a task can count, of each task that lacks a verdict.
        n_missing: attempts without a verdict, of each of these tasks.
        n_too_few: tasks without a value because they have too few attempts for it: for pass^k.
        newer: later runs of the side that do not count, because they cover less of the task set or
            got no answer; none if runs are mixed or named.
        pooled: further runs, whose attempts are in the values.
    """

    key: SeriesKey
    metric: MetricKey
    newer: tuple[SidedRun, ...] = ()
    pooled: tuple[str, ...] = ()
    asked: dict[str, Asked] = field(default_factory=dict)
    values: dict[str, Values] = field(default_factory=dict)
    bounds: dict[str, tuple[float, float]] = field(default_factory=dict)
    n_missing: dict[str, int] = field(default_factory=dict)
    n_too_few: int = 0

    @property
    def runs(self) -> list[str]:
        """The runs behind the tasks, sorted."""
        return sorted({asked.run_id for asked in self.asked.values()} | set(self.pooled))


def sided_runs(
    connection: duckdb.DuckDBPyConnection,
    sides: Sequence[ResolvedSide],
    *,
    task_set: str | None = None,
) -> list[SidedRun]:
    """Return the runs of the sides in the order of the sides, by model and task set.

    Args:
        connection: an open warehouse.
        sides: the sides.
        task_set: the only task set that counts, if given.
    """
    rows = connection.execute(_ENTRIES, {**_parameters(sides), "task_set": task_set}).fetchall()
    return [SidedRun(SeriesKey(*row[:6]), *row[6:]) for row in rows]


def run_parameters(runs: Iterable[tuple[int, SeriesKey, str]]) -> dict[str, object]:
    """Return the parameters of `SIDES`: a list of each column.

    Args:
        runs: the place of each in what is asked, its series and its ID.
    """
    names = ("place", *SeriesKey._fields[1:], "run_id")
    rows = [(place, *key[1:], run_id) for place, key, run_id in runs]
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def read_series(
    connection: duckdb.DuckDBPyConnection,
    sides: Sequence[ResolvedSide],
    *,
    metric: str | None,
    task_set: str | None = None,
    rescorer: Rescorer | None = None,
    mix_runs: bool = False,
    runs: Sequence[SidedRun] | None = None,
) -> list[Series]:
    """Return the values of the sides by a metric, in the order of the sides.

    Args:
        connection: an open warehouse.
        sides: the sides.
        metric: name of a score, `passed` for the verdict, or one of `CALL_METRICS`; by default, all
            that rank models, without the verdict.
        task_set: the only task set that counts, if given.
        rescorer: the scorer whose verdicts count as `passed`, instead of the recorded and computed
            ones; other metrics stay as they are.
        mix_runs: whether each task counts by the latest run that asked it, and not only those of
            the run on the board.
        runs: the runs that count instead, at most one of each series.
    """
    if runs is None:
        runs = sided_runs(connection, sides, task_set=task_set)
        counted = [run for run in runs if mix_runs or run.is_on_board]
    else:
        counted = list(runs)
    positions = {run.key: run.position for run in counted}
    newer = {
        key: tuple(run for run in runs if run.key == key and run.position > position)
        for key, position in positions.items()
    }
    parameters = run_parameters((at, run.key, run.run_id) for at, run in enumerate(counted))
    asked = _asked(connection, counted, {**parameters, "is_verdict": metric == VERDICT})
    of_metric = rescorer if metric == VERDICT else None
    scored = _scored(connection, metric, counted, parameters, of_metric)
    _add_uncalled(asked, scored)
    found: dict[tuple[SeriesKey, MetricKey], Series] = {}
    for key, name in _named(asked, scored):
        found[key, name] = Series(key=key, metric=name, newer=newer[key], asked=asked[key])
    for row in scored:
        one = found[row.run.key, row.metric]
        for task_id in row.task_ids:
            if one.asked[task_id].run_id == row.run.run_id:
                one.values[task_id] = row.values
    if metric == VERDICT and rescorer is None:
        _add_bounds(connection, found, counted, parameters)
    return [found[key] for key in sorted(found, key=_order)]


def _asked(
    connection: duckdb.DuckDBPyConnection,
    counted: Sequence[SidedRun],
    parameters: dict[str, object],
) -> dict[SeriesKey, dict[str, Asked]]:
    """Return the tasks of each series, each by the latest of the runs that asked it."""
    tasks: list[dict[str, Asked]] = [{} for _ in counted]
    for place, task_id, task_hash in connection.execute(_ASKED, parameters).fetchall():
        tasks[place][task_id] = Asked(counted[place].run_id, task_hash)
    asked: dict[SeriesKey, dict[str, Asked]] = {}
    for run, of_run in sorted(zip(counted, tasks, strict=True), key=lambda pair: pair[0].position):
        if of_run:
            asked.setdefault(run.key, {}).update(of_run)
    return asked


def _scored(
    connection: duckdb.DuckDBPyConnection,
    metric: str | None,
    counted: Sequence[SidedRun],
    parameters: dict[str, object],
    rescorer: Rescorer | None,
) -> list[_Scored]:
    if metric is not None and metric in CALL_METRICS:
        query = _OF_CALLS.format(value=CALL_METRICS[metric])
    else:
        source = _RECORDED if rescorer is None else _RESCORED
        query = _SCORED.format(**source, metric=_HEADLINE if metric is None else _NAMED)
    if metric is not None:
        parameters = {**parameters, "metric": metric}
    if rescorer is not None:
        parameters = {**parameters, "scorer": rescorer.name, "version": rescorer.version}
    rows = connection.execute(_BY_VALUES.format(query), parameters).fetchall()
    return [
        _Scored(counted[place], MetricKey(name, scorer, filtered), tuple(values), task_ids)
        for place, scorer, name, filtered, values, task_ids in rows
        if values
    ]


def _add_bounds(
    connection: duckdb.DuckDBPyConnection,
    found: Mapping[tuple[SeriesKey, MetricKey], Series],
    counted: Sequence[SidedRun],
    parameters: dict[str, object],
) -> None:
    verdict = MetricKey(VERDICT, None, None)
    for place, task_id, *ends, n_missing in connection.execute(_BOUNDS, parameters).fetchall():
        run = counted[place]
        one = found.get((run.key, verdict))
        # A model without any verdict has no rate to bound.
        if one is not None and one.values and one.asked[task_id].run_id == run.run_id:
            one.bounds[task_id], one.n_missing[task_id] = tuple(ends), n_missing


def _add_uncalled(asked: dict[SeriesKey, dict[str, Asked]], scored: list[_Scored]) -> None:
    """Add the tasks that have a score without a call: posters that were not predicted."""
    latest: dict[tuple[SeriesKey, str], SidedRun] = {}
    for row in scored:
        key = row.run.key
        called = asked.get(key, {})
        for task_id in (task_id for task_id in row.task_ids if task_id not in called):
            known = latest.get((key, task_id))
            if known is None or known.position < row.run.position:
                latest[key, task_id] = row.run
    for (key, task_id), run in latest.items():
        asked.setdefault(key, {})[task_id] = Asked(run.run_id, None)


def _named(
    asked: Iterable[SeriesKey], scored: Iterable[_Scored]
) -> Iterator[tuple[SeriesKey, MetricKey]]:
    """Yield each series of a task set with each metric that any of them has."""
    names: dict[tuple[str, str], set[MetricKey]] = {}
    for row in scored:
        names.setdefault((row.run.key.suite, row.run.key.task_set), set()).add(row.metric)
    for key in asked:
        for name in names.get((key.suite, key.task_set), ()):
            yield key, name


def read_items(
    connection: duckdb.DuckDBPyConnection, sides: Sequence[ResolvedSide]
) -> dict[tuple[SeriesKey, str, str], str]:
    """Return the hash of the item behind each series, task and run, where it is known."""
    rows = connection.execute(_ITEMS, _parameters(sides)).fetchall()
    return {(SeriesKey(*row[:6]), row[6], row[7]): row[8] for row in rows}


def _parameters(sides: Iterable[ResolvedSide]) -> dict[str, object]:
    calls = [(place, *call) for place, side in enumerate(sides) for call in side.calls]
    names = ("side", "suite", "run_id", "model")
    return {name: [call[at] for call in calls] for at, name in enumerate(names)}


def _order(key: tuple[SeriesKey, MetricKey]) -> tuple[str, ...]:
    of, metric = key
    texts = (of.suite, of.task_set, *metric, f"{of.side:06}", of.model, of.provider, of.settings)
    return tuple(text or "" for text in texts)
