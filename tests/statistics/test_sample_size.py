"""How many tasks a comparison needs: the closed form, and simulations of it."""

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from warehouse.engine.statistics.bounded_means import (
    bounded_mean_limits,
    equality_of_bounded_means,
)
from warehouse.engine.statistics.detectable import variance_of_bounds
from warehouse.engine.statistics.sample_size import (
    Variance,
    detectable,
    tasks_needed,
    tasks_needed_for_margin,
    tasks_needed_of_verdicts,
    upper_variance,
    variance_against_alike,
    variance_of,
    variance_of_difference,
)
from warehouse.engine.statistics.score_test import equality_p_values, excess_of_proportions


def test_variances_of_a_worked_example():
    # Three tasks of two attempts: the variance within each is 2, that of the means (1, 3 and 5)
    # is 4, and half of 2 of it is chance, so that 3 are between the tasks.
    found = variance_of([[0, 2], [2, 4], [4, 6]])
    assert (found.within, found.between, found.single) == (2.0, 3.0, 5.0)
    assert found.of_task(1) == 5.0
    assert found.of_task(4) == 3.5


def test_single_attempts_do_not_say_where_the_variance_is():
    found = variance_of([[0], [1], [1], [0]])
    assert (found.within, found.between) == (None, None)
    assert found.single == pytest.approx(1 / 3)
    assert found.of_task(2) is None


def test_variances_are_found_in_a_simulation():
    random = np.random.default_rng(23)
    rates_a = random.beta(2, 1, size=20_000)
    rates_b = np.clip(rates_a + random.normal(0, 0.1, size=20_000), 0, 1)
    a = (random.random((20_000, 3)) < rates_a[:, None]).astype(float).tolist()
    b = (random.random((20_000, 5)) < rates_b[:, None]).astype(float).tolist()
    found = variance_of_difference(a, b)
    within = np.mean(rates_a * (1 - rates_a)) + np.mean(rates_b * (1 - rates_b))
    assert found.within == pytest.approx(within, rel=0.02)
    assert found.between == pytest.approx(np.var(rates_a - rates_b), rel=0.2)


def test_the_variance_of_single_scores_is_that_of_the_differences():
    a, b = [[0.5], [0], [1], [1]], [[0], [0], [1], [0]]
    assert variance_of_difference(a, b).single == pytest.approx(np.var([0.5, 0, 0, 1], ddof=1))


@pytest.mark.parametrize("only_b", [0, 10, 20])
def test_of_single_verdicts_only_the_share_that_differs_counts(only_b):
    # 40 of 200 tasks differ, in favour of whichever side.
    a = [[1]] * (40 - only_b) + [[0]] * only_b + [[1]] * 160
    b = [[0]] * (40 - only_b) + [[1]] * only_b + [[1]] * 160
    assert variance_of_difference(a, b).single == pytest.approx(0.2)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 1.0])
def test_a_model_that_is_not_known_is_taken_to_be_alike(correlation):
    found = variance_against_alike(Variance(0.03, 0.1, 0.13), correlation)
    assert found.between == pytest.approx(2 * 0.03 * (1 - correlation))
    assert found.within == pytest.approx(0.2)


def test_the_number_of_tasks_is_the_smallest_that_finds_the_difference():
    for variance in (0.01, 0.2, 0.5):
        for difference in (0.05, 0.2, 0.9):
            n = tasks_needed(variance, difference)
            assert detectable(variance, n) <= difference
            if n > 3 and n < 1000:
                assert detectable(variance, n - 1) > difference


@pytest.mark.parametrize(("spread", "difference"), [(0.05, 0.05), (0.2, 0.1), (0.3, 0.2)])
def test_a_plan_of_scores_has_the_power_of_the_test_that_decides(spread, difference):
    """Scores of 0 to 1: by Student's t fewer tasks would do, which mostly miss the difference."""
    random = np.random.default_rng(5)

    def draw(n):
        return np.clip(random.normal(difference, spread, n), -1, 1)

    def power(n):
        p_values = [equality_of_bounded_means(draw(n), largest=1.0) for _ in range(60)]
        return np.mean(np.array(p_values) < 0.05)

    pilot = draw(40)
    bounds = variance_of_bounds(pilot, bounded_mean_limits(pilot, -1, 1), None)
    assert power(tasks_needed(spread**2, difference, bounds=bounds)) > 0.7
    assert power(tasks_needed(spread**2, difference)) < 0.5


def test_clusters_at_the_bounds_are_larger():
    random = np.random.default_rng(5)
    differences = random.normal(0, 0.1, 200)
    sizes = [2] * 50 + [10] * 10
    clusters = np.repeat(np.arange(60), sizes)
    limits = bounded_mean_limits(differences, -1, 1, clusters=clusters)
    bounds = variance_of_bounds(differences, limits, clusters)
    alone = variance_of_bounds(differences, bounded_mean_limits(differences, -1, 1), None)
    # By the square of the largest cluster.
    assert 50 * alone < bounds < 150 * alone
    assert variance_of_bounds(differences, None, None) == 0


def test_it_is_students_formula():
    n = tasks_needed(0.25, 0.1)
    reach = stats.t.ppf(0.975, n - 1) + stats.t.ppf(0.8, n - 1)
    assert 0.1 - 0.001 < reach * sqrt(0.25 / n) <= 0.1
    # Two-sided z of 1.96 and 0.84: (2.8 / 0.1)² / 4 = 196.2, and 2 more for t.
    assert 197 <= n <= 200


@pytest.mark.parametrize(("attempts", "difference"), [(1, 0.1), (3, 0.1), (3, 0.05), (10, 0.05)])
def test_a_planned_comparison_finds_the_difference_four_times_in_five(attempts, difference):
    random = np.random.default_rng(23)
    shapes = (6.0, 3.0)

    def draw(n, repeats):
        """Return the attempts of both models, shape (repeats, tasks, attempts)."""
        rates = random.beta(*shapes, size=(repeats, n))
        lowered = rates * (1 - difference / (shapes[0] / sum(shapes)))
        return [
            (random.random((repeats, n, attempts)) < of[..., None]).astype(float)
            for of in (rates, lowered)
        ]

    # The variance is known from a large pilot.
    pilot_a, pilot_b = (values[0].tolist() for values in draw(20_000, 1))
    variance = variance_of_difference(pilot_a, pilot_b).of_task(attempts)
    n = tasks_needed(variance, difference)
    a, b = draw(n, 1000)
    differences = a.mean(axis=2) - b.mean(axis=2)
    p_values = stats.ttest_1samp(differences, 0, axis=1).pvalue
    found = np.mean(p_values < 0.05)
    # Four standard errors of 1,000 repeats: 0.8 ± 0.05.
    assert 0.75 < found < 0.85


def test_a_pilot_without_differences_leaves_some_open():
    # None of 20 tasks differs: up to 1 - 0.2^(1/20) may, with 80 % confidence.
    share = 1 - 0.2 ** (1 / 20)
    for is_verdict in (True, False):
        found = upper_variance(0.0, 20, scale=1.0, is_verdict=is_verdict)
        assert found == pytest.approx(share)
    assert tasks_needed_of_verdicts(share, 0.05) > 200


@pytest.mark.parametrize(("share", "difference"), [(0.1, 0.05), (0.3, 0.2), (0.05, 0.04)])
def test_a_planned_test_of_verdicts_finds_the_difference(share, difference):
    random = np.random.default_rng(23)
    n = tasks_needed_of_verdicts(share, difference)
    only_a, only_b = (share + difference) / 2, (share - difference) / 2
    tables = random.multinomial(n, [only_a, only_b, 1 - share], 4000)
    p_values = equality_p_values(tables[:, 0].tolist(), tables[:, 1].tolist(), n)
    # Less four standard errors; few tasks can have more than they need.
    assert 0.774 < np.mean(np.array(p_values) <= 0.05) < 0.86


@pytest.mark.slow
@pytest.mark.parametrize("margin", [0.0, 0.02])
def test_a_planned_gate_finds_the_drop(margin):
    random = np.random.default_rng(23)
    share, drop = 0.15, 0.08
    n = tasks_needed_for_margin(share, drop, margin)
    rates = [(share + drop) / 2, (share - drop) / 2, 1 - share]
    tables = random.multinomial(n, rates, 500)
    found = [excess_of_proportions(int(a), int(b), n, margin) <= 0.05 for a, b, _ in tables]
    # The exact test needs slightly more tasks than its normal score says.
    assert 0.73 < np.mean(found) < 0.86


@pytest.mark.slow
@pytest.mark.parametrize("n_pilot", [50, 200])
@pytest.mark.parametrize(("share", "difference"), [(0.1, 0.05), (0.3, 0.1), (0.05, 0.03)])
def test_plans_by_a_pilot_of_single_verdicts_are_large_enough(n_pilot, share, difference):
    random = np.random.default_rng(23)
    plans = []
    for n_differing in random.binomial(n_pilot, share, 400):
        variance = n_differing / n_pilot
        upper = upper_variance(variance, n_pilot, scale=1.0, is_verdict=True)
        plans.append(tasks_needed_of_verdicts(upper, difference))
    enough = tasks_needed_of_verdicts(share, difference, power=0.75)
    assert 0.78 <= np.mean(np.array(plans) >= enough) <= 1
