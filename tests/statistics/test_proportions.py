"""The exact upper bound of a proportion and Wilson's interval are scipy's."""

import pytest
from scipy import stats

from warehouse.engine.statistics.macros import macros
from warehouse.engine.statistics.proportions import clopper_pearson_high, wilson_limits


@pytest.mark.parametrize(("passed", "n"), [(0, 20), (3, 20), (20, 20)])
def test_upper_bound_equals_scipy(passed, n):
    theirs = stats.binomtest(passed, n, alternative="less").proportion_ci(0.8, method="exact")
    assert clopper_pearson_high(passed, n, confidence=0.8) == pytest.approx(theirs.high)


@pytest.mark.parametrize(("passed", "n"), [(0, 20), (3, 20), (20, 20)])
def test_wilsons_interval_equals_scipy(passed, n):
    theirs = stats.binomtest(passed, n).proportion_ci(0.9, method="wilson")
    assert wilson_limits(passed / n, n, level=0.9) == pytest.approx((theirs.low, theirs.high))


@pytest.mark.parametrize(("passed", "n"), [(0, 20), (3, 20), (12.5, 31.25), (20, 20)])
def test_wilsons_interval_equals_the_macros(passed, n):
    row = macros().execute("SELECT wilson_low($1, $2), wilson_high($1, $2)", [passed, n]).fetchone()
    assert wilson_limits(passed / n, n, level=0.95) == pytest.approx(row, abs=1e-15)
