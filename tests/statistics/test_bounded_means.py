"""Tests of bounded means: against exact formulas, and their level by enumeration."""

from fractions import Fraction
from itertools import product
from math import comb, prod

import numpy as np
import pytest
from scipy import stats

from warehouse.engine.statistics import bounded_means
from warehouse.engine.statistics.bounded_means import (
    bounded_mean_limits,
    chance_of_excess,
    excess_of_bounded_means,
    missed_bounded_mean,
)


def exact_chance(values):
    """Return the chance that a mean with uniform random weights is above 0, of distinct values.

    The distribution function of such a mean is a B-spline: Curry and Schoenberg 1966.
    """
    each = [Fraction(value) for value in values]
    return sum(
        value ** (len(each) - 1) / prod(value - other for other in each if other != value)
        for value in each
        if value > 0
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_chance_is_exact(seed):
    random = np.random.default_rng(seed)
    for n in (2, 3, 7, 12, 40):
        values = np.round(random.uniform(-1, 0.7, size=n), 3)
        values = np.append(np.unique(values), 0.9)
        assert chance_of_excess(values) == pytest.approx(float(exact_chance(values)), abs=1e-9)


@pytest.mark.parametrize("n", [6, 60, 5000])
@pytest.mark.parametrize("margin", [0.001, 0.02, 0.5, 0.99])
def test_values_at_the_bounds_are_judged_by_the_exact_binomial_test(n, margin):
    for lost in {0, 1, n // 3, n - 1}:
        # From 0 to 1: differences of -1 to 1, halved.
        values = np.repeat([1.0, -1.0], [lost, n - lost])
        found = excess_of_bounded_means(values, 2 * margin - 1, largest=1.0)
        assert found == pytest.approx(stats.binom.sf(lost - 1, n, margin), abs=1e-9)


def test_the_interval_of_values_at_the_bounds_is_clopper_and_pearsons():
    values = np.repeat([1.0, 0.0], [13, 47])
    low, high = bounded_mean_limits(values, 0.0, 1.0)
    assert low == pytest.approx(stats.beta.ppf(0.025, 13, 48), abs=1e-6)
    assert high == pytest.approx(stats.beta.ppf(0.975, 14, 47), abs=1e-6)


@pytest.mark.parametrize("n", [300, 1000, 10_000])
@pytest.mark.parametrize("n_gained", [2, 9])
def test_few_values_far_from_many_equal_ones_are_judged_as_drawn(n, n_gained):
    values = np.repeat([1.0, 0.0], [n_gained, n - n_gained])
    drawn = np.random.default_rng(7).gamma([n_gained, n - n_gained, 1], size=(400_000, 3))
    for margin in (0.1 * n_gained / n, 0.3 * n_gained / n, 0.9 * n_gained / n):
        found = excess_of_bounded_means(values, margin, largest=1.0)
        share = (drawn @ [margin - 1, margin, margin + 1] >= 0).mean()
        assert found == pytest.approx(share, abs=0.004)
    low, _ = bounded_mean_limits(values, -1.0, 1.0)
    assert excess_of_bounded_means(values, low, largest=1.0) == pytest.approx(0.025, abs=1e-4)


def test_many_values_are_judged_like_by_a_normal_distribution():
    values = np.random.default_rng(1).normal(0.0, 0.1, size=4000)
    z = (values.mean() - 0.003) / (values.std() / np.sqrt(4000))
    found = excess_of_bounded_means(values, 0.003, largest=1.0)
    assert found == pytest.approx(stats.norm.sf(z), abs=0.03)


def test_many_values_that_are_close_are_joined(monkeypatch):
    random = np.random.default_rng(5)
    values = np.append(random.normal(-0.004, 0.2, size=5000).clip(-1, 1), 1.0)
    joined = chance_of_excess(values)
    monkeypatch.setattr(bounded_means, "_MOST_DISTINCT", 10_000)
    assert joined == pytest.approx(chance_of_excess(values), abs=1e-6)
    assert 0.01 < joined < 0.99


SUPPORTS = [
    (-1.0, 0.0, 1.0),
    (-1.0, -0.9, 1.0),
    (-1.0, 0.3, 1.0),
    (-0.2, 0.1, 0.6),
    (-1, 0.01, 0.1),
]


@pytest.mark.parametrize("support", SUPPORTS)
@pytest.mark.parametrize("margin", [-0.1, 0.0, 0.05])
def test_the_level_is_kept_by_every_distribution_on_three_values(support, margin):
    n, support = 9, np.array(support)
    counts = [each for each in product(range(n + 1), repeat=3) if sum(each) == n]
    ways = [comb(n, a) * comb(n - a, b) for a, b, _ in counts]
    p_values = [
        excess_of_bounded_means(np.repeat(support, each), margin, largest=1.0) for each in counts
    ]
    rejected = np.array(p_values) <= 0.05
    # All distributions whose mean is the margin: mixtures of two that have two values each.
    below, above = support[support < margin], support[support > margin]
    ends = []
    for low, high in product(below, above):
        share = (margin - low) / (high - low)
        ends.append(np.where(support == low, 1 - share, np.where(support == high, share, 0.0)))
    for mix in np.linspace(0, 1, 40):
        chances = mix * ends[0] + (1 - mix) * ends[-1]
        chance_of = ways * np.prod(chances ** np.array(counts), axis=1)
        assert chance_of[rejected].sum() <= 0.05


@pytest.mark.parametrize(("lost", "n"), [(2.5, 50), (4, 200), (10, 200)])
def test_the_level_is_kept_where_few_tasks_lose_everything(lost, n):
    # Student's t, with two tasks added, rejects in 6 to 9 % of such cases.
    random = np.random.default_rng(23)
    counts = random.binomial(n, lost / n, size=2000)
    known = {}
    for count in np.unique(counts):
        gains = np.repeat([-1.0, 0.0], [count, n - count])
        known[count] = excess_of_bounded_means(gains, -lost / n, largest=1.0)
    assert np.mean([known[count] <= 0.05 for count in counts]) <= 0.05


def test_tasks_of_a_cluster_count_once():
    values = np.random.default_rng(2).uniform(-0.3, 0.5, size=12)
    clusters, repeated = np.repeat(np.arange(12), 5), np.repeat(values, 5)
    one = excess_of_bounded_means(values, 0.05, largest=1.0)
    many = excess_of_bounded_means(repeated, 0.05, largest=1.0, clusters=clusters)
    assert many == pytest.approx(one)
    assert missed_bounded_mean(repeated, 0.05, largest=1.0, clusters=clusters) == pytest.approx(
        missed_bounded_mean(values, 0.05, largest=1.0), abs=1e-6
    )
    limits = bounded_mean_limits(repeated, -1.0, 1.0, clusters=clusters)
    assert limits == pytest.approx(bounded_mean_limits(values, -1.0, 1.0), abs=1e-6)


def test_the_ends_of_the_interval_are_where_the_tests_reject():
    values = np.random.default_rng(3).integers(-3, 4, size=50) / 3
    low, high = bounded_mean_limits(values, -1.0, 1.0, level=0.9)
    assert excess_of_bounded_means(values, low, largest=1.0) == pytest.approx(0.05, abs=1e-5)
    assert excess_of_bounded_means(-values, -high, largest=1.0) == pytest.approx(0.05, abs=1e-5)


@pytest.mark.parametrize("share", [0.0, 0.002, 0.1, 0.5, 0.9, 1.0])
def test_limits_are_found_in_few_steps(share, monkeypatch):
    tested = []
    monkeypatch.setattr(
        bounded_means,
        "chance_of_excess",
        lambda values: tested.append(values) or chance_of_excess(values),
    )
    values = np.repeat([1.0, -1.0], [round(share * 1000), round((1 - share) * 1000)])
    bounded_mean_limits(values, -1.0, 1.0)
    assert len(tested) <= 18


def test_too_few_clusters_and_no_differences():
    assert excess_of_bounded_means(np.zeros(5), 0.02, largest=1.0) is None
    assert missed_bounded_mean(np.zeros(5), 0.02, largest=1.0) is None
    assert bounded_mean_limits(np.zeros(5), -1.0, 1.0) is None
    assert excess_of_bounded_means(np.zeros(30), 0.02, largest=1.0) == 1.0
    assert excess_of_bounded_means(np.ones(30), 0.02, largest=1.0) < 1e-8
    assert 0.02 < missed_bounded_mean(np.zeros(200), 0.02, largest=1.0) < 0.06
    # A margin that no difference can exceed, or that every difference exceeds.
    assert excess_of_bounded_means(np.ones(30), 3.0, largest=1.0) == 1.0
    assert excess_of_bounded_means(-np.ones(30), -3.0, largest=1.0) == 0.0


def test_the_missed_drop_is_found_four_times_in_five():
    random = np.random.default_rng(23)
    n, repeats = 200, 400

    def drawn(drop):
        rates = random.beta(6, 2, size=n)
        lowered = rates * (1 - drop / 0.75)
        return (random.binomial(3, rates) - random.binomial(3, lowered)) / 3

    missed = np.median([missed_bounded_mean(drawn(0.0), 0.02, largest=1.0) for _ in range(20)])
    found = [
        excess_of_bounded_means(drawn(missed), 0.02, largest=1.0) <= 0.05 for _ in range(repeats)
    ]
    assert 0.75 < np.mean(found) < 0.92
