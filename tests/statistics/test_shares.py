"""Preference for a position, for long answers and for one's own family."""

import numpy as np
import pytest
from scipy import stats

from warehouse.engine.statistics.bounded_means import bounded_mean_limits
from warehouse.engine.statistics.macros import mcnemar_p_values
from warehouse.engine.statistics.shares import share_difference

N_PAIRS = 100


def chance_of_naming(more_first, more_second, n=N_PAIRS):
    """Return the probability of p below 0.05 where so large shares of pairs favour a position."""
    total = 0.0
    favoured = more_first + more_second
    for n_favoured in range(1, n + 1):
        counts = range(n_favoured + 1)
        p_values = mcnemar_p_values([*counts], [n_favoured - k for k in counts])
        chances = stats.binom.pmf(range(n_favoured + 1), n_favoured, more_first / favoured)
        named = sum(chance for p, chance in zip(p_values, chances, strict=True) if p < 0.05)
        total += stats.binom.pmf(n_favoured, n, favoured) * named
    return total


@pytest.mark.slow
def test_a_judge_that_takes_the_first_in_70_percent_is_named():
    # Equal answers: it takes the first in each presentation on its own.
    assert chance_of_naming(0.7**2, 0.3**2) > 0.999
    # All pairs favour a position, 70 % of them the first.
    assert chance_of_naming(0.7, 0.3) == pytest.approx(0.979, abs=5e-4)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.9])
def test_a_fair_judge_is_rarely_named(share):
    assert chance_of_naming(share / 2, share / 2) <= 0.05


def test_a_fair_judge_of_unequal_answers_with_ties_is_rarely_named():
    # It prefers one answer, in whatever order: each pair has its own chances.
    random = np.random.default_rng(11)
    gains = []
    for _ in range(2000):
        wins, ties = random.beta(4, 2, N_PAIRS), 0.2
        # Of each presentation what the answer gains that is first in the first one: 1, 0 or -1.
        draws = random.random((2, N_PAIRS))
        first, second = np.where(draws < ties, 0, np.where(draws < ties + 0.8 * wins, 1, -1))
        leads = first - second  # of the place shown first
        gains.append(((leads > 0).sum(), (leads < 0).sum()))
    p_values = mcnemar_p_values(*(list(map(int, each)) for each in zip(*gains, strict=True)))
    named = sum(p < 0.05 for p in p_values)
    assert named / 2000 <= 0.05 + 3.3 * np.sqrt(0.05 * 0.95 / 2000)


def test_a_judge_is_compared_with_people_on_the_items_of_both():
    # Item 0: the judge half, people all; item 1: the judge all, people half; item 2, 3: one side.
    votes, items = np.array([1, 0, 1, 1]), np.array([0, 0, 1, 2])
    other_votes, other_items = np.array([1, 1, 0.5, 0]), np.array([0, 0, 1, 3])
    found = share_difference(votes, items, other_votes, other_items)
    assert (found.n_items, found.share, found.other_share) == (2, 0.75, 0.75)
    assert (found.difference, found.interval) == (0, None)


def test_the_interval_of_a_preference_is_that_of_items():
    random = np.random.default_rng(3)
    items = np.repeat(np.arange(60), 2)
    votes, others = random.random((2, 120)) < [[0.8], [0.5]]
    found = share_difference(votes, items, others, items)
    expected = votes.reshape(60, 2).mean(axis=1) - others.reshape(60, 2).mean(axis=1)
    assert found.difference == pytest.approx(expected.mean())
    assert found.interval == bounded_mean_limits(expected, -1.0, 1.0)
    assert found.interval.low > 0


def test_votes_on_different_items_are_not_compared():
    found = share_difference(np.ones(2), np.array([0, 1]), np.ones(1), np.array([2]))
    assert found == (0, None, None, None, None)
    nothing = np.array([], dtype=np.int64)
    assert share_difference(np.array([]), nothing, np.array([]), nothing).n_items == 0
