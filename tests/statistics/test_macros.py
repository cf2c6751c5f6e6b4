"""The macros through their door in Python: published examples, scipy, the order of the rows."""

import numpy as np
import pytest
from scipy import stats

from warehouse.engine.statistics.macros import (
    TaskMeans,
    macros,
    mcnemar_p_values,
    share_intervals,
)


def test_mcnemars_published_example():
    # Bentur et al. 2009, airway hyper-responsiveness before and after a transplant, as evaluated by
    # Fagerland, Lydersen and Laake 2013, BMC Med Res Methodol 13, 91: exact 0.0703.
    assert mcnemar_p_values([1], [7]) == [pytest.approx(0.0703, abs=5e-5)]


def test_each_pair_has_the_p_value_of_scipy():
    only_a, only_b = [0, 3, 5, 9, 40, 900], [1, 3, 0, 1, 70, 1000]
    expected = [stats.binomtest(a, a + b).pvalue for a, b in zip(only_a, only_b, strict=True)]
    assert mcnemar_p_values(only_a, only_b) == pytest.approx(expected, rel=1e-9)
    assert mcnemar_p_values([0], [0]) == [1.0]
    assert mcnemar_p_values([], []) == []


def newcombe_intervals(tables, level=0.95):
    """The intervals of tables of both, only the first, only the second, and neither."""
    call = "newcombe_interval(n[1], n[2], n[3], n[4], quantile := $2)"
    query = f"SELECT {call} FROM (SELECT unnest($1) AS n)"
    ends = macros().execute(query, [tables, stats.norm.ppf((1 + level) / 2)]).fetchall()
    return [found and tuple(found) for (found,) in ends]


def test_newcombes_published_examples():
    # Newcombe 1998, Statistics in Medicine 17, 2635, method 10, for 36, 12, 2 and 0; Fagerland,
    # Lydersen and Laake 2014, Statistics in Medicine 33, 2850, for 1, 1, 7 and 12.
    found = newcombe_intervals([(36, 12, 2, 0), (0, 0, 0, 0), (1, 1, 7, 12)])
    assert found[0] == pytest.approx((0.0569, 0.3404), abs=5e-5)
    assert found[1] is None
    assert found[2] == pytest.approx((-0.507, -0.026), abs=5e-4)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_mirrored_tables_have_mirrored_intervals(level):
    tables = [(36, 12, 2, 0), (20, 0, 0, 0), (0, 20, 0, 0), (10, 3, 9, 30), (87, 9, 1, 0)]
    mirrored = [(both, only_b, only_a, neither) for both, only_a, only_b, neither in tables]
    found = np.array(newcombe_intervals(tables, level=level))
    assert (found[:, 0] < found[:, 1]).all()
    assert np.array(newcombe_intervals(mirrored, level=level)) == pytest.approx(-found[:, ::-1])


def test_newcombes_interval_is_of_wilsons_at_any_level():
    # Model B passes nothing: phi is 0 and the ends are p - sqrt((p - l)² + u_b²) and so on.
    for level in (0.9, 0.95):
        a, b = (stats.binomtest(k, 50).proportion_ci(level, method="wilson") for k in (30, 0))
        low, high = 0.6 - np.hypot(0.6 - a.low, b.high), 0.6 + np.hypot(a.high - 0.6, 0 - b.low)
        assert newcombe_intervals([(0, 30, 0, 20)], level=level) == [pytest.approx((low, high))]


@pytest.mark.parametrize("n_clusters", [6, 9, 40])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_interval_of_clusters_equals_its_formula(n_clusters, level):
    random = np.random.default_rng(n_clusters)
    sizes = random.integers(1, 9, n_clusters)
    sums = random.binomial(sizes, random.beta(1, 1, n_clusters)).astype(float)
    n, size = sizes.sum(), sizes.mean()
    # With a cluster that passes all and one that passes none.
    padded_sums, padded_sizes = np.append(sums, [size, 0]), np.append(sizes, [size, size])
    middle = padded_sums.sum() / padded_sizes.sum()
    variance = ((padded_sums - middle * padded_sizes) ** 2).sum() / padded_sizes.sum() ** 2
    shrunk = n_clusters / (n_clusters + 2)
    trials = min(n, shrunk * middle * (1 - middle) / variance)
    df = max(1, n**2 // (sizes**2).sum() - 1)
    z, mean = stats.t.ppf((1 + level) / 2, df), sums.sum() / n
    centre = (mean + z**2 / (2 * trials)) / (1 + z**2 / trials)
    reach = z * np.sqrt(mean * (1 - mean) / trials + z**2 / (4 * trials**2)) / (1 + z**2 / trials)
    # The tasks of a cluster share its rate; a second sample is of other data.
    clusters = np.repeat(np.arange(n_clusters), sizes)
    means = 100 * (sums / sizes)[clusters]
    samples = [TaskMeans(means, int(n), 100.0, clusters), TaskMeans(np.ones(9), 9)]
    found, other = share_intervals(samples, level=level)
    assert found == pytest.approx((100 * (centre - reach), 100 * (centre + reach)), abs=1e-9)
    assert other == pytest.approx(stats.binomtest(9, 9).proportion_ci(level, method="wilson"))


@pytest.mark.parametrize("n_clusters", [6, 40])
def test_the_interval_of_other_means_in_clusters_is_students(n_clusters):
    random = np.random.default_rng(n_clusters)
    sizes, sums = random.integers(1, 9, n_clusters), random.normal(size=n_clusters)
    n, mean = sizes.sum(), sums.sum() / sizes.sum()
    df = max(1, n**2 // (sizes**2).sum() - 1)
    spread = ((sums - mean * sizes) ** 2).sum() * n_clusters / (n_clusters - 1)
    reach = stats.t.ppf(0.975, df) * np.sqrt(spread) / n
    query = "SELECT clustered_student_interval($1, $2::BIGINT[])"
    [(ends,)] = macros().execute(query, [sums.tolist(), sizes.tolist()]).fetchall()
    assert ends == pytest.approx([mean - reach, mean + reach], abs=1e-10)


def test_clusters_of_one_task_that_all_pass_are_no_certainty():
    six, five = (TaskMeans(np.ones(n), n, 1.0, np.arange(n)) for n in (30, 5))
    (low, high), none = share_intervals([six, five])
    t = stats.t.ppf(0.975, 29)
    assert (low, high) == (pytest.approx(30 / (30 + t**2)), 1.0)
    assert none is None


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize(("passed", "n"), [(0, 5), (5, 5), (3, 17), (500, 997)])
def test_tasks_asked_once_have_the_wilson_interval_of_scipy(passed, n, level):
    means = np.repeat([1.0, 0.0], [passed, n - passed])
    theirs = stats.binomtest(passed, n).proportion_ci(level, method="wilson")
    [found] = share_intervals([TaskMeans(means, n)], level=level)
    assert found == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_attempts_that_differ_as_much_as_tasks_count():
    """With p = 1/2 and all rates 1/2: n·p(1 - p) / s² trials, at most the attempts."""
    rates = np.full(20, 0.5)
    many, few, once = (TaskMeans(rates, n) for n in (1000, 60, 20))
    s2 = (20 / 4 + 1) / 22 - 1 / 4
    found = share_intervals([many, few, once])
    z2 = stats.norm.ppf(0.975) ** 2
    for (low, high), trials in zip(found, (20 / 4 / s2, 60, 20), strict=True):
        # (p + z² / 2N ± ...) / (1 + z² / N) with p = 1/2: half a width of z / 2 / sqrt(N + z²).
        assert (high + low) / 2 == pytest.approx(0.5)
        assert (high - low) / 2 == pytest.approx(np.sqrt(z2 / (trials + z2)) / 2)


@pytest.mark.parametrize("values", [[100, 100, 100, 100, 92], [0, 0, 0, 5, 80], [0] * 5, [100] * 5])
@pytest.mark.parametrize("scale", [100, 1])
def test_the_interval_of_bounded_scores_stays_on_its_scale(values, scale):
    # Student's would be 93.9 to 102.8, and -26 to 60.
    scores = np.array(values) / 100 * scale
    n, total, squares = len(scores), scores.sum() / scale, ((scores / scale) ** 2).sum()
    trials = "effective_tasks($1, 'inf'::DOUBLE, $2, $3)"
    query = f"SELECT mean_interval($4, $4 * $2 / $1, {trials}, $5, NULL::DOUBLE[], NULL::BIGINT[])"
    margin = stats.t.ppf(0.975, n - 1) * scores.std(ddof=1) / np.sqrt(n)
    [(ends,)] = macros().execute(query, [n, total, squares, scale, margin]).fetchall()
    low, high = ends
    assert 0 <= low <= scores.mean() + 1e-9
    assert scores.mean() - 1e-9 <= high <= scale
    assert high - low > 0.03 * scale
    # The gate has the same.
    assert share_intervals([TaskMeans(scores, float("inf"), scale)]) == [pytest.approx((low, high))]
