"""One-sided tests against a margin, and the drops that they probably miss."""

from math import sqrt

import numpy as np
import pytest
from scipy import optimize, stats

from warehouse.engine.statistics.margins import (
    excess_of_means,
    excess_power,
    mean_limits,
    missed_mean,
    missed_proportion,
)
from warehouse.engine.statistics.score_test import excess_of_proportions


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


def power_by_definition(rate, excess, margin, n, alpha=0.05):
    """Return the power of a z test whose null hypothesis takes the likeliest rate at the margin."""

    def unlikelihood(null):
        shares = np.array([rate + excess, rate, 1 - 2 * rate - excess])
        return -shares @ np.log([null + margin, null, 1 - 2 * null - margin])

    bounds = (1e-9, (1 - margin) / 2 - 1e-9)
    null = optimize.minimize_scalar(
        unlikelihood, bounds=bounds, method="bounded", options={"xatol": 1e-12}
    ).x
    assumed = sqrt(2 * null + margin * (1 - margin))
    true = sqrt(2 * rate + excess * (1 - excess))
    reach = stats.norm.ppf(1 - alpha) * assumed
    return stats.norm.sf((reach - sqrt(n) * (excess - margin)) / true)


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.2])
@pytest.mark.parametrize(("excess", "margin"), [(0.1, 0.02), (0.05, 0.05), (0.04, 0.0)])
def test_the_power_is_that_of_the_score_as_normal(rate, excess, margin):
    for n, alpha in [(50, 0.05), (300, 0.05), (300, 0.01)]:
        power = excess_power(rate, excess, margin=margin, n_tasks=n, alpha=alpha)
        assert power == pytest.approx(power_by_definition(rate, excess, margin, n, alpha), abs=1e-6)


def test_the_power_is_certain_where_nothing_varies():
    assert excess_power(0.0, 1.0, margin=0.02, n_tasks=10) == 1.0
    assert excess_power(0.0, 0.0, margin=0.0, n_tasks=10) == 0.0
    assert excess_power(0.0, 0.0, margin=-0.02, n_tasks=300) == 1.0


@pytest.mark.parametrize(
    ("only_a", "only_b", "margin"), [(15, 15, 0.02), (30, 6, 0.02), (4, 20, 0.05), (2, 2, 0.0)]
)
def test_the_missed_drop_has_a_power_of_80_percent(only_a, only_b, margin):
    n = 300
    share = missed_proportion(only_a, only_b, n, margin)
    # The upper end of the one-sided 80 % interval of the rate (Clopper and Pearson).
    passed = min(only_b, (only_a + only_b) / 2)
    rate = stats.beta.ppf(0.8, passed + 1, n - passed)
    assert power_by_definition(rate, share, margin, n) == pytest.approx(0.8, abs=1e-5)
    larger = missed_proportion(only_a, only_b, n, margin, power=0.95, alpha=0.01)
    assert power_by_definition(rate, larger, margin, n, 0.01) == pytest.approx(0.95, abs=1e-5)


def test_the_missed_drop_of_few_tasks_leaves_no_room_for_the_rate():
    # Of shares d + r, r and the rest, r is at most (1 - d) / 2: less than its bound of 0.275.
    share = missed_proportion(0, 0, 5, 0.0)
    assert share == pytest.approx(0.8998, abs=1e-4)
    assert excess_power((1 - share) / 2, share, margin=0.0, n_tasks=5) == pytest.approx(0.8)
    assert missed_proportion(0, 0, 2, 0.0) == 1.0


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


def test_the_interval_of_a_mean_is_students_with_two_more_tasks():
    values = np.random.default_rng(1).normal(0.1, 0.3, size=40)
    largest = np.abs(values).max()
    error = np.concatenate([values, [largest, -largest]]).std(ddof=1) / sqrt(42)
    for level, options in [(0.95, {}), (0.8, {"level": 0.8})]:
        reach = error * stats.t.ppf(1 - (1 - level) / 2, 39)
        expected = (values.mean() - reach, values.mean() + reach)
        assert mean_limits(values, **options) == pytest.approx(expected)
    clusters = np.repeat(np.arange(40), 3)
    assert mean_limits(np.repeat(values, 3), clusters=clusters) == pytest.approx(
        mean_limits(values)
    )


def test_tasks_of_a_cluster_count_once():
    random = np.random.default_rng(2)
    values = random.normal(0.1, 0.3, size=12)
    clusters = np.repeat(np.arange(12), 5)
    repeated = excess_of_means(np.repeat(values, 5), 0.05, clusters=clusters)
    assert repeated == pytest.approx(excess_of_means(values, 0.05))


def test_too_few_clusters_and_no_variance():
    for test in (excess_of_means, missed_mean):
        assert test(np.zeros(5), 0.02) is None
        assert test(np.zeros(6), 0.02) is not None
        assert test(np.array([]), 0.02) is None
    assert mean_limits(np.zeros(5)) is None
    assert mean_limits(np.zeros(6)) == (0.0, 0.0)
    assert excess_of_means(np.full(30, 0.02), 0.02) == 1.0
    # All tasks lose the same: two tasks at the other side of the margin do not hide it.
    assert excess_of_means(np.full(30, 0.5), 0.02) < 0.001


def test_the_level_of_means_in_a_simulation():
    random = np.random.default_rng(23)
    margin, n, repeats = 5.0, 60, 1000
    costs = random.lognormal(0, 1, size=(2, repeats, n))
    failed = np.mean([excess_of_means(row + margin, margin) <= 0.05 for row in costs[0] - costs[1]])
    assert failed <= 0.05 + 2 * sqrt(0.05 * 0.95 / repeats)
