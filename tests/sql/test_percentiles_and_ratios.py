"""The macros of percentiles and ratios equal the functions, and views take the task as the unit."""

import csv

import duckdb
import numpy as np
import pytest
from support import command, new_store

from warehouse.engine.statistics.percentiles import percentile_limits, percentile_ranks
from warehouse.engine.statistics.ratios import ratio_limits
from warehouse.engine.views.sql_files import shipped_sql


@pytest.fixture(scope="module")
def macros():
    with duckdb.connect() as connection:
        for file in shipped_sql():
            if file.is_function:
                connection.execute(file.sql)
        yield connection


@pytest.mark.parametrize("share", [0.5, 0.95, 0.99])
def test_ranks_are_those_of_the_function(macros, share):
    numbers = [*range(300), 1000, 20_000]
    query = f"SELECT n, percentile_ranks(n, {share}) FROM (SELECT unnest($1) AS n)"
    for n, ranks in macros.execute(query, [numbers]).fetchall():
        assert tuple(ranks.values()) == percentile_ranks(n, share)


def import_calls(folder, calls):
    """Return a store with the calls of one model: task, attempt, passed, latency, cost."""
    with (folder / "calls.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(
            ["run_id", "model", "task_id", "attempt", "passed", "latency_ms", "cost_usd"]
        )
        table.writerows(("r", "m", f"t{task}", *rest) for task, *rest in calls)
    store = new_store(folder / "store")
    ended = command(store.path, "import", folder / "calls.csv", "--yes", "--suite", "quiz")
    assert ended.code == 0, ended.err
    return store


@pytest.mark.parametrize("attempts", [1, 3])
def test_views_have_the_intervals_of_the_tasks(tmp_path, attempts):
    random = np.random.default_rng(attempts)
    tasks = np.repeat(np.arange(80), attempts)[: 80 * attempts - attempts // 2]
    latencies = random.lognormal(6, 0.5, len(tasks)).round(1)
    costs = random.lognormal(-6, 1, len(tasks)).round(6)
    passed = random.random(len(tasks)) < 0.6
    calls = [
        (task, at % attempts + 1, bool(is_passed), latency, cost)
        for at, (task, is_passed, latency, cost) in enumerate(
            zip(tasks, passed, latencies, costs, strict=True)
        )
    ]
    store = import_calls(tmp_path, calls)
    columns = "n_timed, n_timed_tasks, n_independent, p95_ms_low, p95_ms_high"
    [(*counts, low, high)] = store.sql(f"SELECT {columns} FROM latency").fetchall()
    # With three attempts the last task has two: 239² / (79 · 9 + 4) = 79.9.
    assert counts == [len(tasks), 80, 80 if attempts == 1 else 79]
    assert (low, high) == percentile_limits(latencies, 0.95, tasks=tasks)
    columns = "cost_per_passed_usd, cost_per_passed_usd_low, cost_per_passed_usd_high"
    [(ratio, *ends)] = store.sql(f"SELECT {columns} FROM costs").fetchall()
    assert ratio == pytest.approx(costs.sum() / passed.sum())
    assert ends == pytest.approx(
        ratio_limits(np.bincount(tasks, weights=costs), np.bincount(tasks, weights=passed * 1.0)),
        rel=1e-9,
    )


@pytest.mark.parametrize(("n", "has_median", "has_upper"), [(5, 0, 0), (6, 1, 0), (72, 1, 1)])
def test_few_tasks_have_no_percentiles(tmp_path, n, has_median, has_upper):
    # Three attempts at each task do not make more tasks of them.
    calls = [(task, attempt, True, 100 + task, 0.01) for task in range(n) for attempt in (1, 2, 3)]
    store = import_calls(tmp_path, calls)
    columns = "p50_ms, p95_ms, p99_ms, p95_ms_low, p95_ms_high"
    [(*shown, high)] = store.sql(f"SELECT {columns} FROM latency").fetchall()
    assert [value is not None for value in shown] == 4 * [bool(has_median)]
    assert (high is not None) == bool(has_upper)
    [(p50_ms,)] = store.sql("SELECT p50_ms FROM leaderboard").fetchall()
    assert (p50_ms is not None) == bool(has_median)
