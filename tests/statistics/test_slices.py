"""The permutation test of slices, against enumeration and for its level."""

from itertools import permutations

import numpy as np
import pytest

from warehouse.engine.statistics.slices import slices_p_value


def test_it_is_the_share_of_all_permutations():
    values, slices = np.array([0.0, 1, 1, 0, -1, 0.5, 1]), np.array([0, 0, 0, 1, 1, 2, 2])

    def largest(ordered):
        deviations = ordered - values.mean()
        return max(
            abs(deviations[slices == each].mean())
            / np.sqrt(1 / (slices == each).sum() - 1 / len(values))
            for each in range(3)
        )

    observed = largest(values)
    all_of_them = [largest(np.array(each)) for each in permutations(values)]
    expected = np.mean(np.array(all_of_them) >= observed - 1e-9)
    assert slices_p_value(values, slices, seed=1) == pytest.approx(expected, abs=0.02)


def test_it_finds_a_slice_that_differs():
    values, slices = np.repeat([1.0, 0.0, 0.0], 20), np.repeat([0, 1, 2], 20)
    assert slices_p_value(values, slices, seed=1) == 1e-4


@pytest.mark.parametrize(
    ("values", "slices"), [([0.1] * 9, [0, 0, 0, 1, 1, 1, 2, 2, 2]), ([0.0, 1.0, 1.0], [0, 0, 0])]
)
def test_nothing_to_compare_is_no_difference(values, slices):
    assert slices_p_value(np.array(values), np.array(slices), seed=1) == 1.0


@pytest.mark.slow
def test_it_keeps_its_level():
    random = np.random.default_rng(7)
    slices = np.repeat([0, 1, 2], [5, 10, 15])
    p_values = [slices_p_value(random.integers(-1, 2, 30) / 1, slices, seed=1) for _ in range(40)]
    assert sum(p < 0.05 for p in p_values) <= 40 * 0.05 + 3.3 * np.sqrt(40 * 0.05 * 0.95)
