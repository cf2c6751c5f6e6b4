"""The macros through their door in Python: published examples, scipy, the order of the rows."""

import numpy as np
import pytest
from scipy import stats

from warehouse.engine.statistics.macros import mcnemar_p_values, newcombe_intervals


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


def test_newcombes_published_examples():
    # Newcombe 1998, Statistics in Medicine 17, 2635, method 10, for 36, 12, 2 and 0; Fagerland,
    # Lydersen and Laake 2014, Statistics in Medicine 33, 2850, for 1, 1, 7 and 12.
    found = newcombe_intervals([(36, 12, 2, 0), (0, 0, 0, 0), (1, 1, 7, 12)])
    assert found[0] == pytest.approx((0.0569, 0.3404), abs=5e-5)
    assert found[1] is None
    assert found[2] == pytest.approx((-0.507, -0.026), abs=5e-4)
    assert newcombe_intervals([]) == []


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_mirrored_tables_have_mirrored_intervals(level):
    tables = [(36, 12, 2, 0), (20, 0, 0, 0), (0, 20, 0, 0), (10, 3, 9, 30), (87, 9, 1, 0)]
    mirrored = [(both, only_b, only_a, neither) for both, only_a, only_b, neither in tables]
    found = np.array(newcombe_intervals(tables, level=level))
    assert (found[:, 0] < found[:, 1]).all()
    assert np.array(newcombe_intervals(mirrored, level=level)) == pytest.approx(-found[:, ::-1])


def test_newcombes_interval_is_of_wilsons_at_any_level():
    # Model B passes nothing: phi is 0 and the ends are p - sqrt((p - l)² + u_b²) and so on.
    for level in (0.9, 0.95):
        a, b = (stats.binomtest(k, 50).proportion_ci(level, method="wilson") for k in (30, 0))
        low, high = 0.6 - np.hypot(0.6 - a.low, b.high), 0.6 + np.hypot(a.high - 0.6, 0 - b.low)
        assert newcombe_intervals([(0, 30, 0, 20)], level=level) == [pytest.approx((low, high))]
