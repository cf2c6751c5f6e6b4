"""Holm's adjustment."""

import pytest

from warehouse.statistics.adjustment import holm, holm_thresholds


def test_worked_example():
    # Wikipedia, "Holm–Bonferroni method": four hypotheses at 0.05; only the first and fourth fall.
    p_values = [0.01, 0.04, 0.03, 0.005]
    assert holm(p_values) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    # Holm 1979: the smallest is compared with alpha / n, the next with alpha / (n - 1) ...
    assert holm_thresholds(p_values, 0.05, 4) == pytest.approx([0.05 / 3, 0.05, 0.025, 0.0125])


def test_unknown_values_do_not_count():
    assert holm([None, 0.02, None, 0.03]) == [None, 0.04, None, 0.04]
