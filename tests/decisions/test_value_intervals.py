"""Intervals of means that a floor of a gate is compared with."""

from math import sqrt

import numpy as np
import pytest
from scipy.stats import norm

from warehouse.analysis.decisions.gate import floors
from warehouse.engine.statistics.macros import TaskMeans, share_intervals
from warehouse.engine.statistics.margins import mean_limits


@pytest.mark.parametrize(
    ("means", "n_attempts", "trials"),
    [
        # With a passed and a failed task added, the mean is 1/2 and the variance
        # (1.5 + 1)/6 - 1/4 = 1/6: as much as 4 · 1/4 / (1/6) = 6 trials have.
        ([1, 0.5, 0.5, 0], 8, 6),
        ([1, 0.5, 0.5, 0], 5, 5),
        # (4 + 1)/6 - (5/6)² = 5/36: 4 trials, one for each task.
        ([1, 1, 1, 1], 8, 4),
    ],
)
@pytest.mark.parametrize("scale", [1, 100])
def test_attempts_count_as_far_as_they_vary_within_tasks(means, n_attempts, trials, scale):
    [found] = share_intervals([TaskMeans(scale * np.array(means), n_attempts, scale)], level=0.9)
    # Wilson's interval
    rate, z = np.mean(means), norm.ppf(0.95)
    middle = rate * trials + z**2 / 2
    reach = z * sqrt(trials * rate * (1 - rate) + z**2 / 4)
    ends = ((middle - reach) / (trials + z**2), (middle + reach) / (trials + z**2))
    assert found == pytest.approx([scale * end for end in ends])


def test_without_a_scale_it_is_students():
    means = np.random.default_rng(1).normal(size=12)
    [found] = floors._intervals([TaskMeans(means, 12, None)], 0.9)
    assert found == mean_limits(means, level=0.9)


def test_values_of_no_task_have_no_interval():
    """Of a candidate without verdicts, whether or not its tasks are in clusters."""
    values = np.linspace(0, 1, 8)
    none = np.array([], dtype=int)
    samples = [
        TaskMeans(none.astype(float), 0, 1.0),
        TaskMeans(none.astype(float), 0, 1.0, none),
        TaskMeans(none.astype(float), 0, None, none),
        TaskMeans(values, 8, 1.0, np.arange(8)),
    ]
    *empty, found = floors._intervals(samples, 0.9)
    assert empty == [None] * 3
    assert [found] == share_intervals(samples[3:], level=0.9)
    assert floors._intervals(samples[1:2], 0.9) == [None]
