"""McNemar's test: published examples, scipy, SQL."""

import duckdb
import pytest
from scipy import stats

from warehouse.engine.statistics.mcnemar import mcnemar
from warehouse.engine.views.sql_files import shipped_sql


@pytest.fixture(scope="module")
def macros():
    with duckdb.connect() as connection:
        for file in shipped_sql():
            if file.is_function:
                connection.execute(file.sql)
        yield connection


def test_published_example():
    # Bentur et al. 2009, airway hyper-responsiveness before and after a transplant, as evaluated by
    # Fagerland, Lydersen and Laake 2013, BMC Med Res Methodol 13, 91: exact 0.0703, mid-p 0.0391.
    found = mcnemar(1, 7)
    assert (round(found.exact, 4), round(found.mid, 4)) == (0.0703, 0.0391)


@pytest.mark.parametrize("counts", [(0, 0), (0, 1), (3, 3), (5, 0), (9, 1), (40, 70), (900, 1000)])
def test_exact_p_is_that_of_scipy_and_of_the_macro(macros, counts):
    exact = mcnemar(*counts).exact
    if sum(counts):
        assert exact == pytest.approx(stats.binomtest(counts[0], sum(counts)).pvalue, rel=1e-9)
    ((by_macro,),) = macros.execute("SELECT mcnemar_p(?, ?)", counts).fetchall()
    assert exact == pytest.approx(by_macro, rel=1e-9)


@pytest.mark.parametrize("n", range(1, 7))
def test_small_cases_by_all_tosses(n):
    """Mid-p counts tosses as extreme as the data by half, on both sides together."""
    for only_a in range(n + 1):
        sizes = [abs(2 * tosses.bit_count() - n) for tosses in range(2**n)]
        observed = abs(2 * only_a - n)
        more, same = sum(s > observed for s in sizes), sum(s == observed for s in sizes)
        found = mcnemar(only_a, n - only_a)
        assert found.exact == pytest.approx((more + same) / 2**n)
        assert found.mid == pytest.approx((more + same / 2) / 2**n)
