"""`scores.median_latencies` against Python's median over random latencies."""

import math
import random
from statistics import median

import duckdb
import pytest

from warehouse.engine.views.sql_files import shipped_sql

LAST_BAND = 712
# The smallest whole number of each band.
STARTS = [float(-(-(band**4) // 256)) for band in range(1, LAST_BAND + 1)]
FILES = {file.name: file for file in shipped_sql()}
# How latencies of a run are drawn: with ties, all different, far from those of other runs, equal.
DRAWS = (
    lambda choice: float(choice.randrange(20)),
    lambda choice: choice.random() * 30_000,
    lambda choice: 1e6 + choice.randrange(1000),
    lambda choice: choice.choice([7.0]),
    # Below the first band, above the last, and where bands begin.
    lambda choice: choice.choice([-3.5, 0.0, 0.25, 1e9, 1e12, 2e300, math.inf]),
    lambda choice: choice.choice(STARTS) + choice.choice([-1, -0.5, 0, 0.5]),
)


@pytest.mark.parametrize("seed", range(12))
def test_medians_over_runs_are_exact(seed):
    choice = random.Random(seed)
    runs = [
        (series, [draw(choice) for _ in range(n)])
        for series in range(6)
        for _ in range(choice.randint(1, 9))
        for draw in [choice.choice(DRAWS)]
        for n in [choice.choice([0, 1, 2, 100, choice.randrange(1500)])]
    ]
    latencies = {series: [] for series in range(6)}
    for series, latencies_ms in runs:
        latencies[series] += latencies_ms
    with with_functions() as connection:
        connection.execute(
            "CREATE SCHEMA scores; CREATE TABLE runs (series INT, latencies_ms DOUBLE[])"
        )
        connection.executemany("INSERT INTO runs VALUES (?, ?)", runs)
        connection.execute(
            "CREATE TABLE scores.latencies AS SELECT 's' AS suite, rowid AS run_id, "
            "* EXCLUDE (latencies_ms), unnest(latencies_ms) AS latency_ms FROM runs"
        )
        bands = FILES["latency_bands"].sql
        connection.execute(f"CREATE TABLE scores.latency_bands AS {bands}")
        found = connection.execute(FILES["median_latencies"].sql).fetchall()
    wanted = {series: median(values) for series, values in latencies.items() if values}
    assert wanted
    # The mean of two neighbours may be rounded in its last digit by another formula.
    assert dict(found) == pytest.approx(wanted, rel=1e-15)
    assert len(found) == len(wanted)


def test_a_band_begins_where_it_is_said_to():
    with with_functions() as connection:
        starts = connection.execute(
            "SELECT latency_band_start(band) FROM range(1, 713) AS t(band) ORDER BY band"
        ).fetchall()
        assert [start for (start,) in starts] == STARTS
        found = connection.execute(
            "SELECT latency_band(start - 1), latency_band(start - 0.25), latency_band(start), "
            "latency_band(start + 0.25) FROM (SELECT unnest(?::DOUBLE[]) AS start) ORDER BY start",
            [sorted(set(STARTS))],
        ).fetchall()
        [(lowest, highest)] = connection.execute(
            "SELECT latency_band(CAST('-infinity' AS DOUBLE)), latency_band(CAST('nan' AS DOUBLE))"
        ).fetchall()
    # The first bands begin at the same whole number: all but the last of them are empty.
    bands = {start: band for band, start in enumerate(STARTS, 1)}
    before = [0, *bands.values()]
    assert found == [
        (below, below, band, band) for below, band in zip(before, bands.values(), strict=False)
    ]
    assert (lowest, highest) == (0, LAST_BAND)


def with_functions():
    connection = duckdb.connect()
    for name in ("latency_band_start", "latency_band"):
        connection.execute(FILES[name].sql)
    return connection
