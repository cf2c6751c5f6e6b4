"""The interval of a ratio of sums: a direct computation, properties, coverage."""

import numpy as np
import pytest
from scipy import stats

from warehouse.engine.statistics.ratios import ratio_limits


def test_equals_the_delta_method():
    random = np.random.default_rng(1)
    amounts, counts = random.lognormal(size=40), random.integers(0, 4, size=40).astype(float)
    means = amounts.mean(), counts.mean()
    covariance = np.cov(amounts, counts, ddof=1) / 40
    gradient = np.array([1 / means[0], -1 / means[1]])
    reach = stats.t.ppf(0.975, 39) * np.sqrt(gradient @ covariance @ gradient)
    ratio = means[0] / means[1]
    found = ratio_limits(amounts, counts)
    assert found == pytest.approx((ratio * np.exp(-reach), ratio * np.exp(reach)), abs=1e-12)
    one_sided = stats.t.ppf(0.95, 39) / stats.t.ppf(0.975, 39) * reach
    assert ratio_limits(amounts, counts, tail=0.05) == pytest.approx(
        (ratio * np.exp(-one_sided), ratio * np.exp(one_sided)), abs=1e-12
    )


def test_the_unit_does_not_matter():
    amounts, counts = np.arange(1.0, 31.0), np.tile([1.0, 0.0, 2.0], 10)
    low, high = ratio_limits(amounts, counts)
    assert ratio_limits(100 * amounts, counts) == pytest.approx((100 * low, 100 * high))
    # Attempts that are all alike double both sums of a task.
    assert ratio_limits(2 * amounts, 2 * counts) == pytest.approx((low, high))


def test_few_tasks_have_none():
    amounts, counts = np.ones(20), np.repeat([1.0, 0.0], [10, 10])
    assert ratio_limits(amounts, counts) is not None
    assert ratio_limits(amounts[1:], counts[1:]) is None
    assert ratio_limits(amounts, np.repeat([9.0, 0.0], [9, 11])) is None
    assert ratio_limits(np.zeros(20), counts) is None
    assert ratio_limits(np.array([]), np.array([])) is None


@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("rate", [0.5, 0.9])
def test_coverage(n, rate):
    random = np.random.default_rng([2, n, int(10 * rate)])
    truth, hits = np.exp(0.125) / rate, 0
    for _ in range(1000):
        limits = ratio_limits(random.lognormal(0, 0.5, n), (random.random(n) < rate) * 1.0)
        hits += limits is not None and limits.low <= truth <= limits.high
    assert hits / 1000 >= 0.93 - 3.3 * np.sqrt(0.93 * 0.07 / 1000)


def test_a_cost_a_tenth_below_a_limit_is_rarely_above_it():
    random = np.random.default_rng(7)
    costs = random.lognormal(sigma=1.0, size=(1_000, 50))
    passes = (random.random((1_000, 50)) < 0.6).astype(float)
    limit = np.exp(0.5) / 0.6 / 0.9
    plain = costs.sum(axis=1) / passes.sum(axis=1) > limit
    ends = [ratio_limits(*night, tail=0.05) for night in zip(costs, passes, strict=True)]
    assert np.mean([end is not None and end.low > limit for end in ends]) <= 0.02
    assert plain.mean() > 0.2
