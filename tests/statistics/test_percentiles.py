"""Intervals of percentiles: exact coverage, one-sided ends, attempts that are not independent."""

import numpy as np
import pytest
from scipy import stats

from warehouse.engine.statistics.percentiles import (
    independent_tasks,
    percentile_limits,
    percentile_ranks,
)


@pytest.mark.parametrize("share", [0.5, 0.95, 0.99])
@pytest.mark.parametrize("tail", [0.025, 0.05])
def test_ranks_are_the_closest_that_keep_their_level(share, tail):
    for n in [*range(1, 130), 500, 3000]:
        below, above = percentile_ranks(n, share, tail=tail)
        chances = stats.binom(n, share)
        if below is None:
            assert chances.cdf(0) > tail
        else:
            assert chances.cdf(below - 1) <= tail < chances.cdf(below)
        if above is None:
            assert chances.sf(n - 1) > tail
        else:
            assert chances.sf(above - 1) <= tail < chances.sf(above - 2)


def test_the_fewest_tasks_of_each_end():
    assert [percentile_ranks(n, 0.5) for n in (5, 6)] == [(None, None), (1, 6)]
    assert [percentile_ranks(n, 0.95)[1] for n in (71, 72)] == [None, 72]
    assert [percentile_ranks(n, 0.95, tail=0.05)[1] for n in (58, 59)] == [None, 59]
    assert percentile_limits(np.array([]), 0.5) == (None, None)


def test_single_attempts_give_order_statistics():
    values = np.random.default_rng(1).permutation(np.arange(1.0, 101.0))
    assert percentile_limits(values, 0.95) == (90.0, 100.0)
    assert percentile_limits(values, 0.95, tasks=np.arange(100)) == (90.0, 100.0)


@pytest.mark.parametrize("attempts", [2, 3, 7])
def test_attempts_that_are_alike_tell_nothing(attempts):
    values = np.random.default_rng(2).lognormal(size=90)
    tasks = np.repeat(np.arange(90), attempts)
    for share in (0.5, 0.95):
        repeated = percentile_limits(values[tasks], share, tasks=tasks)
        assert repeated == percentile_limits(values, share)


def test_tasks_with_more_attempts_count_by_their_weight():
    assert independent_tasks(np.array([3, 3, 3, 0])) == 3
    # (6 + 94)² / (36 + 94) = 76.9: the task with six attempts is 6 of 100 calls.
    assert independent_tasks(np.array([6, *[1] * 94])) == 76


@pytest.mark.parametrize("within", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("n", [20, 100])
def test_coverage_with_attempts(n, within):
    # The logarithm of a latency: of the task, and of the attempt.
    random = np.random.default_rng([3, n, int(10 * within)])
    missed = np.zeros((2, 2))
    for _ in range(1000):
        attempts = random.integers(1, 5, size=n)
        tasks = np.repeat(np.arange(n), attempts)
        values = random.normal(size=n)[tasks] + within * random.normal(size=len(tasks))
        for at, share in enumerate((0.5, 0.95)):
            truth = stats.norm.ppf(share) * np.hypot(1, within)
            low, high = percentile_limits(values, share, tasks=tasks)
            missed[at] += [low is not None and low > truth, high is not None and high < truth]
    # 0.025 and 3.3 standard errors.
    assert missed.max() / 1000 <= 0.025 + 3.3 * np.sqrt(0.025 * 0.975 / 1000)
