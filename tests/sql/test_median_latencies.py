"""`scores.median_latencies` against Python's median over random latencies."""

import random
from statistics import median

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
    runs = [
        (series, is_counted, is_replay, [draw(choice) for _ in range(n)])
        for series in range(6)
        for is_counted, is_replay in [(True, False)] * choice.randint(1, 9)
        + [(False, False), (True, True)]
        for draw in [choice.choice(DRAWS)]
        for n in [choice.choice([0, 1, 2, 100, choice.randrange(1500)])]
    ]
    latencies = {series: [] for series in range(6)}
    for series, is_counted, is_replay, latencies_ms in runs:
        if is_counted and not is_replay:
            latencies[series] += latencies_ms
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE SCHEMA scores; CREATE TABLE runs "
            "(series INT, is_counted BOOL, is_replay BOOL, latencies_ms DOUBLE[])"
        )
        connection.executemany("INSERT INTO runs VALUES (?, ?, ?, ?)", runs)
        connection.execute(
            "CREATE TABLE scores.latencies AS "
            "SELECT * EXCLUDE (latencies_ms), unnest(latencies_ms) AS latency_ms FROM runs"
        )
        found = connection.execute(FILES["median_latencies"].sql).fetchall()
    wanted = {series: median(values) for series, values in latencies.items() if values}
    assert wanted
    # The mean of two neighbours may be rounded in its last digit by another formula.
    assert dict(found) == pytest.approx(wanted, rel=1e-15)
    assert len(found) == len(wanted)
