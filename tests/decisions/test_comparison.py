"""Comparisons of pairs: which test, which interval, what they show."""

from itertools import combinations

import numpy as np
import pytest

from warehouse.analysis.decisions.comparison import Contest, compare, subset
from warehouse.analysis.decisions.paired import pair, panels
from warehouse.analysis.decisions.series import Asked, MetricKey, Series, SeriesKey
from warehouse.engine.statistics.score_test import difference_interval, equality_p_values


def panel(*rows, metric="passed"):
    """Return a panel of one series for each mapping (or list) of tasks to lists of values."""
    series = []
    for place, row in enumerate(rows):
        values = row if isinstance(row, dict) else {f"t{n:05}": v for n, v in enumerate(row)}
        key = SeriesKey(place, "mine", "set", None, f"m{place}", "")
        values = {task: tuple(v) if isinstance(v, list) else (v,) for task, v in values.items()}
        asked = {task: Asked("r", None) for task in values}
        name = MetricKey(metric, None, None)
        series.append(Series(key=key, metric=name, asked=asked, values=values))
    (found,) = panels(series)
    return found


def contests(found):
    return [
        Contest(a=f"m{a}", b=f"m{b}", paired=pair(found, a, b))
        for a, b in combinations(range(len(found.series)), 2)
    ]


def one(*rows, metric="passed", **options):
    (found,) = compare(contests(panel(*rows, metric=metric)), **options)
    return found


def counts(both, only_a, only_b, neither):
    return (
        [1.0] * (both + only_a) + [0.0] * (only_b + neither),
        [1.0] * both + [0.0] * only_a + [1.0] * only_b + [0.0] * neither,
    )


def test_single_attempts_are_judged_by_the_score_test():
    found = one(*counts(40, 9, 1, 47))
    assert (found.test, found.n_only_a, found.n_only_b, found.n_differing) == ("score", 9, 1, 10)
    assert found.p_value == equality_p_values([9], [1], 97)[0]
    assert (found.low, found.high) == difference_interval(9, 1, 97)
    # Nine against one of ten: 2 · (1 + 10) / 2^10.
    assert found.p_mcnemar == pytest.approx(22 / 1024)
    assert found.difference == pytest.approx(8 / 97)
    assert found.conclusion == "a"


def test_five_differing_tasks_are_too_few_for_a_winner():
    found = one(*counts(40, 5, 0, 52))
    assert (found.n_differing, found.conclusion) == (5, "unclear")
    assert one(*counts(40, 6, 0, 52)).conclusion == "a"


def test_attempts_are_averaged_and_their_mean_is_tested():
    random = np.random.default_rng(1)
    rows = [[random.integers(0, 2, 3).astype(float).tolist() for _ in range(40)] for _ in range(2)]
    rows[0] = [[1.0, 1.0, 1.0]] * 20 + rows[0][20:]
    found = one(*rows)
    assert (found.test, found.n_only_a, found.p_mcnemar) == ("bounded_mean", None, None)
    assert (found.n_tasks, found.n_attempts_a, found.n_attempts_b) == (40, 120, 120)
    assert found.conclusion == "a"
    assert 0 < found.low < found.difference < found.high
    assert found.p_exchangeable < 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    "metric", ["passed", pytest.param("f1", marks=pytest.mark.slow), "points", "cost_usd"]
)
def test_a_winner_is_named_only_where_the_interval_names_it(metric):
    random = np.random.default_rng(7)
    kinds = set()
    for _ in range(60):
        n = int(random.integers(4, 30))
        shift = random.choice([0.0, 0.3])
        a, b = random.random((2, n, 2))
        if metric == "passed":
            a, b = (a < 0.5 + shift).astype(float), (b < 0.5).astype(float)
        scale = 3.0 if metric == "points" else 1.0
        found = one(
            (scale * (a + shift) / (1 + shift)).tolist(), (scale * b).tolist(), metric=metric
        )
        low, high, none = found.low, found.high, 0.0
        if found.test == "sign_flip_log":
            low, high, none = found.ratio_low, found.ratio_high, 1.0
        kinds.add((found.test, found.conclusion))
        assert (low is None) == (n < 6) == (found.p_adjusted is None)
        if low is not None:
            assert (found.p_value < 0.05) == (low > none or high < none)
        if found.conclusion != "unclear":
            assert (low > none) == (found.conclusion == ("b" if metric == "cost_usd" else "a"))
    assert len(kinds) > 1


def test_repeated_tasks_of_a_cluster_count_once():
    rows = counts(0, 8, 0, 12)
    repeated = [[value for value in row for _ in range(5)] for row in rows]
    clustered = panel(*repeated)
    clustered.clusters = np.arange(100) // 5
    (whole,), each = compare(contests(clustered)), one(*repeated)
    assert (whole.n_clusters, each.n_clusters, whole.test) == (20, 100, "bounded_mean")
    # All eight clusters that differ have the same sign: 2 of 2^8 flips.
    assert whole.p_exchangeable == pytest.approx(2 / 2**8, rel=0.2)
    assert each.p_value < whole.p_value < 0.05
    assert whole.high - whole.low > each.high - each.low


def test_several_pairs_are_adjusted_together():
    rows = [[1.0] * 30, [0.0] * 7 + [1.0] * 23, [0.0] * 6 + [1.0] * 24]
    found = compare(contests(panel(*rows)))
    seven, six, one = (c.p_value for c in found)
    assert 3 * seven < 2 * six < 0.05 < one
    assert [c.p_adjusted for c in found] == [3 * seven, 2 * six, one]
    assert [c.conclusion for c in found] == ["a", "a", "unclear"]


def test_pairs_that_could_not_be_significant_leave_the_family():
    whole, few = panel(*counts(3, 9, 1, 12)), panel([1.0] * 5, [0.0] * 5)
    found = compare([*contests(whole), *contests(few)])
    assert [c.p_adjusted for c in found] == [found[0].p_value, None]
    assert found[1].conclusion == "unclear"


def test_pairs_of_the_same_tasks_are_found_as_each_by_itself():
    random = np.random.default_rng(2)
    rows = [[random.random(2).round(1).tolist() for _ in range(50)] for _ in range(3)]
    together = compare(contests(panel(*rows, metric="f1")))
    for (a, b), row in zip(combinations(range(3), 2), together, strict=True):
        single = one(rows[a], rows[b], metric="f1")
        assert (row.p_value, row.low, row.high) == (single.p_value, single.low, single.high)
        assert row.p_exchangeable == single.p_exchangeable


def test_less_is_better_of_costs():
    cheap, dear = [0.01] * 25, [0.02] * 25
    found = one(cheap, dear, metric="cost_usd", margin=0.1)
    assert (found.conclusion, found.noninferior) == ("a", True)
    assert (found.test, found.ratio, found.low) == ("sign_flip_log", pytest.approx(0.5), None)
    found = one(dear, cheap, metric="cost_usd", margin=0.1)
    assert (found.conclusion, found.noninferior) == ("b", False)


def test_free_calls_have_no_ratio():
    found = one([0.0] * 10 + [0.01] * 15, [0.01] * 25, metric="cost_usd")
    assert (found.test, found.ratio, found.conclusion) == ("sign_flip", None, "a")
    assert found.high < 0


@pytest.mark.parametrize(("margin", "is_noninferior"), [(0.2, True), (0.01, False)])
def test_a_margin_is_compared_with_the_end_of_the_interval(margin, is_noninferior):
    found = one(*counts(40, 5, 5, 47), margin=margin)
    assert found.noninferior is is_noninferior
    assert (found.low > -margin) is is_noninferior


def test_there_is_power_to_detect_the_detectable_difference():
    """Where the models hardly differ, a t test would find less than Gaffke's test can."""
    random = np.random.default_rng(1)
    scores = 0.5 + random.normal(0, 0.05, size=(2, 50))
    found = one(*scores.tolist())
    assert found.detectable_difference > (found.high - found.low) / 2
    shifts = [[found.detectable_difference / 2], [-found.detectable_difference / 2]]
    again = [0.5 + random.normal(0, 0.05, size=(2, 50)) + shifts for _ in range(10)]
    assert all(one(*rows.tolist()).p_value < 0.05 for rows in again)


def test_few_tasks_have_neither_interval_nor_detectable_difference():
    found = one([1.0] * 5, [0.0] * 5)
    assert (found.low, found.p_adjusted, found.detectable_difference) == (None, None, None)
    assert found.p_value == pytest.approx(2 / 2**5)
    assert one([1.0] * 19, [0.0] * 19).detectable_difference is None


@pytest.mark.parametrize("row", [[1.0] * 30, [[1.0, 0.0]] * 30])
def test_equal_values_still_have_a_width_and_a_detectable_difference(row):
    found = one(row, row)
    assert (found.p_value, found.difference, found.conclusion) == (1.0, 0.0, "unclear")
    assert found.low < 0 < found.high
    assert found.detectable_difference > 0


def test_unbounded_values_without_any_difference_have_no_interval():
    found = one([3.0] * 30, [3.0] * 30, metric="points")
    assert (found.low, found.detectable_difference, found.p_value) == (None, None, 1.0)


def test_nothing_shared_is_no_comparison():
    assert compare(contests(panel({"x": 1.0}, {"y": 1.0}))) == []


def test_a_subset_is_compared_like_the_tasks_by_themselves():
    rows = counts(3, 9, 1, 12)
    found = panel(*rows)
    kept = subset(pair(found, 0, 1), [n % 2 == 0 for n in range(25)])
    (part,) = compare([Contest(a="a", b="b", paired=kept, slice="even")])
    whole = one(rows[0][::2], rows[1][::2])
    assert (part.p_value, part.low, part.n_attempts_a) == (whole.p_value, whole.low, 13)
    assert part.slice == "even"
