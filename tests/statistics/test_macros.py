"""The macros through their door in Python: published examples, scipy, the order of the rows."""

import pytest
from scipy import stats

from warehouse.engine.statistics.macros import mcnemar_p_values


def test_mcnemars_published_example():
    # Bentur et al. 2009, airway hyper-responsiveness before and after a transplant, as evaluated by
    # Fagerland, Lydersen and Laake 2013, BMC Med Res Methodol 13, 91: exact 0.0703.
    assert mcnemar_p_values([1], [7]) == [pytest.approx(0.0703, abs=5e-5)]


def test_each_pair_has_the_p_value_of_scipy():
    only_a, only_b = [0, 3, 5, 9, 40, 900], [1, 3, 0, 1, 70, 1000]
    expected = [stats.binomtest(a, a + b).pvalue for a, b in zip(only_a, only_b, strict=True)]
    assert mcnemar_p_values(only_a, only_b) == pytest.approx(expected, rel=1e-9)
    assert mcnemar_p_values([0], [0]) == [1.0]
    assert mcnemar_p_values([], []) == []
