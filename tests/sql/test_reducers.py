"""How the scores of the attempts at a task become one score: `reduced_score` against Python."""

import math
import statistics
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

SCORES = st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), max_size=7)


def most_frequent(scores):
    # `most_common` keeps the order of first sight among equals.
    return Counter(scores).most_common(1)[0]


def majority(scores, _k):
    score, count = most_frequent(scores)
    return score if 2 * count > len(scores) else None


def share_of_draws(chosen, scores, k):
    """Return how many of the draws of k attempts are all among the chosen ones, as a share."""
    if len(scores) < k:
        return None
    return Fraction(math.comb(sum(map(chosen, scores)), k), math.comb(len(scores), k))


def pass_at_k(scores, k):
    failing = share_of_draws(lambda score: score < 1, scores, k)
    return None if failing is None else 1 - failing


IN_PYTHON = {
    "mean": lambda scores, _k: Fraction(sum(scores)) / len(scores),
    "median": lambda scores, _k: statistics.median(scores),
    "max": lambda scores, _k: max(scores),
    "mode": lambda scores, _k: most_frequent(scores)[0],
    "majority": majority,
    "at_least_k": lambda scores, k: float(sum(score >= 1 for score in scores) >= k),
    "pass_at_k": pass_at_k,
    "pass^k": lambda scores, k: share_of_draws(lambda score: score >= 1, scores, k),
}


def reduced(con, scores, reducer, k=None):
    query = "SELECT reduced_score($scores::DOUBLE[], $reducer, $k::BIGINT)"
    ((score,),) = con.execute(query, {"scores": scores, "reducer": reducer, "k": k}).fetchall()
    return score


@pytest.mark.parametrize("reducer", IN_PYTHON)
@settings(max_examples=30, deadline=None)
@given(scores=SCORES, k=st.integers(1, 5))
def test_a_reducer_is_that_of_python(con, reducer, scores, k):
    expected = IN_PYTHON[reducer](scores, k) if scores else None
    score = reduced(con, scores, reducer, k)
    assert score == (None if expected is None else pytest.approx(float(expected), rel=1e-12))


def test_reducers_by_hand(con):
    # 2 of 4 attempts score at least 1: C(2, 2) / C(4, 2) = 1/6 for both ways to draw two.
    assert reduced(con, [0, 1, 0, 1], "pass_at_k", 2) == pytest.approx(5 / 6)
    assert reduced(con, [0, 1, 0, 1], "pass^k", 2) == pytest.approx(1 / 6)
    assert reduced(con, [2, 1, 1, 2], "mode") == 2
    assert reduced(con, [1, 1, 2, 2], "majority") is None


def test_an_unknown_reducer_has_no_score(con):
    assert reduced(con, [1, 1], "best_of", 1) is None


def test_figures_are_of_small_and_round_numbers_of_attempts(con):
    ((found,),) = con.execute("SELECT numbers_of_attempts(600)").fetchall()
    round_numbers = [16, 20, 25, 32, 50, 64, 100, 128, 200, 256, 500, 512]
    assert found == [*range(1, 11), *round_numbers, 600]
    assert con.execute("SELECT numbers_of_attempts(3)").fetchall() == [([1, 2, 3],)]
