"""Intervals of percentiles: exact coverage, one-sided ends, attempts that are not independent."""

import numpy as np
import pytest
from scipy import stats

from warehouse.engine.statistics.macros import macros

RANKS = "SELECT n, percentile_ranks(n, $share, tail := $tail) FROM (SELECT unnest($n) AS n)"
LIMITS = """
SELECT percentile_interval(ordered, n, percentile_ranks(n, $share, tail := $tail))
FROM (
    SELECT
        list_sort(times) AS ordered,
        independent_tasks(
            list_sum(attempts), list_sum(list_transform(attempts, lambda k: k ** 2))
        ) AS n
    FROM (SELECT unnest($times::DOUBLE[][]) AS times, unnest($attempts::BIGINT[][]) AS attempts)
)
"""


def ranks(numbers, share, tail=0.025):
    parameters = {"n": list(numbers), "share": share, "tail": tail}
    found = macros().execute(RANKS, parameters).fetchall()
    return {n: tuple(ends.values()) for n, ends in found}


def limits(samples, share, tail=0.025):
    """Return the ends of each sample: its values, and the number of attempts at each task."""
    times, attempts = zip(*samples, strict=True)
    parameters = {"times": [each.tolist() for each in times], "share": share, "tail": tail}
    parameters["attempts"] = [np.asarray(each).tolist() for each in attempts]
    found = macros().execute(LIMITS, parameters).fetchall()
    return [tuple(ends.values()) for (ends,) in found]


@pytest.mark.parametrize("share", [0.5, 0.95, 0.99])
@pytest.mark.parametrize("tail", [0.025, 0.05])
def test_ranks_are_the_closest_that_keep_their_level(share, tail):
    for n, (below, above) in ranks([*range(1, 300), 500, 3000, 20_000], share, tail).items():
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
    assert ranks([5, 6], 0.5) == {5: (None, None), 6: (1, 6)}
    assert [high for _, high in ranks([71, 72], 0.95).values()] == [None, 72]
    assert [high for _, high in ranks([58, 59], 0.95, tail=0.05).values()] == [None, 59]
    assert limits([(np.array([]), [])], 0.5) == [(None, None)]


def test_single_attempts_give_order_statistics():
    values = np.random.default_rng(1).permutation(np.arange(1.0, 101.0))
    assert limits([(values, np.ones(100))], 0.95) == [(90.0, 100.0)]


@pytest.mark.parametrize("attempts", [2, 3, 7])
def test_attempts_that_are_alike_tell_nothing(attempts):
    values = np.random.default_rng(2).lognormal(size=90)
    repeated = np.repeat(values, attempts), np.full(90, attempts)
    for share in (0.5, 0.95):
        with_attempts, without = limits([repeated, (values, np.ones(90))], share)
        assert with_attempts == without


def test_tasks_with_more_attempts_count_by_their_weight():
    query = "SELECT independent_tasks(sum(k), sum(k ** 2)) FROM (SELECT unnest($1) AS k)"
    # (6 + 94)² / (36 + 94) = 76.9: the task with six attempts is 6 of 100 calls.
    for attempts, n in (([3, 3, 3, 0], 3), ([6, *[1] * 94], 76), ([0], None)):
        assert macros().execute(query, [attempts]).fetchone() == (n,)


@pytest.mark.parametrize("within", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("n", [20, 100])
def test_coverage_with_attempts(n, within):
    # The logarithm of a latency: of the task, and of the attempt.
    random = np.random.default_rng([3, n, int(10 * within)])
    samples = []
    for _ in range(1000):
        attempts = random.integers(1, 5, size=n)
        of_tasks = np.repeat(random.normal(size=n), attempts)
        samples.append((of_tasks + within * random.normal(size=len(of_tasks)), attempts))
    for share in (0.5, 0.95):
        truth = stats.norm.ppf(share) * np.hypot(1, within)
        missed = np.array(
            [
                [low is not None and low > truth, high is not None and high < truth]
                for low, high in limits(samples, share)
            ]
        )
        # 0.025 and 3.3 standard errors.
        assert missed.mean(axis=0).max() <= 0.025 + 3.3 * np.sqrt(0.025 * 0.975 / 1000)
