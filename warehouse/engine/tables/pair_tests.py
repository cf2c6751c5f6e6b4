"""The pairs of models on boards: their counts, and their tests, which SQL cannot compute.

The counts (`scores.board_pairs`) are computed of models that have changed, with all others of their
boards. A test belongs to what it depends on, not to the pair (`scores.pair_tests`): sync computes
those that are missing, so that its work depends on what is new. Boards of more models than a table
of all pairs can be read for have neither: `evalstore compare` tests the pairs that it is asked
about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from warehouse.engine.tables.run_metrics import scored_runs
from warehouse.engine.tables.score_tables import restricted_query
from warehouse.engine.views.sql_files import shipped_sql

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import duckdb

    from warehouse.engine.statistics.proportions import Interval

TABLE = "scores.pair_tests"
_ONLY = ("n_better_a", "n_better_b")
# Of a board whose pairs are kept, and whose tests have intervals; see `pair_counts.sql`.
_MOST_MODELS, _MOST_WITH_INTERVALS = 100, 20
_COLUMNS = """(
    test_key UBIGINT PRIMARY KEY, p_value DOUBLE, low DOUBLE, high DOUBLE, has_interval BOOLEAN
)"""
# Changed boards of two models or more, in parts with a bounded number of runs, which bounds memory.
_MOST_RUNS = 250
_TESTED_BOARDS = f"""
CREATE OR REPLACE TEMP TABLE tested_boards AS
    SELECT
        suite, task_set,
        CAST(sum(count(*)) OVER (ORDER BY suite, task_set) - count(*) AS BIGINT) // {_MOST_RUNS}
            AS part
    FROM scores.board_runs
    SEMI JOIN {{changed}} AS changed USING (suite, task_set)
    GROUP BY suite, task_set
    HAVING count(*) > 1
"""
_TESTED_RUNS = """
CREATE OR REPLACE TEMP TABLE tested_runs AS
    FROM scores.board_runs
    SEMI JOIN (FROM tested_boards WHERE part = {part}) AS boards USING (suite, task_set)
"""
# What the scores of models are read from, of runs that have others than verdicts.
_READ_BY_SCORES = ("scores.recorded_attempts",)
# The number of models by metric: kept with each pair, and too large for some.
_CONTESTS = """
CREATE OR REPLACE TEMP TABLE contests AS
    SELECT contests.* FROM (
        SELECT suite, task_set, scorer, metric, filter, count(DISTINCT series) AS n_models
        FROM tested_scores
        GROUP BY ALL
    ) AS contests
    LEFT JOIN suite_traits AS traits USING (suite)
    WHERE is_headline(metric, traits.headline_metrics, traits.minor_metrics)
"""
_OF_CONTEST = """
{rows}.suite = contests.suite AND {rows}.task_set = contests.task_set
AND {rows}.scorer IS NOT DISTINCT FROM contests.scorer
AND {rows}.metric IS NOT DISTINCT FROM contests.metric
AND {rows}.filter IS NOT DISTINCT FROM contests.filter
"""
_DROP_LARGE = f"""
DELETE FROM tested_scores USING contests
WHERE {_OF_CONTEST.format(rows="tested_scores")} AND contests.n_models > {_MOST_MODELS}
"""
# Models whose pairs are counted: those that changed, and all of a board on which a metric has no
# pairs yet, as when it had too many models, or has intervals only now or no longer.
_COUNTED_MODELS = f"""
CREATE OR REPLACE TEMP TABLE counted_models AS
    SELECT suite, task_set, series FROM tested_runs
    WHERE (suite, task_set, series) IN (FROM {{changed}} SELECT suite, task_set, series)
        OR (suite, task_set) IN (
            SELECT contests.suite, contests.task_set
            FROM contests
            LEFT JOIN (
                SELECT DISTINCT suite, task_set, scorer, metric, filter, has_interval
                FROM scores.board_pairs
            ) AS pairs
                ON {_OF_CONTEST.format(rows="pairs")}
            WHERE pairs.has_interval IS DISTINCT FROM contests.n_models <= {_MOST_WITH_INTERVALS}
                AND contests.n_models <= {_MOST_MODELS}
        )
"""
_SET_NUMBERS = f"""
UPDATE scores.board_pairs SET n_models = contests.n_models
FROM contests WHERE {_OF_CONTEST.format(rows="board_pairs")}
    AND board_pairs.n_models <> contests.n_models
"""
_DROP_PAIRS = """
DELETE FROM scores.board_pairs AS pairs USING {models} AS models
WHERE pairs.suite = models.suite AND pairs.task_set = models.task_set
    AND models.series IN (pairs.series_a, pairs.series_b)
"""
_MISSING = f"""
SELECT
    test_key, any_value(COLUMNS(* EXCLUDE (test_key, has_interval))),
    bool_or(has_interval) AS has_interval
FROM (
    SELECT
        test_key, test, n_tasks, n_better_a, n_better_b, scale, differences, sizes, has_interval
    FROM counted_pairs
    UNION ALL
    -- With missing verdicts as bounds, only the p-value is asked for.
    SELECT
        bounded_key, bounded_test, bounded_tasks, bounded_better_a, bounded_better_b, scale,
        bounded_differences, bounded_sizes, false
    FROM counted_pairs
    WHERE bounded_key IS NOT NULL
)
GROUP BY test_key
-- The p-value of a bound may have been tested before a pair with the same counts.
HAVING test_key NOT IN (SELECT test_key FROM {TABLE} WHERE has_interval)
    AND (bool_or(has_interval) OR test_key NOT IN (SELECT test_key FROM {TABLE}))
"""


class _Pair(NamedTuple):
    test_key: int
    test: str
    n_tasks: int
    n_better_a: int
    n_better_b: int
    scale: float | None
    differences: list[float] | None
    sizes: list[int] | None
    has_interval: bool


class _Tested(NamedTuple):
    p_value: float
    interval: Interval | None


def create_pair_tests(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the empty table, in place of an earlier one."""
    connection.execute(f"CREATE OR REPLACE TABLE {TABLE} {_COLUMNS}")


def update_pair_tests(connection: duckdb.DuckDBPyConnection, changed: str) -> None:
    """Count the pairs of models that changed, and add missing tests, in the caller's transaction.

    Args:
        connection: the warehouse.
        changed: the table (suite, task_set, series) of these models, those that are gone included.
    """
    connection.execute(_DROP_PAIRS.format(models=changed))
    connection.execute(_TESTED_BOARDS.format(changed=changed))
    parts = connection.execute("SELECT DISTINCT part FROM tested_boards ORDER BY part").fetchall()
    for (part,) in parts:
        _count_pairs(connection, part, changed)
        missing = connection.execute(_MISSING).fetchall()
        if missing:
            _add_tests(connection, [_Pair(*row) for row in missing])


def _count_pairs(connection: duckdb.DuckDBPyConnection, part: int, changed: str) -> None:
    """Put pairs of some boards into the temporary table `counted_pairs`, and keep them."""
    [(n_runs,)] = connection.execute(_TESTED_RUNS.format(part=part)).fetchall()
    files = {file.qualified: file.sql for file in shipped_sql()}
    _score_models(connection, files)
    connection.execute(_CONTESTS)
    connection.execute(_COUNTED_MODELS.format(changed=changed))
    connection.execute(_SET_NUMBERS)
    connection.execute(_DROP_PAIRS.format(models="counted_models"))
    if n_runs > _MOST_MODELS:
        connection.execute(_DROP_LARGE)
        connection.execute(f"DELETE FROM scores.board_pairs WHERE n_models > {_MOST_MODELS}")
    pairs = files["scores.pair_counts"].replace("scores.board_scores", "tested_scores")
    pairs = pairs.replace("scores.wide_models", "counted_models")
    pairs = pairs.replace("scores.board_runs", "tested_runs")
    connection.execute(f"CREATE OR REPLACE TEMP TABLE counted_pairs AS {pairs}")
    kept = files["scores.board_pairs"].replace("scores.pair_counts", "counted_pairs")
    connection.execute(f"INSERT INTO scores.board_pairs {kept}")


def _score_models(connection: duckdb.DuckDBPyConnection, files: Mapping[str, str]) -> None:
    """Put the scores of the models on some boards into the temporary table `tested_scores`.

    Planning what reads other scores than verdicts would take longer than the rest of a small sync.
    """
    scores = files["scores.board_scores"].replace("scores.board_runs", "tested_runs")
    parameters: list[str] = []
    runs = scored_runs(connection, "tested_runs")
    if runs is None:
        scores = scores.replace("scores.task_attempts", "scores.verdict_attempts")
    else:
        attempts = f"FROM ({files['scores.task_attempts']})"
        scores = scores.replace("FROM scores.task_attempts", attempts)
        scores, parameters = restricted_query(scores, _READ_BY_SCORES, runs)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE tested_scores AS {scores}", parameters)


def _add_tests(connection: duckdb.DuckDBPyConnection, pairs: Sequence[_Pair]) -> None:
    import pyarrow as pa

    tested = dict(_by_score(pair for pair in pairs if pair.test == "score"))
    tested |= {pair.test_key: _by_mean(pair) for pair in pairs if pair.test != "score"}
    ends = [tested[pair.test_key].interval or (None, None) for pair in pairs]
    rows = pa.table(
        {
            "test_key": pa.array([pair.test_key for pair in pairs], pa.uint64()),
            "p_value": [tested[pair.test_key].p_value for pair in pairs],
            "low": pa.array([low for low, _ in ends], pa.float64()),
            "high": pa.array([high for _, high in ends], pa.float64()),
            "has_interval": [pair.has_interval for pair in pairs],
        }
    )
    connection.register("tested_pairs", rows)
    connection.execute(f"INSERT OR REPLACE INTO {TABLE} FROM tested_pairs")
    connection.unregister("tested_pairs")


def _by_score(pairs: Iterable[_Pair]) -> Iterable[tuple[int, _Tested]]:
    """Yield the score test of each pair; those of equally many tasks share most of the work."""
    from warehouse.engine.statistics.score_test import difference_interval, equality_p_values

    by_tasks: dict[int, list[_Pair]] = {}
    for pair in pairs:
        by_tasks.setdefault(pair.n_tasks, []).append(pair)
    for n_tasks, members in by_tasks.items():
        only_a, only_b = ([getattr(pair, name) for pair in members] for name in _ONLY)
        p_values = equality_p_values(only_a, only_b, n_tasks)
        for pair, p_value in zip(members, p_values, strict=True):
            ends = None
            if pair.has_interval:
                ends = difference_interval(pair.n_better_a, pair.n_better_b, n_tasks)
            yield pair.test_key, _Tested(p_value, ends)


def _by_mean(pair: _Pair) -> _Tested:
    import numpy as np

    from warehouse.engine.statistics.bounded_means import (
        bounded_mean_limits,
        equality_of_bounded_means,
    )
    from warehouse.engine.statistics.symmetry import symmetric_means

    differences, clusters = np.array(pair.differences, dtype=np.float64), None
    sizes = np.array(pair.sizes or np.ones(len(differences)), dtype=np.int64)
    if pair.scale is None:
        (found,) = symmetric_means(differences[np.newaxis], sizes.astype(np.float64))
        return _Tested(found.p_value, found.interval if differences.any() else None)
    if pair.sizes is not None:
        # The tests are of tasks: each has its part of the cluster's sum.
        clusters = np.repeat(np.arange(len(sizes)), sizes)
        differences = (differences / sizes)[clusters]
    p_value = equality_of_bounded_means(differences, largest=pair.scale, clusters=clusters)
    if not pair.has_interval:
        return _Tested(p_value, None)
    limits = bounded_mean_limits(differences, -pair.scale, pair.scale, clusters=clusters)
    return _Tested(p_value, limits)
