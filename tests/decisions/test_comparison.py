"""Comparisons of pairs: which test, which interval, what they show."""

from itertools import combinations

import numpy as np
import pytest

from warehouse.decisions.comparison import Contest, compare, subset
from warehouse.decisions.paired import pair, panels
from warehouse.decisions.series import Asked, MetricKey, Series, SeriesKey


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


def test_single_attempts_are_judged_by_mcnemar():
    # Nine against one of 97: 2 · (1 + 10) / 2^10.
    found = one(*counts(40, 9, 1, 47))
    assert (found.test, found.interval, found.n_only_a, found.n_only_b) == (
        "mcnemar", "newcombe", 9, 1,
    )  # fmt: skip
    assert found.p_value == pytest.approx(22 / 1024)
    assert found.difference == pytest.approx(8 / 97)
    assert found.conclusion == "a"
    assert found.low == pytest.approx(0.0172, abs=5e-3)


def test_the_adjusted_p_value_decides_where_the_interval_disagrees():
    # Five against none of 97: p = 2 / 2^5; Newcombe's interval is above 0.
    found = one(*counts(40, 5, 0, 52))
    assert found.p_value == 0.0625
    assert found.low > 0
    assert found.conclusion == "unclear"


def test_attempts_are_averaged_and_flipped():
    random = np.random.default_rng(1)
    rows = [[random.integers(0, 2, 3).astype(float).tolist() for _ in range(40)] for _ in range(2)]
    rows[0] = [[1.0, 1.0, 1.0]] * 20 + rows[0][20:]
    found = one(*rows)
    assert (found.test, found.interval, found.n_only_a) == ("sign_flip", "bootstrap", None)
    assert (found.n_tasks, found.n_attempts_a, found.n_attempts_b) == (40, 120, 120)
    assert found.conclusion == "a"
    assert found.low < found.difference < found.high


def test_repeated_tasks_of_a_cluster_count_once():
    rows = counts(0, 8, 0, 12)
    repeated = [[value for value in row for _ in range(5)] for row in rows]
    clusters = {f"t{n:05}": n // 5 for n in range(100)}
    whole, each = one(*repeated, clusters=clusters), one(*repeated)
    assert (whole.n_clusters, each.n_clusters, whole.test) == (20, 100, "sign_flip")
    # All eight clusters that differ have the same sign: 2 of 2^8 flips.
    assert whole.p_value == 2 / 2**8
    assert whole.high - whole.low > each.high - each.low


def test_several_pairs_are_adjusted_together():
    rows = [[1.0] * 30, [0.0] * 7 + [1.0] * 23, [0.0] * 6 + [1.0] * 24]
    found = compare(contests(panel(*rows)))
    # 2 / 2^7 = 0.0156, 2 / 2^6 = 0.03125 and 1; times 3, 2 and 1.
    assert [c.p_value for c in found] == [0.015625, 0.03125, 1.0]
    assert [c.p_adjusted for c in found] == [0.046875, 0.0625, 1.0]
    assert [c.conclusion for c in found] == ["a", "unclear", "unclear"]


def test_pairs_of_the_same_tasks_are_found_as_each_by_itself():
    random = np.random.default_rng(2)
    rows = [[random.random(2).round(1).tolist() for _ in range(50)] for _ in range(3)]
    together = compare(contests(panel(*rows, metric="f1")))
    for (a, b), row in zip(combinations(range(3), 2), together, strict=True):
        single = one(rows[a], rows[b], metric="f1")
        assert (row.p_value, row.low, row.high) == (single.p_value, single.low, single.high)


def test_less_is_better_of_costs():
    cheap, dear = [0.01] * 25, [0.02] * 25
    found = one(cheap, dear, metric="cost_usd", margin=0.001)
    assert (found.conclusion, found.noninferior) == ("a", True)
    found = one(dear, cheap, metric="cost_usd", margin=0.001)
    assert (found.conclusion, found.noninferior) == ("b", False)


@pytest.mark.parametrize(("margin", "is_noninferior"), [(0.2, True), (0.01, False)])
def test_a_margin_is_compared_with_the_end_of_the_interval(margin, is_noninferior):
    found = one(*counts(40, 5, 5, 47), margin=margin)
    assert found.noninferior is is_noninferior
    assert (found.low > -margin) is is_noninferior


def test_few_tasks_have_neither_interval_nor_detectable_difference():
    found = one([1.0] * 5, [0.0] * 5)
    assert (found.low, found.interval, found.detectable_difference) == (None, None, None)
    assert found.p_value == 2 / 2**5
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
