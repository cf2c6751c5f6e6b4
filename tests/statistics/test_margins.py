"""One-sided tests against a margin: their level by enumeration, their power by simulation."""

from math import comb, sqrt

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize_scalar

from warehouse.statistics.margins import (
    excess_of_means,
    excess_of_proportions,
    missed_mean,
    missed_proportion,
    restricted_rate,
)

RATES = np.linspace(0.001, 0.45, 40)


def outcomes(n):
    """Return all numbers of tasks that only A and only B passed, of `n` tasks."""
    return [(a, b) for a in range(n + 1) for b in range(n + 1 - a)]


def chance(a, b, n, rate_a, rate_b):
    """Return the probability of an outcome."""
    rest = max(1 - rate_a - rate_b, 0.0)
    return comb(n, a) * comb(n - a, b) * rate_a**a * rate_b**b * rest ** (n - a - b)


@pytest.mark.parametrize("margin", [-0.1, 0.0, 0.02, 0.2])
@pytest.mark.parametrize("n", [5, 14])
def test_the_level_is_kept_over_the_whole_null_hypothesis(n, margin):
    rejected = [(a, b) for a, b in outcomes(n) if excess_of_proportions(a, b, n, margin) <= 0.05]
    for rate_b in RATES:
        for below in (0.0, 0.05, 0.3):
            rate_a = rate_b + margin - below
            if 0 <= rate_a <= 1 - rate_b:
                assert sum(chance(a, b, n, rate_a, rate_b) for a, b in rejected) <= 0.05


def test_the_p_value_is_the_largest_over_the_share_of_discordant_tasks():
    n, margin = 12, 0.05

    def score(a, b):
        rate = float(restricted_rate(np.array([a]), np.array([b]), n, margin)[0])
        return (a - b - n * margin) / sqrt(n * (2 * rate + margin * (1 - margin)))

    for observed in [(3, 0), (5, 2), (8, 1)]:
        as_large = [o for o in outcomes(n) if score(*o) >= score(*observed) - 1e-9]
        tails = [
            sum(chance(a, b, n, (share + margin) / 2, (share - margin) / 2) for a, b in as_large)
            for share in np.linspace(margin, 1, 400)
        ]
        p = excess_of_proportions(*observed, n, margin)
        # Over all shares it is at least that over the interval.
        assert 0.3 * max(tails) < p <= max(tails) + 1.1e-5


@pytest.mark.parametrize(("a", "b", "margin"), [(12, 5, 0.02), (5, 12, 0.02), (3, 3, -0.1)])
def test_the_restricted_rate_maximises_the_likelihood(a, b, margin):
    n = 50

    def loss(rate):
        terms = [(a, rate + margin), (b, rate), (n - a - b, 1 - 2 * rate - margin)]
        return -sum(count * np.log(max(chance, 1e-300)) for count, chance in terms)

    bounds = (max(0.0, -margin), (1 - margin) / 2)
    best = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-9})
    found = restricted_rate(np.array([a]), np.array([b]), n, margin)[0]
    assert found == pytest.approx(best.x, abs=1e-6)


def test_tangos_example():
    # Tango 1998, Statistics in Medicine 17, 891, section 5: 44 patients, 43 of them with the same
    # outcome under both treatments; a margin of 0.1 gives z = 1.709 and p = 0.044.
    n, only_a, only_b, margin = 44, 0, 1, -0.1
    rate = float(restricted_rate(np.array([only_a]), np.array([only_b]), n, margin)[0])
    z = (only_a - only_b - n * margin) / sqrt(n * (2 * rate + margin * (1 - margin)))
    assert z == pytest.approx(1.709, abs=0.001)
    assert excess_of_proportions(only_a, only_b, n, margin) == pytest.approx(0.044, abs=0.02)


def test_without_a_margin_it_is_close_to_mcnemars_mid_p_one_sided():
    a, b, n = 30, 15, 200
    one_sided = stats.binom.sf(a - 1, a + b, 0.5)
    mid = one_sided - stats.binom.pmf(a, a + b, 0.5) / 2
    assert mid <= excess_of_proportions(a, b, n, 0.0) + 0.002
    assert excess_of_proportions(a, b, n, 0.0) <= one_sided


def test_more_losses_give_a_smaller_p_value():
    values = [excess_of_proportions(a, 5, 100, 0.02) for a in range(5, 25)]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize(("a", "b", "margin"), [(0, 0, 0.0), (0, 0, 0.02), (1, 0, 0.5)])
def test_no_losses_are_no_evidence(a, b, margin):
    assert excess_of_proportions(a, b, 20, margin) > 0.5


def test_proving_takes_as_many_tasks_as_the_rule_of_three_says():
    # Without a discordant task, a drop of 2 points is excluded from about log(0.05) / log(0.98)
    # tasks on: 149.
    assert excess_of_proportions(0, 0, 140, -0.02) > 0.05
    assert excess_of_proportions(0, 0, 160, -0.02) < 0.05


@pytest.mark.slow
def test_the_missed_drop_is_found_four_times_in_five():
    random = np.random.default_rng(23)
    n, rate = 300, 0.05
    share = missed_proportion(15, 15, n, 0.02)
    # The bound of the rate is above 0.05, so that the power at the true rate is more than 80 %.
    drawn = random.multinomial(n, [rate + share, rate, 1 - 2 * rate - share], size=200)
    found = np.mean([excess_of_proportions(int(a), int(b), n, 0.02) <= 0.05 for a, b, _ in drawn])
    assert 0.78 < found < 0.95
    assert (
        0.02 < missed_proportion(15, 15, 10 * n, 0.02) < share < missed_proportion(1, 1, 20, 0.02)
    )


def test_means_are_judged_by_students_t_of_data_with_two_more_tasks():
    random = np.random.default_rng(1)
    values = random.normal(0.1, 0.3, size=40)
    largest = np.abs(values - 0.05).max()
    extended = np.concatenate([values - 0.05, [largest, -largest]])
    t = extended.mean() / (extended.std(ddof=1) / sqrt(42))
    expected = stats.t.sf(t, 39)
    assert excess_of_means(values, 0.05) == pytest.approx(expected)
    assert missed_mean(values, 0.05) == pytest.approx(
        0.05 + extended.std(ddof=1) / sqrt(42) * (stats.t.ppf(0.95, 39) + stats.t.ppf(0.8, 39))
    )


def test_tasks_of_a_cluster_count_once():
    random = np.random.default_rng(2)
    values = random.normal(0.1, 0.3, size=12)
    clusters = np.repeat(np.arange(12), 5)
    repeated = excess_of_means(np.repeat(values, 5), 0.05, clusters=clusters)
    assert repeated == pytest.approx(excess_of_means(values, 0.05))


def test_too_few_clusters_and_no_variance():
    assert excess_of_means(np.zeros(5), 0.02) is None
    assert missed_mean(np.array([]), 0.02) is None
    assert excess_of_means(np.full(30, 0.02), 0.02) == 1.0
    # All tasks lose the same: two tasks at the other side of the margin do not hide it.
    assert excess_of_means(np.full(30, 0.5), 0.02) < 0.001


def test_the_level_of_means_in_a_simulation():
    random = np.random.default_rng(23)
    margin, n, repeats = 5.0, 60, 1000
    costs = random.lognormal(0, 1, size=(2, repeats, n))
    failed = np.mean([excess_of_means(row + margin, margin) <= 0.05 for row in costs[0] - costs[1]])
    assert failed <= 0.05 + 2 * sqrt(0.05 * 0.95 / repeats)
