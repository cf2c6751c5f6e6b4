"""One-sided tests against a margin, and the drops that they probably miss."""

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from warehouse.engine.statistics.margins import excess_of_means, missed_mean, missed_proportion
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
