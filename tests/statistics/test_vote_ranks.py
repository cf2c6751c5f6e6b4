"""Ranks from votes: what differs is told apart, and equal systems hardly ever are."""

import numpy as np
import pytest
from scipy import stats

from warehouse.engine.statistics.bradley_terry import Scores, Votes, bradley_terry
from warehouse.engine.statistics.vote_ranks import vote_ranks


def scores(log_scores, errors, n=10_000):
    """Return scores whose errors, one or one for each, are independent before they are centred."""
    k = len(log_scores)
    centring = np.eye(k) - 1 / k
    covariance = None
    if errors is not None:
        covariance = centring @ np.diag(np.full(k, errors) ** 2) @ centring
    return Scores(
        log_scores=np.array(log_scores),
        covariance=covariance,
        n_votes=n,
        n_clusters=n,
        n_effective=n,
    )


def test_what_differs_is_told_apart():
    found = vote_ranks(scores([0.0, 1.0, 0.02, -1.02], 0.05))
    assert [each.rank for each in found] == [3, 1, 2, 4]
    assert [(each.rank_low, each.rank_high) for each in found] == [(2, 3), (1, 1), (2, 3), (4, 4)]


def test_a_system_with_few_votes_may_have_any_rank():
    found = vote_ranks(scores([0.6, 0.2, -0.8], [0.05, 0.05, 1.0]))
    assert [(each.rank_low, each.rank_high) for each in found] == [(1, 2), (2, 3), (1, 3)]
    found = vote_ranks(scores([0.4, 0.35, -0.75], [0.05, 0.05, 1.0]))
    assert [(each.rank_low, each.rank_high) for each in found] == [(1, 3)] * 3


def test_equal_scores_share_a_rank():
    found = vote_ranks(scores([0.5, 0.5, -1.0], 0.05))
    assert [each.rank for each in found] == [1, 1, 3]
    assert [(each.rank_low, each.rank_high) for each in found] == [(1, 2), (1, 2), (3, 3)]


def test_without_a_covariance_there_are_ranks_only():
    found = vote_ranks(scores([0.0, 1.0, -1.0], None))
    assert [each.rank for each in found] == [2, 1, 3]
    assert {each[1:] for each in found} == {(None, None, None)}


def test_the_interval_is_students_of_the_effective_clusters():
    few = scores([0.0, 1.0, -1.0], 0.3, n=25)
    [first, *_] = vote_ranks(few, level=0.9)
    reach = stats.t.ppf(0.95, 24) * few.standard_errors[0] * np.sqrt(25 / 24)
    assert first.interval == pytest.approx((-reach, reach))


@pytest.mark.parametrize(("n_systems", "n"), [(2, 10_000), (5, 10_000), (5, 20)])
def test_all_pairs_differ_by_tukeys_quantile(n_systems, n):
    """Of independent errors the largest difference is the studentised range."""
    quantile = stats.studentized_range.ppf(0.95, n_systems, n - 1) * np.sqrt(n / (n - 1))
    for factor, is_apart in ((0.97, False), (1.03, True)):
        rest = [0.5] * (n_systems - 2)
        gap = factor * quantile * 0.1
        found = vote_ranks(scores([gap, *(gap * each for each in rest), 0.0], 0.1, n))
        assert (found[-1].rank_low > 1) == is_apart


def test_votes_that_are_all_ties_leave_all_ranks_open():
    ties = Votes(np.array([0, 1]), np.array([1, 2]), np.zeros(2), np.zeros(2), np.full(2, 20.0))
    found = vote_ranks(bradley_terry(["a", "b", "c"], ties))
    assert [each[:3] for each in found] == [(1, 1, 3)] * 3


@pytest.mark.slow
def test_equal_systems_are_rarely_told_apart():
    random = np.random.default_rng(2)
    claims = 0
    for _ in range(400):
        drawn = random.normal(0, 0.1, 6)
        found = vote_ranks(scores(drawn - drawn.mean(), 0.1))
        claims += any(each.rank_low > 1 for each in found)
    assert 8 <= claims <= 34
