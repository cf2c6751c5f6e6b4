"""The coverage of the interval of a pass rate over tasks, by simulation.

Each task has its own probability to pass, drawn from a beta distribution with the given mean and
correlation of attempts; 0 makes all tasks alike, 0.95 makes nearly all pass always or never.
"""

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from warehouse.engine.views.sql_files import shipped_sql

SIMULATIONS = 4000
SETTINGS = [
    (n_tasks, attempts, mean, correlation)
    for n_tasks in (10, 50, 200)
    for attempts in (1, 2, 3, 10)
    for mean in (0.1, 0.5, 0.8, 0.95)
    for correlation in (0, 0.2, 0.6, 0.95)
]
QUERY = """
SELECT
    scenario,
    avg((low(n) <= mean AND mean <= high(n))::INT) AS coverage,
    avg((low(n_tasks) <= mean AND mean <= high(n_tasks))::INT) AS of_tasks,
    avg((low(n_results) <= mean AND mean <= high(n_results))::INT) AS of_results,
    avg(high(n) - low(n)) / avg(high(n_tasks) - low(n_tasks)) AS width,
FROM (
    SELECT *, rates / n_tasks AS rate, effective_tasks(n_tasks, n_results, rates, squares) AS n
    FROM simulated
)
GROUP BY scenario
"""


@pytest.fixture(scope="module")
def functions():
    with duckdb.connect() as con:
        for file in shipped_sql():
            if file.is_function:
                con.execute(file.sql)
        yield con


@pytest.fixture(scope="module")
def found(functions):
    """Return coverage and width by scenario: ours, Wilson's for the tasks and for the results."""
    with functions.cursor() as con:
        con.execute("CREATE MACRO low(n) AS wilson_low(rate * n, n)")
        con.execute("CREATE MACRO high(n) AS wilson_high(rate * n, n)")
        columns = simulated(np.random.default_rng(20250101))
        con.register("simulated", columns)
        query = con.execute(QUERY)
        return {SETTINGS[row[0]]: row[1:] for row in query.fetchall()}


def simulated(random):
    """Return the sums of the tasks' rates and of their squares, as an Arrow table."""
    tables = []
    for scenario, (n_tasks, attempts, mean, correlation) in enumerate(SETTINGS):
        chances = np.full((SIMULATIONS, n_tasks), mean)
        if correlation:
            weight = 1 / correlation - 1
            chances = random.beta(mean * weight, (1 - mean) * weight, chances.shape)
        rates = random.binomial(attempts, chances) / attempts
        constants = {
            "scenario": scenario,
            "n_tasks": n_tasks,
            "n_results": n_tasks * attempts,
            "mean": mean,
        }
        tables.append(
            pa.table(
                {name: [value] * SIMULATIONS for name, value in constants.items()}
                | {"rates": rates.sum(axis=1), "squares": (rates**2).sum(axis=1)}
            )
        )
    return pa.concat_tables(tables)


@pytest.mark.parametrize(
    ("rates", "attempts", "expected"),
    [
        ([1, 1, 1, 0], 1, 4),
        # p = (2 + 1) / 6 = 1/2, s² = (1.5 + 1) / 6 - 1/4 = 1/6, so 4 · 1/4 / (1/6) = 6.
        ([1, 0.5, 0.5, 0], 2, 6),
        ([1, 1, 0, 0], 2, 4),  # attempts agree: as many as tasks
        ([0.5] * 20, 2, 40),  # tasks agree: as many as results
    ],
)
def test_the_number_of_trials(functions, rates, attempts, expected):
    sums = len(rates), len(rates) * attempts, sum(rates), sum(rate**2 for rate in rates)
    [(found,)] = functions.execute("SELECT effective_tasks(?, ?, ?, ?)", sums).fetchall()
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.campaign
def test_once_asked_it_is_wilsons(found):
    for (_, attempts, _, _), (coverage, of_tasks, of_results, width) in found.items():
        if attempts == 1:
            assert (coverage, width) == (of_tasks, 1)
            assert of_results == of_tasks


@pytest.mark.slow
def test_it_covers_as_often_as_wilsons_for_the_tasks_or_as_it_says(found):
    short = {
        setting: (coverage, of_tasks)
        for setting, (coverage, of_tasks, *_) in found.items()
        if coverage < min(0.935, of_tasks - 0.01)
    }
    assert not short


@pytest.mark.slow
def test_calls_taken_for_tasks_cover_much_less_often(found):
    """What `leaderboard_pooled` shows, and why it is not the leaderboard."""
    (_, _, of_results, _) = found[50, 10, 0.5, 0.6]
    assert of_results < 0.6


@pytest.mark.slow
def test_attempts_narrow_it_as_far_as_they_differ(found):
    (*_, independent) = found[50, 10, 0.5, 0]
    (*_, alike) = found[50, 10, 0.5, 0.95]
    assert independent < 0.45  # √(1/10) = 0.32 for ten times the tasks
    assert alike > 0.95
