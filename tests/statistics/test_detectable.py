"""Detectable differences: power by brute force and simulation."""

from math import ceil, floor

import numpy as np
import pytest
from scipy import stats

from warehouse.engine.statistics.detectable import (
    detectable_mean,
    detectable_proportion,
    score_power,
)
from warehouse.engine.statistics.score_test import critical_score, equality_p_values


@pytest.mark.parametrize(
    ("difference", "discordance", "n"), [(0.2, 0.3, 25), (0.1, 0.1, 30), (0, 0.9, 9)]
)
def test_power_by_all_tables(difference, discordance, n):
    won = (discordance + difference) / (2 * discordance)
    power = sum(
        stats.binom.pmf(m, n, discordance) * stats.binom.pmf(k, m, won)
        for m in range(1, n + 1)
        for k in range(m + 1)
        if equality_p_values([k], [m - k], n)[0] <= 0.05
    )
    assert score_power(difference, discordance, n) == pytest.approx(power)
    assert score_power(difference, discordance, n, alpha=1e-9) < 1e-3


@pytest.mark.parametrize(
    ("n_discordant", "n"), [(0, 20), (0, 97), (10, 97), (97, 97), (30, 10_000)]
)
def test_the_difference_is_found_four_times_in_five(n_discordant, n):
    found = detectable_proportion(n_discordant, n)
    assert 0 < found <= 1
    discordance = max(found, n_discordant / n)
    assert score_power(found, discordance, n) >= 0.8


@pytest.mark.parametrize("n", [250, 600, 1000])
def test_of_many_tasks_the_critical_score_is_close_to_the_exact_one(n):
    for discordant in (n // 20, n // 4):
        score = critical_score(n, 0.025)
        won = (discordant + score * discordant**0.5) / 2
        least, most = floor(won - 0.5), ceil(won + 0.5)
        p_values = equality_p_values([least, most], [discordant - least, discordant - most], n)
        assert p_values[0] > 0.05 >= p_values[1]


def test_too_few_tasks_have_none():
    assert detectable_proportion(5, 19) is None
    assert detectable_mean(0.1, 19) is None
    assert detectable_mean(0.0, 100) is None


def test_the_detectable_mean_has_the_upper_bound_of_the_error():
    # The one-sided 80 % interval of a standard error with 29 degrees of freedom.
    bound = 0.1 * np.sqrt(29 / stats.chi2.ppf(0.2, 29))
    expected = bound * (stats.t.ppf(0.975, 29) + stats.t.ppf(0.8, 29))
    assert detectable_mean(0.1, 30) == pytest.approx(expected)


def test_mean_difference_by_simulation():
    random = np.random.default_rng(5)
    # The function takes an upper bound of the error: undo it.
    n, bound = 50, np.sqrt(49 / stats.chi2.ppf(0.2, 49))
    shift = detectable_mean(1 / np.sqrt(n), n) / bound
    found = stats.ttest_1samp(random.standard_normal((4000, n)) + shift, 0, axis=1).pvalue < 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.02)
