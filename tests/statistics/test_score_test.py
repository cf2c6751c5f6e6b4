"""The exact score test of two pass rates: level and power by enumeration, and its interval."""

from math import comb, sqrt

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize_scalar

from warehouse.engine.statistics.score_test import (
    difference_interval,
    equality_p_values,
    excess_of_proportions,
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


def test_shares_that_the_number_of_discordant_tasks_rules_out_do_not_count():
    n, margin, observed = 60, 0.2, (25, 8)
    pairs = np.array([*outcomes(n)])
    rates = restricted_rate(*pairs.T, n, margin)
    scores = (pairs[:, 0] - pairs[:, 1] - n * margin) / np.sqrt(
        n * (2 * rates + margin * (1 - margin))
    )
    as_large = pairs[scores >= scores[(pairs == observed).all(axis=1)] - 1e-9]
    limits = stats.binomtest(sum(observed), n).proportion_ci(confidence_level=1 - 1e-5)
    tails = [
        chances_of(as_large, n, (share + margin) / 2, (share - margin) / 2).sum()
        for share in np.linspace(*limits, 200)
    ]
    assert excess_of_proportions(*observed, n, margin) == pytest.approx(max(tails), abs=0.001)


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


def two_sided(n):
    """Return the two-sided p-value of each number of tasks that only A and only B passed."""
    pairs = outcomes(n)
    only_a, only_b = zip(*pairs, strict=True)
    return dict(zip(pairs, equality_p_values(only_a, only_b, n), strict=True))


def chances_of(pairs, n, rate_a, rate_b):
    """Return the probability of each outcome: shape (outcomes,)."""
    a, b = (np.array(column) for column in zip(*pairs, strict=True))
    return stats.multinomial.pmf(
        np.column_stack([a, b, n - a - b]), n, [rate_a, rate_b, 1 - rate_a - rate_b]
    )


@pytest.mark.parametrize("n", [7, 18, 50])
def test_equal_pass_rates_are_rejected_in_at_most_one_of_twenty(n):
    p_values = two_sided(n)
    rejected = [pair for pair, p in p_values.items() if p <= 0.05]
    for share in np.linspace(0.01, 0.999, 60):
        assert chances_of(rejected, n, share / 2, share / 2).sum() <= 0.05


@pytest.mark.parametrize("n", [18, 50])
def test_the_power_is_that_of_mcnemars_mid_p_but_for_half_a_point(n):
    p_values = two_sided(n)
    pairs = np.array(list(p_values))
    coins = stats.binom(pairs.sum(axis=1), 0.5)
    fewer = pairs.min(axis=1)
    exact = pairs[2 * coins.cdf(fewer) <= 0.05]
    mid = pairs[2 * coins.cdf(fewer) - coins.pmf(fewer) <= 0.05]
    found = [pair for pair, p in p_values.items() if p <= 0.05]
    for rate_b in (0.01, 0.05, 0.1, 0.2, 0.3):
        # Where nearly all tasks are discordant, mid-p itself rejects too often.
        for difference in np.arange(0.05, 0.61 - 2 * rate_b, 0.05):
            rates = (rate_b + difference, rate_b)
            power = chances_of(found, n, *rates).sum()
            assert power >= chances_of(exact, n, *rates).sum() - 1e-12
            assert power >= chances_of(mid, n, *rates).sum() - 0.005


@pytest.mark.parametrize("n", [6, 18, 300, 5000])
def test_the_gate_without_a_margin_has_the_one_sided_half(n):
    for only_a, only_b in [(5, 1), (6, 0), (n // 3, n // 4)]:
        (p_value,) = equality_p_values([only_a], [only_b], n)
        half = excess_of_proportions(only_a, only_b, n, 0.0)
        assert p_value == pytest.approx(min(1.0, 2 * half), rel=1e-12)


def test_a_p_value_depends_on_its_own_pair_only():
    alone = [equality_p_values([a], [b], 60)[0] for a, b in [(9, 2), (30, 12), (0, 0)]]
    assert equality_p_values([9, 30, 0], [2, 12, 0], 60) == pytest.approx(alone, rel=1e-12)


def test_many_discordant_tasks_are_close_to_the_exact_test():
    # The largest tail over all shares is a twentieth above that of the share seen.
    (below,) = equality_p_values([530], [470], 10_000)
    (above,) = equality_p_values([531], [471], 10_000)
    assert below == pytest.approx(above, rel=0.05)
    assert above == pytest.approx(2 * stats.norm.sf(60 / sqrt(1002)))


def test_a_hundred_models_can_be_told_apart():
    # Holm's smallest level among 4,950 pairs is 1e-5.
    assert equality_p_values([40], [0], 60)[0] < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("n", [6, 18])
def test_the_interval_covers_and_agrees_with_the_test(n):
    p_values = two_sided(n)
    ends = {pair: difference_interval(*pair, n) for pair in p_values}
    for pair, p in p_values.items():
        assert (ends[pair].low > 0 or ends[pair].high < 0) == (p < 0.05)
        assert ends[pair].low <= (pair[0] - pair[1]) / n <= ends[pair].high
    for rate_b in (0.02, 0.1, 0.3):
        for difference in (0.0, 0.05, 0.2, 0.4):
            covering = [p for p, end in ends.items() if end.low <= difference <= end.high]
            assert chances_of(covering, n, rate_b + difference, rate_b).sum() >= 0.95


def test_the_interval_of_the_opposite_difference_is_the_opposite():
    ends, opposite = difference_interval(9, 2, 50), difference_interval(2, 9, 50)
    assert (ends.low, ends.high) == pytest.approx((-opposite.high, -opposite.low), abs=1e-7)


def test_ends_of_the_interval_are_where_the_test_is_at_its_level():
    ends = difference_interval(30, 12, 200)
    assert excess_of_proportions(30, 12, 200, ends.low) == pytest.approx(0.025, abs=1e-4)
    assert excess_of_proportions(12, 30, 200, -ends.high) == pytest.approx(0.025, abs=1e-4)


def test_extreme_intervals():
    assert difference_interval(3, 0, 5) is None
    # Without a discordant task the ends are Clopper and Pearson's: 1 - 0.025 ** (1 / 18).
    ends = difference_interval(0, 0, 18)
    assert (-ends.low, ends.high) == pytest.approx((0.1853, 0.1853), abs=1e-3)
    assert difference_interval(0, 20, 20).low == -1.0
    assert difference_interval(20, 0, 20).high == 1.0
