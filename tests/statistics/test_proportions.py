"""Intervals of proportions: published examples, scipy, SQL."""

import duckdb
import numpy as np
import pytest
from scipy import stats

from warehouse.engine.statistics.proportions import (
    clopper_pearson_high,
    clustered_interval,
    wilson,
)
from warehouse.engine.views.sql_files import shipped_sql


@pytest.fixture(scope="module")
def macros():
    with duckdb.connect() as connection:
        for file in shipped_sql():
            if file.is_function:
                connection.execute(file.sql)
        yield connection


@pytest.mark.parametrize("n_clusters", [6, 9, 40])
def test_the_interval_of_clusters_equals_the_macro_and_its_formula(macros, n_clusters):
    random = np.random.default_rng(n_clusters)
    sizes = random.integers(1, 9, n_clusters)
    sums = random.binomial(sizes, random.beta(1, 1, n_clusters)).astype(float)
    n, size = sizes.sum(), sizes.mean()
    # With a cluster that passes all and one that passes none.
    padded_sums, padded_sizes = np.append(sums, [size, 0]), np.append(sizes, [size, size])
    middle = padded_sums.sum() / padded_sizes.sum()
    variance = ((padded_sums - middle * padded_sizes) ** 2).sum() / padded_sizes.sum() ** 2
    shrunk = n_clusters / (n_clusters + 2)
    trials = min(n, shrunk * middle * (1 - middle) / variance)
    df = max(1, n**2 // (sizes**2).sum() - 1)
    z, mean = stats.t.ppf(0.975, df), sums.sum() / n
    centre = (mean + z**2 / (2 * trials)) / (1 + z**2 / trials)
    reach = z * np.sqrt(mean * (1 - mean) / trials + z**2 / (4 * trials**2)) / (1 + z**2 / trials)
    found = clustered_interval(sums, sizes.astype(float))
    assert found == pytest.approx((centre - reach, centre + reach), abs=1e-12)
    lists = [sums.tolist(), sizes.tolist()]
    ((ends,),) = macros.execute("SELECT clustered_interval($1, $2::BIGINT[])", lists).fetchall()
    assert found == pytest.approx(ends, abs=1e-10)
    ((ends,),) = macros.execute(
        "SELECT clustered_student_interval($1, $2::BIGINT[])", lists
    ).fetchall()
    spread = ((sums - mean * sizes) ** 2).sum() * n_clusters / (n_clusters - 1)
    assert ends == pytest.approx([mean + s * z * np.sqrt(spread) / n for s in (-1, 1)], abs=1e-10)


def test_clusters_of_one_task_that_all_pass_are_no_certainty(macros):
    sums = np.ones(30)
    assert clustered_interval(sums, np.full(30, 5.0) / 5).low == pytest.approx(
        wilson(30, 30, df=29).low
    )
    assert clustered_interval(np.ones(5), np.ones(5)) is None
    ((ends,),) = macros.execute("SELECT clustered_interval([5.0, 5], [5, 5])").fetchall()
    assert ends is None


@pytest.mark.parametrize(("passed", "n"), [(0, 5), (5, 5), (3, 17), (500, 997)])
def test_wilson_equals_scipy_and_the_macros(macros, passed, n):
    theirs = stats.binomtest(passed, n).proportion_ci(method="wilson")
    assert wilson(passed, n) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    query = "SELECT wilson_low($1, $2), wilson_high($1, $2)"
    assert wilson(passed, n) == pytest.approx(macros.execute(query, [passed, n]).fetchone())


def test_nothing_has_no_interval():
    assert wilson(0, 0) is None


@pytest.mark.parametrize(("passed", "n"), [(0, 20), (3, 20), (20, 20)])
def test_upper_bound_equals_scipy(passed, n):
    theirs = stats.binomtest(passed, n, alternative="less").proportion_ci(0.8, method="exact")
    assert clopper_pearson_high(passed, n, confidence=0.8) == pytest.approx(theirs.high)
