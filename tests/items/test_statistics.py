"""Item statistics: equal to other programs' figures, and the textbook's on sparse matrices."""

import json
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import ROOT

from warehouse.analysis.items.responses import Responses
from warehouse.analysis.items.statistics import (
    correlations,
    cronbach_alpha,
    item_statistics,
    rest_shares,
)
from warehouse.engine.statistics.proportions import wilson_limits

DATA = ROOT.parent / "shared" / "data" / "items"
MATRICES = ("swebench-bash-only", "terminal-bench-1.0", "crux")
ROUNDED = 5.1e-10  # the oracles have nine decimals
needs_data = pytest.mark.skipif(not DATA.exists(), reason="the matrices of other programs")


@cache
def oracle(name):
    """Return the responses of a matrix, and what another program says of them."""
    if name == "crux":
        found = json.loads((DATA / "zeroeval" / "oracle.json").read_bytes())
        lines = (DATA / "zeroeval" / "crux.matrix.csv").read_text("utf-8").splitlines()
        rows = [line.split(",") for line in lines[1:]]
        # A blank is no answer and counts as wrong.
        matrix = [[float(cell or 0) for cell in row[1:]] for row in rows]
        return Responses.from_matrix(np.transpose(matrix), items=[row[0] for row in rows]), found
    found = json.loads((DATA / "eval_arena" / "oracle.json").read_bytes())[name]
    lines = (DATA / "eval_arena" / f"{name}.jsonl").read_text("utf-8").splitlines()
    cells = {(row["model"], row["example_id"]): row for row in map(json.loads, lines)}
    systems, items = (sorted({key[at] for key in cells}) for at in (0, 1))
    shares = np.array([[cells[system, item]["pass1"] for item in items] for system in systems])
    if "binarised_majority" in found:
        found, shares = found["binarised_majority"], shares > 0.5
    return Responses.from_matrix(shares, systems=systems, items=items), found


@needs_data
@pytest.mark.parametrize("name", MATRICES)
def test_item_statistics_equal_the_oracles(name):
    responses, expected = oracle(name)
    found = item_statistics(responses)
    totals = responses.dense().mean(axis=1)[responses.system]
    point_biserial = correlations(
        responses.passed / responses.attempts, totals, responses.item, responses.shape[1]
    )
    ours = np.stack([found.pass_rate, point_biserial, found.discrimination])
    rows = [expected["ctt"]["rows"][item] for item in responses.items]
    np.testing.assert_allclose(ours, np.array(rows, dtype=float).T, rtol=0, atol=ROUNDED)


@needs_data
@pytest.mark.parametrize("name", MATRICES)
def test_counts_and_alpha_equal_the_oracles(name):
    responses, expected = oracle(name)
    found = item_statistics(responses)
    assert (found.pass_rate == 0).sum() == expected["dead_all_wrong"]
    assert (found.pass_rate == 1).sum() == expected["saturated_all_right"]
    negative = [responses.items[at] for at in np.flatnonzero(found.discrimination < 0)]
    assert sorted(negative) == sorted(expected["negative_corrected"])
    assert cronbach_alpha(responses) == pytest.approx(expected["cronbach_alpha"], abs=1e-9)


@given(st.integers(0, 2**32 - 1))
def test_dead_and_saturated_items_have_no_discrimination(seed):
    matrix = np.random.default_rng(seed).integers(0, 2, (9, 6)).astype(float)
    matrix[:, 0], matrix[:, 1] = 0, 1
    found = item_statistics(Responses.from_matrix(matrix))
    for figure in (found.discrimination, found.discrimination_low, found.p_value):
        assert np.isnan(figure[:2]).all()


def test_who_was_asked_hard_items_only_is_not_weak():
    """Half of the systems, weak and strong ones, were not asked the easy items."""
    ability, easiness = np.linspace(-0.3, 0.3, 40), np.where(np.arange(101) % 2, 0.35, 0.65)
    shares = ability[:, np.newaxis] + easiness
    matrix = shares.copy()
    matrix[::2, :-1:2] = np.nan
    responses = Responses.from_matrix(matrix)
    others = (shares.sum(axis=1, keepdims=True) - shares) / 100
    np.testing.assert_allclose(
        rest_shares(responses), others[responses.system, responses.item], atol=1e-8
    )


def test_a_single_pass_of_the_weakest_is_no_evidence():
    """Student's test alone would find it at p < 0.001."""
    matrix = np.tile(np.linspace(0.4, 0.6, 30)[:, np.newaxis], (1, 20))
    matrix[0], matrix[:, 0] = 0.0, np.arange(30) == 0
    found = item_statistics(Responses.from_matrix(matrix))
    assert found.discrimination[0] < -0.7
    assert found.p_value[0] == pytest.approx(1 / 30)


@pytest.mark.parametrize(("n_systems", "has_interval", "is_tested"), [
    (3, False, False), (4, True, False), (7, True, False), (8, True, True),
])  # fmt: skip
def test_few_systems_are_not_tested(n_systems, has_interval, is_tested):
    matrix = np.random.default_rng(1).random((n_systems, 5))
    found = item_statistics(Responses.from_matrix(matrix))
    assert np.isnan(found.discrimination_low).all() != has_interval
    assert np.isnan(found.p_value).all() != is_tested


def test_two_systems_have_no_discrimination():
    found = item_statistics(Responses.from_matrix(np.eye(2)))
    assert np.isnan(found.discrimination).all()


def test_alpha_needs_a_complete_matrix():
    matrix = np.eye(3)
    matrix[0, 0] = np.nan
    assert cronbach_alpha(Responses.from_matrix(matrix)) is None
    assert cronbach_alpha(Responses.from_matrix(np.ones((3, 3)))) is None
    # Parallel items: k items of the same values are perfectly reliable.
    parallel = Responses.from_matrix(np.tile([[0.1], [0.5], [0.9]], (1, 4)))
    assert cronbach_alpha(parallel) == pytest.approx(1)


def test_the_interval_of_a_pass_rate_is_wilsons():
    found = item_statistics(Responses.from_matrix([[1.0], [0.0], [1.0]]))
    expected = wilson_limits(2 / 3, 3, level=0.95)
    assert (found.pass_rate_low[0], found.pass_rate_high[0]) == pytest.approx(expected)
