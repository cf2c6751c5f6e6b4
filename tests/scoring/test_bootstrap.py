import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from poster_cases import read_cases
from support import needs_reference

from warehouse.engine.scoring.bootstrap import (
    Difference,
    compare_all,
    confidence_interval,
    difference,
    holm,
    mean,
    paired_difference,
)
from warehouse.engine.scoring.bootstrap_batches import (
    confidence_interval_batch,
    difference_batch,
    holm_batch,
    paired_difference_batch,
)
from warehouse.engine.scoring.posters.comparisons import compare_pairs


def plain_mean(values: list[float]) -> float:
    total = 0.0
    for value in values:
        total += value
    return total / len(values)


def plain_interval(scores: list[float]) -> tuple[float, float]:
    rng = random.Random(23)
    means = sorted(
        plain_mean([scores[rng.randrange(len(scores))] for _ in scores]) for _ in range(1000)
    )
    return means[25], means[974]


def plain_difference(a: list[float], b: list[float]) -> Difference:
    rng, differences = random.Random(23), []
    for _ in range(1000):
        mean_a = plain_mean([a[rng.randrange(len(a))] for _ in a])
        mean_b = plain_mean([b[rng.randrange(len(b))] for _ in b])
        differences.append(mean_a - mean_b)
    below = sum(d <= 0 for d in differences) / 1000
    above = sum(d > 0 for d in differences) / 1000
    differences.sort()
    low, high = differences[25], differences[974]
    p_value = 2 * min(below, above)
    return Difference(plain_mean(a) - plain_mean(b), (low, high), p_value, low > 0 or high < 0)


@needs_reference
def test_reference_cases_are_equal_to_the_last_bit() -> None:
    for case in read_cases("bootstrap.jsonl"):
        if case["kind"] == "ci":
            bounds = confidence_interval(case["scores"])
            assert (bounds and list(bounds)) == case["ci95"]
            continue
        found = difference(case["a"], case["b"])
        assert found is not None
        assert (found.mean, [*found.interval]) == (case["mean_diff"], case["ci"])
        assert (found.p_value, found.significant) == (case["p"], case["significant"])


scores = st.lists(st.floats(0, 100) | st.sampled_from([0.0, 45.0, 100.0]), min_size=1, max_size=9)


@settings(max_examples=25, deadline=None)
@given(scores, scores)
def test_results_equal_those_of_a_plain_loop(a: list[float], b: list[float]) -> None:
    assert confidence_interval(a) == plain_interval(a)
    assert difference(a, b) == plain_difference(a, b)


@pytest.mark.parametrize("size", [1, 2, 3, 31, 32, 33, 64, 127, 128, 200])
def test_draws_near_powers_of_two(size: int) -> None:
    values = [float(7 * at % 101) for at in range(size)]
    assert confidence_interval(values) == plain_interval(values)
    assert difference(values, values) == plain_difference(values, values)


def test_all_pairs_equal_single_comparisons_of_any_size() -> None:
    models = {"a": [1.0, 2.0, 5.0], "b": [2.0, 2.5, 9.0], "none": [], "c": [3.0, 0.1]}
    ab, a_none, ac, b_none, bc, none_c = compare_all(models)
    assert (a_none, b_none, none_c) == (None, None, None)
    assert ab == plain_difference(models["a"], models["b"])
    assert ac == plain_difference(models["a"], models["c"])
    assert bc == plain_difference(models["b"], models["c"])


def test_few_scores() -> None:
    assert mean([]) is None
    assert confidence_interval([]) is None
    assert confidence_interval([7.5]) == (7.5, 7.5)
    assert difference([], [1.0]) is None
    assert paired_difference([], []) is None
    assert paired_difference([None], [1.0]) is None
    assert paired_difference([2.0, None], [1.0, 1.0]) is None


def test_sums_run_from_left_to_right_on_every_python() -> None:
    # A compensated sum of these is 2.0.
    assert mean([1.0, 1e100, 1.0, -1e100]) == 0.0


def test_equal_constant_lists_have_the_p_value_of_the_original() -> None:
    assert difference([5.0] * 4, [5.0] * 4) == Difference(0.0, (0.0, 0.0), 0.0, significant=False)


def test_paired_p_value_is_never_zero() -> None:
    # every resample is below zero: 2 (0 + 1) / 1001
    far = paired_difference([1.0, 2.0, 3.0], [11.0, 12.5, 13.0])
    assert far is not None
    assert far.p_value == 2 / 1001
    assert far.significant
    same = paired_difference([1.0, 2.0], [1.0, 2.0])
    assert same == Difference(0.0, (0.0, 0.0), 1.0, significant=False)


def test_pairs_with_a_missing_side_are_left_out() -> None:
    whole = paired_difference([1.0, 5.0, 4.0], [2.0, 3.0, 1.0])
    assert paired_difference([1.0, None, 5.0, 4.0, 9.0], [2.0, 8.0, 3.0, 1.0, None]) == whole
    with pytest.raises(ValueError, match="shorter"):
        paired_difference([1.0, 2.0], [1.0])


def test_a_single_score_has_neither_an_interval_nor_a_p_value() -> None:
    (interval,) = confidence_interval_batch([[7.5, None]])
    assert interval is not None
    assert (interval["low"], interval["high"]) == (None, None)
    assert interval["reason"].startswith("a single score")
    for a, b in (([7.5], [1.0, 2.0]), ([1.5, 2.5, None], [None, 4.0])):
        (row,) = difference_batch([a], [b])
        assert row is not None
        assert row["mean"] is not None
        assert {row[name] for name in ("low", "high", "p_value", "significant")} == {None}
    (paired,) = paired_difference_batch([[1.0, None]], [[2.0, 3.0]])
    assert paired is not None
    assert (paired["p_value"], paired["reason"]) == (None, "fewer than two pairs of scores")
    (pair,) = compare_pairs([[7.5], [1.0]])
    assert pair.pop("mean") == 6.5
    assert (pair.pop("a"), pair.pop("b")) == (1, 2)
    assert set(pair.values()) == {None}


def test_holm() -> None:
    # Sorted .01 .02 .03: times 3, 2, 1 give .03 .04 .03, and the running maximum .03 .04 .04.
    assert holm([0.02, None, 0.01, 0.03]) == [0.04, None, 0.03, 0.04]
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_batches() -> None:
    two, null, none, broken = confidence_interval_batch([[1.0, 1.0, None], None, [], ["x", "y"]])
    assert two == {"low": 1.0, "high": 1.0, "reason": None}
    assert null is None
    assert none == {"low": None, "high": None, "reason": "no scores"}
    assert broken["reason"].startswith(("TypeError", "ValueError"))
    (row, nothing, empty) = difference_batch([[1.0, 2.0], None, []], [[1.0, 2.0], [1.0], [1.0]])
    found = difference([1.0, 2.0], [1.0, 2.0])
    assert found is not None
    assert (row["mean"], row["low"], row["high"]) == (found.mean, *found.interval)
    assert (nothing, empty["reason"], empty["mean"]) == (None, "no scores", None)
    assert paired_difference_batch([[1.0, 2.0]], [[1.0]])[0]["reason"].startswith("ValueError")
    assert holm_batch([[0.01, 0.02], None]) == [[0.02, 0.02], None]
