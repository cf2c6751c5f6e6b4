"""The bootstrap interval: all resamples, scipy, clusters, degenerate cases."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from warehouse.statistics import bootstrap
from warehouse.statistics.arrays import cluster_indices, cluster_sums
from warehouse.statistics.bootstrap import mean_intervals


def mean_interval(values, *, largest, clusters=None):
    numbers = np.arange(len(values)) if clusters is None else clusters
    sums, sizes = cluster_sums(values, numbers), np.bincount(numbers).astype(float)
    options = {"largest": np.array([largest])}
    return mean_intervals(sums[np.newaxis], sizes, np.ones((1, 1)), **options)[0]


def test_small_cases_by_all_resamples(monkeypatch):
    monkeypatch.setattr(bootstrap, "MIN_CLUSTERS", 1)
    values = np.array([0.3, -0.1, 0.7, 0.2])
    low, high = mean_interval(values, largest=1.0)
    added = np.concatenate([values, [1.0, -1.0]])
    means = np.array(list(product(added, repeat=6))).mean(axis=1)
    for end, share in ((low, 0.025), (high, 0.975)):
        below, above = np.quantile(means, [share - 0.006, share + 0.006])
        assert below <= end <= above


def test_it_is_scipys_interval_of_the_data_with_two_tasks_added():
    values = np.random.default_rng(1).integers(-3, 4, 40) / 3
    added = np.concatenate([values, [1.0, -1.0]])
    theirs = stats.bootstrap((added,), np.mean, method="percentile", rng=1).confidence_interval
    assert mean_interval(values, largest=1.0) == pytest.approx(theirs, abs=0.01)


def test_equal_differences_have_an_interval_with_a_width():
    for value in (0.0, 0.5, 1.0):
        low, high = mean_interval(np.full(20, value), largest=1.0)
        assert low < value
        assert high >= value
        assert high - low > 0.1
    assert mean_interval(np.zeros(20), largest=0.0) is None


def test_few_clusters_have_no_interval():
    assert mean_interval(np.arange(5.0), largest=1.0) is None
    values, clusters = np.arange(50.0), cluster_indices([str(n % 5) for n in range(50)])
    assert mean_interval(values, largest=1.0, clusters=clusters) is None


def test_tasks_that_repeat_each_other_add_nothing():
    values = np.random.default_rng(2).standard_normal(30)
    repeated = np.repeat(values, 4)
    clusters = cluster_indices([str(n // 4) for n in range(120)])
    whole = mean_interval(repeated, largest=1.0, clusters=clusters)
    assert whole == pytest.approx(mean_interval(values, largest=1.0))
    low, high = mean_interval(repeated, largest=1.0)
    assert high - low < 0.7 * (whole.high - whole.low)


def test_pairs_together_have_the_intervals_of_each_by_itself():
    scores = np.random.default_rng(3).random((3, 25))
    contrasts = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]])
    found = mean_intervals(scores, np.ones(25), contrasts, largest=np.ones(2))
    for ends, contrast in zip(found, contrasts, strict=True):
        assert ends == pytest.approx(mean_interval(contrast @ scores, largest=1.0))
