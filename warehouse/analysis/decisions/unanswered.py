"""Calls without an answer, which count as not passed: they may say little of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.analysis.decisions.series import VERDICT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import duckdb

    from warehouse.analysis.decisions.comparison import Contest
    from warehouse.analysis.decisions.series import Series, SeriesKey

# Fewer of them hardly move a pass rate.
_MANY = 0.05
_QUERY = """
WITH series AS (
    SELECT unnest($place) AS place, unnest($suite) AS suite, unnest($run_id) AS run_id,
        unnest($task_set) AS task_set, unnest($provider) AS provider, unnest($model) AS model,
        unnest($settings) AS settings
)

SELECT series.place, sum(facts.n_unanswered), sum(facts.n_results)
FROM series
JOIN scores.entries AS entries
    ON entries.suite = series.suite
    AND entries.run_id = series.run_id
    AND entries.task_set = series.task_set
    AND entries.provider IS NOT DISTINCT FROM series.provider
    AND entries.model = series.model
    AND entries.settings = series.settings
    AND NOT entries.is_replay
JOIN scores.completed_facts AS facts ON entries.entry = facts.entry
GROUP BY series.place
"""


def unanswered_sentences(
    connection: duckdb.DuckDBPyConnection, contests: Iterable[Contest]
) -> dict[str, str]:
    """Return which sides got no answer to many calls: a sentence about each, by its name.

    Args:
        connection: an open warehouse.
        contests: the pairs; only those by the verdict count.
    """
    sides: dict[str, Series] = {}
    for contest in contests:
        panel = contest.paired.panel
        if panel.metric == (VERDICT, None, None):
            sides[contest.a] = panel.series[contest.paired.a]
            sides[contest.b] = panel.series[contest.paired.b]
    found = unanswered_calls(connection, {one.key: one.runs for one in sides.values()})
    return {name: f"{name} {found[one.key]}." for name, one in sides.items() if one.key in found}


def unanswered_calls(
    connection: duckdb.DuckDBPyConnection, runs: Mapping[SeriesKey, Sequence[str]]
) -> dict[SeriesKey, str]:
    """Return of which series many calls got no answer, in words.

    Args:
        connection: an open warehouse.
        runs: the runs of each series.
    """
    calls = [
        {**key._asdict(), "place": place, "run_id": run_id}
        for place, (key, run_ids) in enumerate(runs.items())
        for run_id in run_ids
    ]
    names = ("place", "suite", "run_id", "task_set", "provider", "model", "settings")
    parameters = {name: [call[name] for call in calls] for name in names}
    counts = {place: rest for place, *rest in connection.execute(_QUERY, parameters).fetchall()}
    return {
        key: f"got no answer to {counts[place][0]:,} of {counts[place][1]:,} calls, "
        "which count as not passed"
        for place, key in enumerate(runs)
        if place in counts and counts[place][0] > _MANY * counts[place][1]
    }
