"""Statistics that views have, too: their SQL macros, applied to many rows by one query."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from warehouse.core.in_memory import open_in_memory
from warehouse.engine.statistics.arrays import cluster_sums
from warehouse.engine.statistics.distributions import normal_quantile, student_quantile
from warehouse.engine.statistics.proportions import Interval
from warehouse.engine.views.sql_files import shipped_sql

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from warehouse.engine.statistics.arrays import Floats, Indices

# As in `scores.headline_scores`, at any level and on any scale.
_SHARES = """
list_transform(
    CASE
        WHEN sizes IS NOT NULL
            THEN clustered_interval(sums::DOUBLE[], sizes::BIGINT[], quantile := quantile)
        ELSE list_transform(
            [effective_tasks(n, results, total, squares)],
            lambda trials: [
                wilson_low(total / n * trials, trials, quantile := quantile),
                wilson_high(total / n * trials, trials, quantile := quantile)
            ]
        )[1]
    END,
    lambda each: scale * each
)
"""
_LEVEL = 0.95
_databases = ExitStack()


class TaskMeans(NamedTuple):
    """What is known of the values of some tasks.

    Attributes:
        means: mean of the attempts at each task: shape (tasks,).
        n_attempts: attempts at all of them; infinite where no attempts are behind the values.
        scale: largest possible value, where the least is 0; None if not known.
        clusters: the number of each task's cluster, from 0 and without gaps; None if each task is
            one.
    """

    means: Floats
    n_attempts: float
    scale: float | None = 1.0
    clusters: Indices | None = None


def mcnemar_p_values(n_only_a: Sequence[int], n_only_b: Sequence[int]) -> list[float]:
    """Return McNemar's exact p-value of each pair, two-sided: the SQL macro `mcnemar_p`.

    Args:
        n_only_a: tasks that only the first model passed, for each pair.
        n_only_b: tasks that only the second passed.
    """
    rows = _query("mcnemar_p(only_a, only_b)", only_a=n_only_a, only_b=n_only_b).fetchall()
    return [p_value for (p_value,) in rows]


def share_intervals(
    samples: Sequence[TaskMeans], *, level: float = _LEVEL
) -> list[Interval | None]:
    """Return the intervals of means over tasks, those of the leaderboard; None below 6 clusters.

    The SQL macros `effective_tasks`, `wilson_low`, `wilson_high` and `clustered_interval`.

    Args:
        samples: the values, of known scale; each has one task or more.
        level: confidence, between 0 and 1.
    """
    scales = [each.scale or 1.0 for each in samples]
    rates = [each.means / scale for each, scale in zip(samples, scales, strict=True)]
    in_clusters = [
        (None, None)
        if each.clusters is None
        else (cluster_sums(of_tasks, each.clusters).tolist(), np.bincount(each.clusters).tolist())
        for each, of_tasks in zip(samples, rates, strict=True)
    ]
    sizes = [sizes for _, sizes in in_clusters]
    return _intervals(
        _SHARES,
        n=[len(each) for each in rates],
        results=[each.n_attempts for each in samples],
        total=[float(each.sum()) for each in rates],
        squares=[float((each**2).sum()) for each in rates],
        sums=[sums for sums, _ in in_clusters],
        sizes=sizes,
        quantile=_quantiles(sizes, (1 + level) / 2),
        scale=scales,
    )


def _quantiles(sizes: Sequence[list[int] | None], share: float) -> list[float]:
    """Return Student's quantile for clusters of such sizes; the normal one where there are none."""
    rows = _query("cluster_df(sizes::BIGINT[])", sizes=sizes).fetchall() if any(sizes) else ()
    dfs = dict(enumerate(df for (df,) in rows))
    return [
        normal_quantile(share) if each is None else student_quantile(share, dfs[place])
        for place, each in enumerate(sizes)
    ]


def _intervals(call: str, **columns: Sequence[object]) -> list[Interval | None]:
    if not all(columns.values()):
        return []
    rows = _query(call, **columns).fetchall()
    return [None if ends is None else Interval(*ends) for (ends,) in rows]


def _query(expression: str, **columns: Sequence[object]) -> duckdb.DuckDBPyConnection:
    """Return the result of an expression of some columns, in the order of their rows."""
    names = ", ".join(f"unnest(${name}) AS {name}" for name in columns)
    query = f"SELECT {expression} FROM (SELECT {names})"  # noqa: S608 - of this module only
    return macros().cursor().execute(query, columns)


@cache
def macros() -> duckdb.DuckDBPyConnection:
    """Return a database in memory that has the macros; it takes about 50 ms to open, once.

    The macros of a warehouse may be those of another version, if it is not to be synced.
    """
    database = _databases.enter_context(open_in_memory(threads=1))
    for file in shipped_sql():
        if file.is_function and file.family == "statistics":
            database.execute(file.sql)
    return database
