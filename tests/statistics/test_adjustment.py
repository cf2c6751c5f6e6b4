"""Holm's adjustment."""

import pytest

from warehouse.engine.scoring.bootstrap import holm


def test_worked_example():
    # Wikipedia, "Holm–Bonferroni method": four hypotheses at 0.05; only the first and fourth fall.
    p_values = [0.01, 0.04, 0.03, 0.005]
    assert holm(p_values) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_unknown_values_do_not_count():
    assert holm([None, 0.02, None, 0.03]) == [None, 0.04, None, 0.04]
