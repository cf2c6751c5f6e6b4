"""The intervals of percentiles and costs in views and gates take the task as the unit."""

import csv
from math import ceil, exp, sqrt

import numpy as np
import pytest
from gate_cases import decide
from scipy import stats
from support import command, new_store

from warehouse.analysis.decisions.gate.rules import Rule


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


def order_statistics(values, n, tail):
    """Return the ends of p95 as if `n` values were independent."""
    below, above = (int(rank) for rank in stats.binom.ppf([tail, 1 - tail], n, 0.95))
    ordered, each = np.sort(values), len(values) / n
    return ordered[int((below - 1) * each + 1e-9)], ordered[ceil((above + 1) * each - 1e-9) - 1]


def by_delta_method(amounts, counts, tail):
    """Return the ends of the ratio of sums over tasks."""
    n, ratio = len(amounts), amounts.sum() / counts.sum()
    errors = amounts / amounts.sum() - counts / counts.sum()
    reach = stats.t.ppf(1 - tail, n - 1) * sqrt((errors**2).sum() * n / (n - 1))
    return ratio * exp(-reach), ratio * exp(reach)


@pytest.mark.slow
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
    assert (low, high) == order_statistics(latencies, counts[2], 0.025)
    columns = "cost_per_passed_usd, cost_per_passed_usd_low, cost_per_passed_usd_high"
    [(ratio, *ends)] = store.sql(f"SELECT {columns} FROM costs").fetchall()
    assert ratio == pytest.approx(costs.sum() / passed.sum())
    sums = np.bincount(tasks, weights=costs), np.bincount(tasks, weights=passed * 1.0)
    assert ends == pytest.approx(by_delta_method(*sums, 0.025), rel=1e-9)
    # The gate uses a single end, at its own level.
    rules = [Rule(kind=kind, limit=1.0) for kind in ("max_p95_ms", "max_cost_per_passed_usd")]
    sides = {"candidate": "m", "baseline": None, "suite": "quiz", "alpha": 0.1}
    slow, dear = decide(store, *rules, **sides).decisions
    expected = order_statistics(latencies, counts[2], 0.1)
    assert (slow.low, slow.high) == pytest.approx(expected, rel=1e-12)
    assert (dear.low, dear.high) == pytest.approx(by_delta_method(*sums, 0.1), rel=1e-12)


@pytest.mark.slow
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
