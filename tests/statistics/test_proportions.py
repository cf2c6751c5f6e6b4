"""The exact upper bound of a proportion is scipy's."""

import pytest
from scipy import stats

from warehouse.engine.statistics.proportions import clopper_pearson_high


@pytest.mark.parametrize(("passed", "n"), [(0, 20), (3, 20), (20, 20)])
def test_upper_bound_equals_scipy(passed, n):
    theirs = stats.binomtest(passed, n, alternative="less").proportion_ci(0.8, method="exact")
    assert clopper_pearson_high(passed, n, confidence=0.8) == pytest.approx(theirs.high)
