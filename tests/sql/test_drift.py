"""The statistics of `drift`: against a direct computation, and by simulations without a change."""

import math

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from warehouse.views.sql_files import shipped_sql

FILES = {file.name: file for file in shipped_sql()}
RUN_TIMES = """
CREATE TABLE scores.run_times AS
SELECT
    'mine' AS suite, 'r' || position AS run_id,
    DATE '2026-01-01' + CAST(position AS INT) AS run_date, NULL::TIMESTAMP AS started_at, position
FROM range(1, 41) AS t(position)
"""
CALLS = """
CREATE OR REPLACE TABLE scores.setups AS
SELECT DISTINCT
    series, 'mine' AS suite, 'set' AS task_set, 'p' AS provider, 'm' || series AS model,
    '' AS settings, false AS is_replay
FROM simulated;
CREATE OR REPLACE TABLE scores.resolved_results AS
SELECT
    setups.*, 'r' || run AS run_id, 't' || task AS task_id, 'h' AS task_hash, 't' AS template_hash,
    passed AS is_correct, NULL::BOOLEAN AS objective_pass, NULL::BOOLEAN AS computed,
    'ok' AS availability_status, true AS success, false AS is_cached, NULL::VARCHAR AS duplicate_of,
    repeat('x', length) AS raw_output, NULL::VARCHAR AS answer, latency_ms, cost_usd
FROM simulated
JOIN scores.setups USING (series)
"""


@pytest.fixture(scope="module")
def con():
    with duckdb.connect() as con:
        con.execute("SET threads = 1; CREATE SCHEMA scores")
        con.execute(RUN_TIMES)
        for file in shipped_sql():
            if file.is_function:
                con.execute(file.sql)
        yield con


def drift(con, calls):
    """Return the rows of the view for these calls, by model and metric."""
    con.register("simulated", pa.table(calls))
    con.execute(CALLS)
    con.unregister("simulated")
    found = con.execute(FILES["drift"].sql)
    names = [column[0] for column in found.description]
    rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    return {(row["model"], row["metric"]): row for row in rows}


def simulated(random, *, n_series, n_runs, n_tasks, attempts, rate, shift=0.0, run_noise=0.2):
    """Return calls of models at tasks of various difficulty; from the middle on, `shift` more."""
    shape = n_series, n_runs, n_tasks, attempts
    series, run, task, _ = np.indices(shape).reshape(4, -1)
    easiness = random.beta(2 * rate, 2 * (1 - rate), (n_series, n_tasks))
    changed = (run >= n_runs // 2) * shift
    level = random.normal(6, 1, (n_series, n_tasks))[series, task] + changed
    slow = random.normal(0, run_noise, (n_series, n_runs))[series, run]
    n = len(series)
    return {
        "series": series,
        "run": run + 1,
        "task": task,
        "passed": random.random(n) < np.clip(easiness[series, task] + changed, 0, 1),
        # heavy tails: some answers are many times as long, or as slow
        "length": np.exp(level / 2 + 0.3 * random.standard_t(3, n)).clip(1, 5000).astype(int),
        "latency_ms": np.exp(level + slow + 0.5 * random.standard_t(3, n)),
        "cost_usd": np.exp(level - 12 + 0.2 * random.normal(0, 1, n)),
    }


def direct(values, scores, cells, at, correction):
    """Return z and the shift of a break before run `at`, stratum by stratum."""
    run, task = cells
    excess = variance = moved = weight = 0.0
    for one in np.unique(task):
        here = task == one
        before = here & (run < at)
        n, n_1 = here.sum(), before.sum()
        if not 0 < n_1 < n:
            continue
        excess += scores[before].sum() - n_1 * scores[here].mean()
        variance += n_1 * (n - n_1) / n * scores[here].var(ddof=1)
        w = n_1 * (n - n_1) / n
        moved += w * (values[here & (run >= at)].mean() - values[before].mean())
        weight += w
    z = max(0, abs(excess) - correction) / math.sqrt(variance)
    return z, moved / weight


@pytest.mark.parametrize("seed", range(5))
def test_break_equals_a_direct_computation(con, seed):
    random = np.random.default_rng(seed)
    calls = simulated(random, n_series=1, n_runs=5, n_tasks=7, attempts=2, rate=0.6)
    kept = random.random(len(calls["run"])) < 0.7  # runs that asked different tasks
    calls = {name: column[kept] for name, column in calls.items()}
    found = drift(con, calls)
    run, task = calls["run"], calls["task"]
    for metric, values in (
        ("passed", calls["passed"].astype(float)),
        ("answer_characters", np.log1p(calls["length"])),
        ("cost_usd", np.log(calls["cost_usd"])),
    ):
        scores = values.copy()
        if metric != "passed":
            for one in np.unique(task):
                here = task == one
                scores[here] = stats.rankdata(values[here]) / (here.sum() + 1)
        correction = 0.5 if metric == "passed" else 0
        tested = [direct(values, scores, (run, task), at, correction) for at in np.unique(run)[1:]]
        best = int(np.argmax([z for z, _ in tested]))
        z, shift = tested[best]
        row = found["m0", metric]
        assert row["n_breaks"] == len(tested)
        assert row["p_value"] == pytest.approx(min(1, len(tested) * 2 * stats.norm.sf(z)))
        assert row["after_run_id"] == f"r{np.unique(run)[1:][best]}"
        expected = shift if metric == "passed" else math.expm1(shift)
        assert row["change"] == pytest.approx(expected)
        assert row["change_low"] < row["change"] < row["change_high"]


def test_break_of_latency_is_a_t_test_over_the_runs(con):
    random = np.random.default_rng(3)
    calls = simulated(random, n_series=1, n_runs=7, n_tasks=4, attempts=1, rate=0.5)
    row = drift(con, calls)["m0", "latency_ms"]
    latency = np.log(calls["latency_ms"]).reshape(7, 4)
    runs = (latency - latency.mean(axis=0)).mean(axis=1)
    tests = {at: stats.ttest_ind(runs[:at], runs[at:]) for at in range(2, 6)}
    best = min(tests, key=lambda at: tests[at].pvalue)
    assert row["p_value"] == pytest.approx(min(1, 4 * tests[best].pvalue))
    assert (row["n_breaks"], row["after_run_id"]) == (4, f"r{best + 1}")
    shift = runs[best:].mean() - runs[:best].mean()
    assert row["change"] == pytest.approx(math.expm1(shift))
    ends = -tests[best].confidence_interval().high, -tests[best].confidence_interval().low
    assert (row["change_low"], row["change_high"]) == pytest.approx(np.expm1(ends), rel=1e-4)


def test_two_runs_of_each_task_once_are_judged_as_by_mcnemar(con):
    # 9 lost, 1 gained, 20 as before: (|1 - 9| - 1)² / 10, with continuity correction
    first = [True] * 9 + [False] + [True] * 20
    second = [False] * 9 + [True] + [True] * 20
    n = len(first)
    calls = {
        "series": [0] * 2 * n,
        "run": [1] * n + [2] * n,
        "task": [*range(n)] * 2,
        "passed": first + second,
        "length": [5] * 2 * n,
        "latency_ms": [1.0] * 2 * n,
        "cost_usd": [0.0] * 2 * n,
    }
    found = drift(con, calls)
    row = found["m0", "passed"]
    assert row["p_value"] == pytest.approx(stats.chi2.sf(4.9, 1))
    assert (row["change"], row["n_tasks"], row["n_runs"]) == (pytest.approx(-8 / 30), 30, 2)
    # All answers are equally long, two runs have no spread, and free calls have no price.
    same = found["m0", "answer_characters"]
    assert (same["change"], same["p_value"], same["is_drift"]) == (pytest.approx(0), None, None)
    assert math.copysign(1, same["change"]) == 1
    assert found["m0", "latency_ms"]["p_value"] is None
    assert ("m0", "cost_usd") not in found


SCENARIOS = [
    (n_runs, n_tasks, attempts, rate)
    for n_runs, n_tasks in ((2, 10), (2, 100), (4, 10), (6, 30), (20, 5), (20, 30))
    for attempts in (1, 3)
    for rate in (0.1, 0.5, 0.9)
]


@pytest.mark.slow
def test_unchanged_models_rarely_drift(con):
    random = np.random.default_rng(20261122)
    n_series, alarms, tested = 60, {}, {}
    for n_runs, n_tasks, attempts, rate in SCENARIOS:
        calls = simulated(
            random, n_series=n_series, n_runs=n_runs, n_tasks=n_tasks, attempts=attempts, rate=rate
        )
        for (_, metric), row in drift(con, calls).items():
            for key in (metric, (metric, n_runs, n_tasks)):
                alarms[key] = alarms.get(key, 0) + ((row["p_value"] or 1) < 0.05)
                tested[key] = tested.get(key, 0) + 1
    levels = {key: alarms[key] / tested[key] for key in alarms}
    for key, level in levels.items():
        error = 3 * math.sqrt(0.05 * 0.95 / tested[key]) if isinstance(key, tuple) else 0
        assert level <= 0.05 + error, (key, level)


def test_a_change_is_found_where_it_happened(con):
    random = np.random.default_rng(7)
    calls = simulated(
        random, n_series=1, n_runs=10, n_tasks=80, attempts=1, rate=0.4, shift=0.3, run_noise=0.05
    )
    found = drift(con, calls)
    for metric in ("passed", "answer_characters", "latency_ms", "cost_usd"):
        row = found["m0", metric]
        assert (row["is_drift"], row["after_run_id"], row["before_run_id"]) == (True, "r6", "r5")
        assert row["p_holm"] < 0.01
        # The logarithm of the length is half the level; and no task passes more often than always.
        if metric in {"latency_ms", "cost_usd"}:
            assert row["change_low"] < math.expm1(0.3) < row["change_high"]
        assert 0.1 < row["change"] < 0.5


# --- functions


def test_normal_p_equals_scipy(con):
    for z in (0.0, 1e-9, 0.5, 1.0, -1.96, 2.5, 2.999999, 3.0, 3.3, 5.0, 8.0, 20.0, 37.0):
        [(found,)] = con.execute("SELECT normal_p(?::DOUBLE)", [z]).fetchall()
        assert found == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-9), z
    assert con.execute("SELECT normal_p(NULL::DOUBLE)").fetchall() == [(None,)]


def test_poisson_binomial_p_equals_all_outcomes(con):
    random = np.random.default_rng(1)
    for n in range(6):
        chances = random.random(n).tolist()
        for hits in range(n + 1):
            expected = sum(
                math.prod(p if outcome >> i & 1 else 1 - p for i, p in enumerate(chances))
                for outcome in range(2**n)
                if outcome.bit_count() >= hits
            )
            query = "SELECT poisson_binomial_p(?::DOUBLE[], ?::BIGINT)"
            [(found,)] = con.execute(query, [chances, hits]).fetchall()
            assert found == pytest.approx(expected)
