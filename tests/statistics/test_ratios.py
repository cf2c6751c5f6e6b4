"""The interval of a ratio of sums: a direct computation, properties, coverage."""

import numpy as np
import pytest
from scipy import stats

from warehouse.engine.statistics.macros import macros

QUERY = """
SELECT ratio_error(sums), ratio_interval(sums) FROM (
    SELECT {
        n: len(a), n_counted: len(list_filter(c, lambda x: x > 0)),
        amount: list_sum(a), total: list_sum(c), amount_squares: list_dot_product(a, a),
        products: list_dot_product(a, c), squares: list_dot_product(c, c)
    } AS sums
    FROM (SELECT unnest($a::DOUBLE[][]) AS a, unnest($c::DOUBLE[][]) AS c)
)
"""


def ratios(*samples):
    """Return the standard error and the interval of each pair of amounts and counts of tasks."""
    amounts, counts = ([each.tolist() for each in column] for column in zip(*samples, strict=True))
    return macros().execute(QUERY, {"a": amounts, "c": counts}).fetchall()


def test_equals_the_delta_method():
    random = np.random.default_rng(1)
    amounts, counts = random.lognormal(size=40), random.integers(0, 4, size=40).astype(float)
    means = amounts.mean(), counts.mean()
    covariance = np.cov(amounts, counts, ddof=1) / 40
    gradient = np.array([1 / means[0], -1 / means[1]])
    reach = stats.t.ppf(0.975, 39) * np.sqrt(gradient @ covariance @ gradient)
    ratio = means[0] / means[1]
    [(error, ends)] = ratios((amounts, counts))
    assert error == pytest.approx(reach / stats.t.ppf(0.975, 39), abs=1e-12)
    # The ends have ten digits.
    assert ends == pytest.approx([ratio * np.exp(-reach), ratio * np.exp(reach)], rel=1e-9)


def test_the_unit_does_not_matter():
    amounts, counts = np.arange(1.0, 31.0), np.tile([1.0, 0.0, 2.0], 10)
    samples = ((amounts, counts), (100 * amounts, counts), (2 * amounts, 2 * counts))
    (error, ends), (_, dearer), (doubled, same) = ratios(*samples)
    assert dearer == pytest.approx([100 * end for end in ends])
    # Attempts that are all alike double both sums of a task.
    assert (doubled, same) == (pytest.approx(error), pytest.approx(ends))


def test_few_tasks_have_none():
    amounts, counts = np.ones(20), np.repeat([1.0, 0.0], [10, 10])
    enough, *few = ratios(
        (amounts, counts),
        (amounts[1:], counts[1:]),
        (amounts, np.repeat([9.0, 0.0], [9, 11])),
        (np.zeros(20), counts),
        (np.array([]), np.array([])),
    )
    assert enough[0] > 0
    assert few == [(None, [None, None])] * 4


@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("rate", [0.5, 0.9])
def test_coverage(n, rate):
    random = np.random.default_rng([2, n, int(10 * rate)])
    samples = [(random.lognormal(0, 0.5, n), (random.random(n) < rate) * 1.0) for _ in range(1000)]
    truth = np.exp(0.125) / rate
    hits = sum(ends[0] <= truth <= ends[1] for _, ends in ratios(*samples))
    assert hits / 1000 >= 0.93 - 3.3 * np.sqrt(0.93 * 0.07 / 1000)


def test_a_cost_a_tenth_below_a_limit_is_rarely_above_it():
    random = np.random.default_rng(7)
    costs = random.lognormal(sigma=1.0, size=(1_000, 50))
    passes = (random.random((1_000, 50)) < 0.6).astype(float)
    limit = np.exp(0.5) / 0.6 / 0.9
    plain = costs.sum(axis=1) / passes.sum(axis=1)
    errors = np.array([error for error, _ in ratios(*zip(costs, passes, strict=True))])
    # As the gate decides: the lower end is used alone with 95 % confidence.
    lower = plain * np.exp(-stats.t.ppf(0.95, 49) * errors)
    assert (lower > limit).mean() <= 0.02
    assert (plain > limit).mean() > 0.2


@pytest.mark.parametrize("n", [20, 1_000, 50_000])
def test_tasks_of_equal_ratios_have_no_error(n):
    """Not one of rounding: a limit that equals their price would be within noise of it."""
    counts = np.random.default_rng(n).integers(1, 9, size=n).astype(float)
    for price in (0.1, 1 / 3, 7e-5):
        [(error, ends)] = ratios((price * counts, counts))
        assert error == 0
        assert ends == pytest.approx([price, price], rel=1e-9)


def test_little_variation_is_no_rounding():
    counts = np.ones(100)
    amounts = 1 + 1e-5 * np.random.default_rng(1).normal(size=100)
    [(error, _)] = ratios((amounts, counts))
    assert error == pytest.approx(amounts.std(ddof=1) / 10, rel=1e-3)
