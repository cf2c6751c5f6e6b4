"""Means of symmetric differences: sign flips, the interval that inverts them, clusters."""

from itertools import product

import numpy as np
import pytest

from warehouse.engine.statistics.symmetry import symmetric_means

# Darwin's plants, in eighths of an inch (Fisher 1935, section 17).
DARWIN = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48], dtype=float)


def symmetric_mean(values, sizes=None):
    sizes = np.ones(len(values)) if sizes is None else sizes
    return symmetric_means(values[np.newaxis], sizes)[0]


def test_darwins_plants_by_random_flips():
    # Fisher: 863 of 32,768 flips are as large, one-sided.
    assert symmetric_mean(DARWIN).p_value == pytest.approx(2 * 863 / 32768, rel=0.03)


def test_all_flips_of_few_differences():
    values = DARWIN[:9] - 5
    signs = np.array(list(product([1, -1], repeat=9)))
    expected = 2 * ((signs @ values) >= values.sum() - 1e-9).mean()
    assert symmetric_mean(values).p_value == expected


@pytest.mark.slow
@pytest.mark.parametrize("n", [6, 9, 14, 40])
def test_the_interval_has_the_means_that_the_test_does_not_reject(n):
    random = np.random.default_rng(n)
    values, sizes = random.normal(0.3, 1, n), random.integers(1, 5, n).astype(float)
    low, high = symmetric_mean(values, sizes).interval
    for mean in np.linspace(low - 0.5, high + 0.5, 31):
        is_inside = symmetric_mean(values - mean * sizes, sizes).p_value >= 0.05
        assert is_inside == (low <= mean <= high)


def test_pairs_together_and_apart():
    values = np.random.default_rng(2).normal(size=(4, 30))
    for each, row in zip(symmetric_means(values, np.ones(30)), values, strict=True):
        assert each.p_value == symmetric_mean(row).p_value
        assert each.interval == pytest.approx(symmetric_mean(row).interval)


def test_no_differences_at_all():
    found = symmetric_mean(np.zeros(20))
    assert (found.p_value, found.interval) == (1.0, (0.0, 0.0))


def test_below_six_clusters_there_is_no_interval():
    found = symmetric_mean(np.ones(5))
    assert (found.p_value, found.interval) == (2 / 2**5, None)
