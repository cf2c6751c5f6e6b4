"""Intervals of means that a floor of a gate is compared with."""

import numpy as np
import pytest

from warehouse.analysis.decisions.gate.floors import value_interval
from warehouse.engine.statistics.margins import mean_limits
from warehouse.engine.statistics.proportions import wilson


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
    found = value_interval(scale * np.array(means), n_attempts, scale, level=0.9)
    expected = wilson(np.mean(means) * trials, trials, level=0.9)
    assert found == pytest.approx((scale * expected.low, scale * expected.high))


def test_without_a_scale_it_is_students():
    means = np.random.default_rng(1).normal(size=12)
    assert value_interval(means, 12, None, level=0.9) == mean_limits(means, level=0.9)
