"""`flaky_tasks` and `task_difficulty` against a direct computation over random answers."""

import itertools
import math

import duckdb
import numpy as np
import pytest
from scipy import stats

from warehouse.engine.views.sql_files import shipped_sql

FILES = {file.name: file for file in shipped_sql()}
KEY = "'mine' AS suite, 'set' AS task_set, m AS series, 'h' AS task_hash"


@pytest.fixture
def con():
    with duckdb.connect() as con:
        con.execute("CREATE SCHEMA scores")
        for file in shipped_sql():
            if file.is_function:
                con.execute(file.sql)
        yield con


def rows(con, view):
    found = con.execute(FILES[view].sql)
    names = [column[0] for column in found.description]
    return {
        row[names.index("task_id")]: dict(zip(names, row, strict=True)) for row in found.fetchall()
    }


@pytest.mark.parametrize("seed", range(5))
def test_flaky_tasks_are_more_than_chance(con, seed):
    random = np.random.default_rng(seed)
    n_models, n_tasks, n_times = 5, 8, 3
    outcomes = random.random((n_models, n_tasks, n_times)) < random.random((n_models, 1, 1))
    outcomes[:, 0, :2] = [True, False]  # everybody both passes and fails the first task
    cells = itertools.product(range(n_models), range(n_tasks), range(n_times))
    values = ", ".join(f"({m}, {t}, {outcomes[m, t, k]})" for m, t, k in cells)
    # Facts of every second task are read call by call, as if they held several versions.
    con.execute(
        f"CREATE TABLE scores.resolved_results AS SELECT {KEY}, m AS entry, 't' || t AS task_id, "
        "passed AS is_correct, NULL AS objective_pass, NULL AS computed, NULL AS duplicate_of "
        f"FROM (VALUES {values}, (0, 99, true)) AS cells(m, t, passed);"
        "CREATE TABLE scores.task_facts AS SELECT suite, task_set, task_id, task_hash, entry, "
        "false AS is_replay, count(*) AS n_counted, count(*) AS n_judged, "
        "count(*) FILTER (is_correct) AS n_passed, task_id IN ('t0', 't2', 't4') AS is_mixed "
        "FROM scores.resolved_results GROUP BY ALL;"
        "CREATE TABLE scores.entries AS SELECT DISTINCT entry, entry AS series, "
        "'m' || entry AS model FROM scores.resolved_results"
    )
    found = rows(con, "flaky_tasks")
    is_flaky = outcomes.any(axis=2) & ~outcomes.all(axis=2)
    shares = is_flaky.mean(axis=1)
    raw = {}
    for task in range(n_tasks):
        row = found.pop(f"t{task}", None)
        n_flaky = int(is_flaky[:, task].sum())
        raw[task] = sum(
            math.prod(s if hit else 1 - s for s, hit in zip(shares, hits, strict=True))
            for hits in itertools.product([0, 1], repeat=n_models)
            if sum(hits) >= n_flaky
        )
        if n_flaky == 0:
            assert row is None
            continue
        assert (row["n_flaky"], row["n_models"], row["n_judged"]) == (n_flaky, 5, 15)
        assert row["flaky_models"] == [f"m{m}" for m in range(n_models) if is_flaky[m, task]]
        assert row["expected_flaky"] == pytest.approx(shares.sum())
        assert row["p_value"] == pytest.approx(raw[task])
        raw[task] = row["p_value"], row["p_holm"]
    assert found == {}
    smallest = min((value for value in raw.values() if isinstance(value, tuple)), default=None)
    assert smallest[1] == pytest.approx(min(1, n_tasks * smallest[0]))


@pytest.mark.parametrize("seed", range(5))
def test_discrimination_is_the_correlation_with_the_other_tasks(con, seed):
    """The last model is adaptive: it is counted, and in no rate."""
    random = np.random.default_rng(seed)
    n_models, n_tasks = 8, 6
    trials = random.integers(1, 4, (n_models, n_tasks))
    passed = random.binomial(trials, random.random((n_models, 1)))
    passed[:, 0] = trials[:, 0]  # everybody solves it: it does not discriminate
    values = ", ".join(
        f"({m}, {t}, {passed[m, t]}, {trials[m, t]})"
        for m, t in itertools.product(range(n_models), range(n_tasks))
    )
    con.execute(
        f"CREATE TABLE scores.task_rates AS SELECT {KEY}, 'm' || m AS model, 't' || t AS task_id, "
        f"'r' || m AS run_id, n_trials_passed, n_trials "
        f"FROM (VALUES {values}) AS cells(m, t, n_trials_passed, n_trials);"
        "CREATE TABLE scores.run_times AS SELECT 'mine' AS suite, 'r' || m AS run_id, "
        "DATE '2026-01-01' AS run_date, m + 1 AS position FROM range(8) AS models(m);"
        "CREATE TABLE scores.run_headers AS "
        "SELECT suite, run_id, run_id = 'r7' AS is_adaptive FROM scores.run_times"
    )
    found = rows(con, "task_difficulty")
    rates = (passed / trials)[:-1]
    for task in range(n_tasks):
        row = found[f"t{task}"]
        others = np.delete(rates, task, axis=1).mean(axis=1)
        assert row["pass_rate"] == pytest.approx(rates[:, task].mean())
        assert (row["n_solved"], row["n_models"]) == ((passed[:, task] > 0).sum(), n_models)
        if 0 in {np.ptp(rates[:, task]), np.ptp(others)}:
            assert row["discrimination"] is None
        else:
            expected = stats.pearsonr(rates[:, task], others).statistic
            assert row["discrimination"] == pytest.approx(expected, abs=1e-9)
        first = int(np.argmax(passed[:, task] > 0))
        assert (row["first_solved_by"], row["first_solved_run_id"]) == (f"m{first}", f"r{first}")
