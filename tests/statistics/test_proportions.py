"""Intervals of proportions: published examples, scipy, SQL."""

import duckdb
import numpy as np
import pytest
from scipy import stats

from warehouse.statistics.proportions import clopper_pearson_high, newcombe, wilson
from warehouse.views.sql_files import shipped_sql

TABLES = [
    (36, 12, 2, 0),
    (1, 1, 7, 12),
    (20, 0, 0, 0),
    (0, 20, 0, 0),
    (10, 3, 9, 30),
    (87, 9, 1, 0),
]


@pytest.fixture(scope="module")
def macros():
    with duckdb.connect() as connection:
        for file in shipped_sql():
            if file.is_function:
                connection.execute(file.sql)
        yield connection


def test_published_examples():
    # Newcombe 1998, Statistics in Medicine 17, 2635, method 10, for 36, 12, 2 and 0.
    assert newcombe(36, 12, 2, 0) == pytest.approx((0.0569, 0.3404), abs=5e-5)
    # Fagerland, Lydersen and Laake 2014, Statistics in Medicine 33, 2850: 1, 1, 7 and 12.
    assert newcombe(1, 1, 7, 12) == pytest.approx((-0.507, -0.026), abs=5e-4)


@pytest.mark.parametrize("table", TABLES)
def test_newcombe_equals_the_macro(macros, table):
    ((ends,),) = macros.execute("SELECT newcombe_interval(?, ?, ?, ?)", table).fetchall()
    assert newcombe(*table) == pytest.approx(ends, abs=1e-12)


@pytest.mark.parametrize(("passed", "n"), [(0, 5), (5, 5), (3, 17), (500, 997)])
def test_wilson_equals_scipy_and_the_macros(macros, passed, n):
    theirs = stats.binomtest(passed, n).proportion_ci(method="wilson")
    assert wilson(passed, n) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    query = "SELECT wilson_low($1, $2), wilson_high($1, $2)"
    assert wilson(passed, n) == pytest.approx(macros.execute(query, [passed, n]).fetchone())


def test_nothing_has_no_interval():
    assert wilson(0, 0) is None
    assert newcombe(0, 0, 0, 0) is None


@pytest.mark.parametrize(("passed", "n"), [(0, 20), (3, 20), (20, 20)])
def test_upper_bound_equals_scipy(passed, n):
    theirs = stats.binomtest(passed, n, alternative="less").proportion_ci(0.8, method="exact")
    assert clopper_pearson_high(passed, n, confidence=0.8) == pytest.approx(theirs.high)


def test_mirrored_tables_have_mirrored_intervals():
    for both, only_a, only_b, neither in TABLES:
        low, high = newcombe(both, only_a, only_b, neither)
        assert newcombe(both, only_b, only_a, neither) == pytest.approx((-high, -low))
        assert np.isfinite([low, high]).all()
        assert low < high
