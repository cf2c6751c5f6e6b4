"""`scores.median_latencies` against DuckDB's own percentile over random latencies."""

import random

import duckdb
import pytest

from warehouse.views.sql_files import shipped_sql

FILES = {file.name: file for file in shipped_sql()}
# How latencies of a run are drawn: with ties, all different, far from those of other runs, equal.
DRAWS = (
    lambda choice: float(choice.randrange(20)),
    lambda choice: choice.random() * 30_000,
    lambda choice: 1e6 + choice.randrange(1000),
    lambda choice: choice.choice([7.0]),
)


@pytest.mark.parametrize("seed", range(12))
def test_medians_over_runs_are_exact(seed):
    choice = random.Random(seed)
    rows = [
        (series, is_counted, is_replay, [draw(choice) for _ in range(n)])
        for series in range(6)
        for is_counted, is_replay in [(True, False)] * choice.randint(1, 9)
        + [(False, False), (True, True)]
        for draw in [choice.choice(DRAWS)]
        for n in [choice.choice([0, 1, 2, 127, 128, 129, 256, choice.randrange(1500)])]
    ]
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE SCHEMA scores; CREATE TABLE calls "
            "(series INT, is_counted BOOL, is_replay BOOL, latencies_ms DOUBLE[])"
        )
        connection.executemany("INSERT INTO calls VALUES (?, ?, ?, ?)", rows)
        connection.execute(
            """
            CREATE TABLE scores.entry_calls AS
            SELECT
                * EXCLUDE (latencies_ms),
                len(latencies_ms) AS n_latencies,
                list_select(list_sort(latencies_ms), list_transform(
                    range(128, n_latencies + 128, 128), lambda rank: least(rank, n_latencies)
                )) AS marks_ms
            FROM calls;
            CREATE TABLE scores.latencies AS
            SELECT * EXCLUDE (latencies_ms), unnest(latencies_ms) AS latency_ms FROM calls
            """
        )
        found = connection.execute(FILES["median_latencies"].sql).fetchall()
        wanted = connection.execute(
            """
            SELECT series, percentile_cont(0.5) WITHIN GROUP (ORDER BY latency_ms)
            FROM (SELECT *, unnest(latencies_ms) AS latency_ms FROM calls)
            WHERE is_counted AND NOT is_replay GROUP BY series
            """
        ).fetchall()
    assert wanted
    assert sorted(found) == sorted(wanted)
