"""The sign-flip test: a published example, scipy, brute force."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from warehouse.statistics.arrays import cluster_indices, cluster_sums
from warehouse.statistics.permutation import sign_flips

# Darwin's heights of crossed and self-fertilised maize, differences in eighths of an inch.
DARWIN = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48.0])


def sign_flip(values, *, clusters=None, shift=0.0, **options):
    shifted = values - shift
    sums = shifted if clusters is None else cluster_sums(shifted, clusters)
    return sign_flips(sums[np.newaxis], np.ones((1, 1)), **options)[0]


def brute_force(values, alternative="two-sided"):
    observed = sum(values)
    flipped = [np.dot(signs, values) for signs in product((1, -1), repeat=len(values))]
    is_hit = {
        "two-sided": lambda x: abs(x) >= abs(observed) - 1e-9,
        "less": lambda x: x <= observed + 1e-9,
        "greater": lambda x: x >= observed - 1e-9,
    }[alternative]
    return sum(map(is_hit, flipped)) / len(flipped)


def test_published_example():
    # Fisher 1935, The Design of Experiments, section 21: 863 of 32,768 flips on each side.
    found = sign_flip(DARWIN)
    assert (found.p_value, found.n_flips, found.is_exact) == (2 * 863 / 2**15, 2**15, True)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("n", range(1, 7))
def test_small_cases_by_all_flips(n, alternative):
    random = np.random.default_rng(n)
    for values in (random.integers(-2, 3, n) / 3, random.standard_normal(n)):
        expected = brute_force(values, alternative)
        assert sign_flip(values, alternative=alternative).p_value == pytest.approx(expected)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_all_flips_equal_scipys(alternative):
    values = np.random.default_rng(5).standard_normal(10) + 0.3
    theirs = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", alternative=alternative, n_resamples=np.inf
    )
    assert sign_flip(values, alternative=alternative).p_value == pytest.approx(theirs.pvalue)


def test_random_flips_come_close_to_all():
    values = np.random.default_rng(7).standard_normal(17) + 0.4
    found = sign_flip(values)
    exact = brute_force(values)
    assert not found.is_exact
    assert found.n_flips == 100_000
    assert found.p_value == pytest.approx(exact, abs=4 * np.sqrt(exact / 100_000))


def test_tasks_without_a_difference_change_nothing():
    padded = np.concatenate([DARWIN, np.zeros(500)])
    assert sign_flip(padded) == sign_flip(DARWIN)


def test_a_shift_is_a_difference():
    found = sign_flip(DARWIN + 5, shift=5.0, alternative="greater").p_value
    assert found == sign_flip(DARWIN, alternative="greater").p_value


def test_clusters_flip_whole():
    values = np.array([1.0, 1.0, 1.0, -1.0, 2.0, 2.0])
    clusters = cluster_indices(["x", "x", "x", "y", "z", "z"])
    found = sign_flip(values, clusters=clusters).p_value
    assert found == brute_force([3.0, -1.0, 4.0])
    assert list(cluster_sums(values, clusters)) == [3.0, -1.0, 4.0]
    assert list(cluster_indices([None, "a", None, "a"])) == [0, 1, 2, 1]


def test_pairs_together_are_tested_as_each_by_itself():
    random = np.random.default_rng(3)
    scores = random.integers(0, 2, (4, 60)).astype(float)
    scores[3] = scores[2]
    contrasts = np.array([[1, -1, 0, 0], [0, 1, -1, 0], [0, 0, 1, -1]], dtype=float)
    found = sign_flips(scores, contrasts)
    for test, contrast in zip(found, contrasts, strict=True):
        assert test.p_value == sign_flip(contrast @ scores).p_value
    # Two models that agree everywhere.
    assert found[2].p_value == 1.0


def test_random_flips_go_on_only_while_the_decision_is_open():
    random = np.random.default_rng(11)
    noise = random.standard_normal(2100)
    noise -= noise.mean()
    error = noise.std() / np.sqrt(len(noise))
    clear, close = noise + 0.2 * error, noise + 1.96 * error
    assert sign_flip(clear).n_flips == 10_000
    assert sign_flip(close).n_flips > 10_000


def test_nothing_differs():
    assert sign_flip(np.zeros(30)).p_value == 1.0
