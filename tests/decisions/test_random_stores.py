"""Claims about stores with a known truth: few are false, and none is denied by other outputs."""

import pytest
from random_stores import OUTPUTS, SHAPES, contradictions, most_false, simulate

from warehouse.analysis.decisions.comparison import Comparison

N_STORES = 200


@pytest.mark.campaign
def test_few_claims_are_false_and_none_is_denied(tmp_path):
    tally = simulate(tmp_path, N_STORES, 1)
    assert tally.suites == dict.fromkeys(SHAPES, N_STORES // len(SHAPES))
    assert tally.contradictions == []
    assert tally.claims["different"] == tally.suites["different"]
    for output in OUTPUTS:
        false = {shape: tally.false[shape, output] for shape in SHAPES}
        assert sum(false.values()) <= most_false(N_STORES), (output, false)
        assert all(n <= most_false(tally.suites[shape]) for shape, n in false.items()), false


VALUES = {
    **dict.fromkeys(Comparison.__dataclass_fields__),
    "suite": "s",
    "task_set": "s",
    "metric": "passed",
    "a": "a",
    "b": "b",
    "test": "score",
    "n_tasks": 30,
    "n_clusters": 30,
    "n_only_a": 12,
    "n_only_b": 1,
    "difference": 0.4,
    "low": 0.1,
    "high": 0.6,
    "p_value": 0.01,
    "p_adjusted": 0.01,
    "conclusion": "a",
}


@pytest.mark.parametrize(
    ("changed", "n_found"),
    [({}, 0), ({"low": -0.1}, 1), ({"p_adjusted": 0.06}, 1), ({"difference": -0.4}, 1)],
)
def test_claims_that_their_figures_do_not_support_are_found(changed, n_found):
    assert len(list(contradictions([Comparison(**{**VALUES, **changed})]))) == n_found
