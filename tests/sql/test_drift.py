"""The statistics of `drift`: against a direct computation, and by simulations without a change."""

import math
import os

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from warehouse.engine.views.sql_files import shipped_sql

FILES = {file.name: file for file in shipped_sql()}
RUN_TIMES = """
CREATE TABLE scores.run_times AS
SELECT
    'mine' AS suite, 'r' || position AS run_id,
    DATE '2026-01-01' + CAST(position AS INT) AS run_date, NULL::TIMESTAMP AS started_at, position
FROM range(1, 61) AS t(position)
"""
CALLS = """
CREATE OR REPLACE TABLE scores.setups AS
SELECT DISTINCT
    series, 'r' || run AS run_id, hash(series, run) AS setup, hash(series, run) AS entry,
    'mine' AS suite, 'set' AS task_set, 'p' AS provider, 'm' || series AS model,
    '' AS settings, false AS is_replay
FROM simulated;
CREATE OR REPLACE TABLE scores.resolved_results AS
SELECT
    setups.*, 't' || task AS task_id, 'h' AS task_hash, 't' AS template_hash,
    passed AS is_correct, NULL::BOOLEAN AS objective_pass, NULL::BOOLEAN AS computed,
    'ok' AS availability_status, true AS success, false AS is_cached, NULL::VARCHAR AS duplicate_of,
    repeat('x', length) AS raw_output, NULL::VARCHAR AS answer, latency_ms, cost_usd
FROM simulated
JOIN scores.setups
    ON simulated.series = setups.series
    AND 'r' || simulated.run = setups.run_id;
CREATE OR REPLACE TABLE scores.entries AS
SELECT DISTINCT hash(series, run) AS entry, series FROM simulated;
CREATE OR REPLACE TABLE scores.task_rates AS
SELECT
    hash(series, run) AS entry, 'set' AS task_set, hash(task) AS task,
    avg(CAST(passed AS INT)) AS pass_rate
FROM simulated
GROUP BY ALL;
CREATE OR REPLACE TABLE scores.task_facts AS SELECT entry, task FROM scores.task_rates;
CREATE OR REPLACE TABLE scores.run_rates AS
SELECT 'mine' AS suite, 'r' || run AS run_id, hash(series, run) AS entry, 'set' AS task_set,
    run AS position, count(DISTINCT task) AS n_tasks
FROM simulated
GROUP BY ALL;
CREATE OR REPLACE TABLE scores.completions (other_entry UBIGINT);
CREATE OR REPLACE VIEW scores.failure_repeats AS
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
    con.execute(CALLS + FILES["failure_repeats"].sql)
    for name in ("series_runs", "drift_breaks"):
        con.execute(f"CREATE OR REPLACE TABLE scores.{name} AS {FILES[name].sql}")
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
    """Return z, the shift and its error of a break before run `at`, stratum by stratum."""
    run, task = cells
    excess = variance = moved = weight = spread = 0.0
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
        spread += w * values[here].var(ddof=1)
    z = max(0, abs(excess) - correction) / math.sqrt(variance)
    return z, moved / weight, math.sqrt(spread) / weight


def t_of_runs(runs, at, error_of_answers, is_latency):
    """Return p of a break before run `at` by the means of the runs, and their autocorrelation."""
    sides = runs[:at], runs[at:]
    residuals = np.concatenate([side - side.mean() for side in sides])
    products = sum(float((r[:-1] * r[1:]).sum()) for r in (residuals[:at], residuals[at:]))
    n, squares = len(runs), float((residuals**2).sum())
    variance = squares / (n - 2) * (1 / at + 1 / (n - at))
    unexplained = 1 if is_latency else min(1, 2 * max(0, 1 - error_of_answers**2 / variance))
    correlation = n * products / squares + (4 if is_latency else 3) * unexplained
    correlation /= max(n - 6 * unexplained, n / 2)
    correlation = min(0.95, max(0, correlation)) if unexplained else 0
    inflation = (1 + correlation) / (1 - correlation)
    t = (sides[1].mean() - sides[0].mean()) / math.sqrt(variance * inflation)
    return 2 * stats.t.sf(abs(t), max(1, math.floor(n / inflation) - 2)), correlation


@pytest.mark.parametrize("seed", range(8))
def test_break_equals_a_direct_computation(con, seed):
    random = np.random.default_rng(seed)
    calls = simulated(
        random, n_series=1, n_runs=9, n_tasks=7, attempts=2, rate=0.6, shift=seed % 2 * 0.4
    )
    found = drift(con, calls)
    run, task = calls["run"], calls["task"]
    for metric, values in (
        ("passed", calls["passed"].astype(float)),
        ("answer_characters", np.log1p(calls["length"])),
        ("cost_usd", np.log(calls["cost_usd"])),
        ("latency_ms", np.log(calls["latency_ms"])),
    ):
        scores = values.copy()
        if metric in {"answer_characters", "cost_usd"}:
            for one in np.unique(task):
                here = task == one
                scores[here] = stats.rankdata(values[here]) / (here.sum() + 1)
        correction = 0.5 if metric == "passed" else 0
        means = np.array([values[run == one].mean() for one in np.unique(run)])
        tested = []
        for at in np.unique(run)[1:]:
            z, shift, error = direct(values, scores, (run, task), at, correction)
            p, correlation = t_of_runs(means, at - 1, error, metric == "latency_ms")
            of_answers = 0 if metric == "latency_ms" else 2 * stats.norm.sf(z)
            sides = means[: at - 1], means[at - 1 :]
            left = sum(float(((side - side.mean()) ** 2).sum()) for side in sides)
            tested.append((left, max(p, of_answers), at, shift, correlation, p >= of_answers))
        _, p, at, shift, correlation, is_t = min(tested)
        row = found["m0", metric]
        assert row["n_breaks"] == 8
        assert row["p_value"] == pytest.approx(min(1, 0.6 * 8 * p), rel=1e-9)
        assert row["after_run_id"] == f"r{at}"
        assert row["autocorrelation"] == pytest.approx(correlation)
        assert (row["test"] == "t_of_runs") == is_t
        expected = shift if metric == "passed" else math.expm1(shift)
        assert row["change"] == pytest.approx(expected)
        assert row["change_low"] < row["change"] < row["change_high"]


def test_a_drift_is_significant_and_excludes_no_change(con):
    """Of many series, some have an interval without 0 although their p-value is not small."""
    random = np.random.default_rng(3)
    calls = simulated(random, n_series=12, n_runs=9, n_tasks=7, attempts=2, rate=0.6, shift=0.3)
    outcomes = set()
    for row in drift(con, calls).values():
        is_small = row["p_holm"] < 0.05
        is_apart = not row["change_low"] <= 0 <= row["change_high"]
        assert row["is_drift"] == (is_small and is_apart)
        outcomes.add((is_small, is_apart))
    assert {(True, True), (False, True), (False, False)} <= outcomes


def test_fewer_than_four_runs_are_not_tested(con):
    # Nothing tells a change from what differs from night to night anyway.
    passed = [[True] * 30, [True] * 30, [False] * 30]
    found = drift(con, nights(passed))
    row = found["m0", "passed"]
    assert (row["n_runs"], row["p_value"], row["test"], row["is_drift"]) == (3, None, None, None)
    assert row["change"] < -0.49
    # All answers are equally long, and free calls have no price.
    same = found["m0", "answer_characters"]
    assert (same["change"], same["p_value"], same["is_drift"]) == (pytest.approx(0), None, None)
    assert math.copysign(1, same["change"]) == 1
    assert ("m0", "cost_usd") not in found


@pytest.mark.parametrize(("rate", "is_counted"), [(0.6, False), (0.6, True), (0.9, False)])
def test_runs_that_only_repeat_failures_are_left_out(con, rate, is_counted):
    random = np.random.default_rng(23)
    calls = simulated(random, n_series=1, n_runs=8, n_tasks=60, attempts=1, rate=rate)
    run, task, passed = calls["run"], calls["task"], calls["passed"]
    failed = task[(run == 5) & ~passed]
    # One task that had passed makes each of these a run of some tasks, not of failures.
    again = np.append(failed, task[(run == 5) & passed][0]) if is_counted else failed
    is_kept = (run <= 5) | np.isin(task, again)
    rows = drift(con, {name: values[is_kept] for name, values in calls.items()})
    nights = drift(con, {name: values[run <= 5] for name, values in calls.items()})
    assert len(failed) > 5
    assert {row["n_runs"] for row in rows.values()} == {8 if is_counted else 5}
    assert (rows == nights) is not is_counted


def test_from_all_to_nothing_is_found_without_any_spread(con):
    row = drift(con, nights([[True] * 20] * 3 + [[False] * 20] * 2))["m0", "passed"]
    assert (row["is_drift"], row["after_run_id"], row["change"]) == (True, "r4", -1)
    assert row["test"] == "mantel_haenszel"


def nights(passed):
    """Return calls of one model, given the verdicts of each night's tasks."""
    n = len(passed[0])
    size = len(passed) * n
    return {
        "series": [0] * size,
        "run": np.repeat(np.arange(len(passed)) + 1, n),
        "task": [*range(n)] * len(passed),
        "passed": [verdict for night in passed for verdict in night],
        "length": [5] * size,
        "latency_ms": [1.0] * size,
        "cost_usd": [0.0] * size,
    }


SCENARIOS = [
    (n_runs, n_tasks, attempts, rate)
    for n_runs, n_tasks in ((2, 10), (4, 10), (6, 30), (20, 5), (20, 30))
    for attempts in (1, 3)
    for rate in (0.1, 0.5, 0.9)
]


@pytest.mark.campaign
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


# Nights, how much they differ (standard deviation of the rate, or of the logarithm), their
# correlation with the night before, and the share of series with p below 0.05 at most.
LEVELS = [
    *((n, sd, 0.0, 0.05) for n in (6, 20, 40) for sd in (0.0, 0.02)),
    *((n, 0.1, rho, most) for n in (6, 20, 40) for rho, most in ((0.5, 0.10), (0.8, 0.15))),
]
# Nights before and after a drop, how much nights differ, and the share of series found at least.
POWERS = [
    *(
        (before, after, 0.0, least)
        for before in (20, 30)
        for after, least in ((5, 0.6), (15, 0.95))
    ),
    *(
        (before, after, 0.019, least)
        for before in (20, 30)
        for after, least in ((5, 0.35), (15, 0.85))
    ),
]
# 100 for the table of docs/history.md, whose figures `-rP` prints.
N_SERIES = int(os.environ.get("EVALSTORE_SIMULATIONS", "24"))


def share_of_breaks(con, random, *, before, after=0, spread, correlation=0.0, change=0.0):
    """Return how often a break is found, of 200 tasks a night and by each metric."""
    n_nights, n_tasks = before + after, 200
    night = random.normal(size=(N_SERIES, n_nights))
    for at in range(1, n_nights):
        night[:, at] *= math.sqrt(1 - correlation**2)
        night[:, at] += correlation * night[:, at - 1]
    series, run, task = np.indices((N_SERIES, n_nights, n_tasks)).reshape(3, -1)
    easiness = random.beta(1.4, 0.6, (N_SERIES, n_tasks))
    shift = spread * night[series, run] - change * (run >= before)
    n = len(series)
    found = drift(
        con,
        {
            "series": series,
            "run": run + 1,
            "task": task,
            "passed": random.random(n) < np.clip(easiness[series, task] + shift, 0, 1),
            "length": np.exp(5 + shift + 0.3 * random.standard_t(3, n)).clip(1, 5000).astype(int),
            "latency_ms": np.exp(6 + shift + 0.5 * random.standard_t(3, n)),
            "cost_usd": np.exp(shift - 7 + 0.2 * random.normal(0, 1, n)),
        },
    )
    hits = {}
    for (_, metric), row in found.items():
        hits.setdefault(metric, []).append(row["p_value"] < 0.05)
    return {metric: np.mean(shares) for metric, shares in hits.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("nights", "spread", "correlation", "most"), LEVELS)
def test_nights_that_differ_are_rarely_a_break(con, nights, spread, correlation, most):
    random = np.random.default_rng(nights)
    shares = share_of_breaks(con, random, before=nights, spread=spread, correlation=correlation)
    print(nights, spread, correlation, shares)
    error = 3.3 * math.sqrt(most * (1 - most) / N_SERIES)
    for metric, share in shares.items():
        assert share <= most + error, metric


@pytest.mark.slow
@pytest.mark.parametrize(("before", "after", "spread", "least"), POWERS)
def test_a_drop_of_five_points_is_found(con, before, after, spread, least):
    random = np.random.default_rng(before + after)
    shares = share_of_breaks(con, random, before=before, after=after, spread=spread, change=0.05)
    print(before, after, spread, shares)
    assert shares["passed"] >= least - 3.3 * math.sqrt(least * (1 - least) / N_SERIES)


def test_a_change_is_found_where_it_happened(con):
    random = np.random.default_rng(7)
    calls = simulated(
        random, n_series=1, n_runs=20, n_tasks=400, attempts=1, rate=0.4, shift=0.3, run_noise=0.05
    )
    found = drift(con, calls)
    for metric in ("passed", "answer_characters", "latency_ms", "cost_usd"):
        row = found["m0", metric]
        assert (row["is_drift"], row["after_run_id"], row["before_run_id"]) == (True, "r11", "r10")
        assert row["p_holm"] < 0.05
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
