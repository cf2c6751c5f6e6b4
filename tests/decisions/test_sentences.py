"""What a comparison says."""

import pytest

from warehouse.analysis.decisions.comparison import Comparison
from warehouse.analysis.decisions.sentences import margin_sentence, p_text, sentence

ROW = {
    "suite": "mine", "task_set": "mine", "metric": "passed", "a": "aurora-2", "b": "kaamos-mini",
    "n_tasks": 97, "n_attempts_a": 97, "n_attempts_b": 97, "mean_a": 0.6, "mean_b": 0.5,
    "difference": 8 / 97, "low": 0.0168, "high": 0.1474, "p_value": 22 / 1024, "p_missing": None,
    "p_adjusted": 22 / 1024,
    "test": "score", "n_only_a": 9, "n_only_b": 1, "conclusion": "a",
    "noninferior": None, "detectable_difference": 0.107, "scorer": None, "filter": None,
    "slice": None, "n_clusters": 97, "n_unjudged_a": 0, "n_unjudged_b": 0, "n_excluded": 0,
    "n_changed": 0, "n_differing": 10, "p_mcnemar": 0.021, "p_exchangeable": None, "ratio": None,
    "ratio_low": None, "ratio_high": None, "less_is_better": False,
}  # fmt: skip
SCORES = {"n_only_a": None, "n_only_b": None, "test": "bounded_mean"}
RATIO = {"low": None, "high": None, "ratio": 0.5, "ratio_low": 0.4, "ratio_high": 0.8,
         "less_is_better": True}  # fmt: skip


def said(n_comparisons=1, **changes):
    return sentence(Comparison(**{**ROW, **changes}), n_comparisons=n_comparisons)


def test_a_difference_that_the_data_show():
    assert said() == (
        "aurora-2 passes 8.2 points more than kaamos-mini (95 % interval 1.7 to 14.7, p = 0.021, "
        "97 tasks; 9 passed by it only, 1 by the other only)."
    )


def test_the_winner_is_named_first():
    swapped = {"a": "kaamos-mini", "b": "aurora-2", "difference": -8 / 97, "low": -0.1474}
    assert said(**swapped, high=-0.0168, n_only_a=1, n_only_b=9, conclusion="b") == said()


def test_a_difference_that_the_data_do_not_show():
    changes = {"difference": 0.021, "low": -0.04, "high": 0.08, "p_value": 0.5}
    changes["p_adjusted"] = 0.5
    assert said(**changes, conclusion="unclear", detectable_difference=0.08) == (
        "The data do not show which is better (difference 2.1 points, 95 % interval -4 to 8). "
        "97 tasks like these have 80 % power to detect a true difference of 8 points."
    )


def test_counts_of_a_few_tasks_name_no_side():
    changes = {"low": None, "high": None, "p_value": 1.0, "p_adjusted": None, "n_only_a": 1}
    changes |= {"n_tasks": 3, "n_clusters": 3, "n_only_b": 0, "detectable_difference": None}
    assert said(**changes, conclusion="unclear") == (
        "The data do not show which is better (p = 1.00, 3 tasks; 1 passed by one only, 0 by the "
        "other only)."
    )


@pytest.mark.parametrize("sign", [1, -1])
def test_a_claim_that_the_number_of_comparisons_stands_against(sign):
    changes = {"difference": sign * 5 / 97, "p_adjusted": 0.0625, "n_only_a": 5, "n_only_b": 0}
    ends = sorted((sign * 0.003, sign * 0.1))
    winner = "aurora-2" if sign > 0 else "kaamos-mini"
    loser = "kaamos-mini" if sign > 0 else "aurora-2"
    assert said(3, **changes, low=ends[0], high=ends[1], conclusion="unclear").startswith(
        f"mine: That {winner} is better than {loser} is not supported (difference 5.2 points, "
        "95 % interval 0.3 to 10, adjusted p = 0.06, 97 tasks; 5 passed by it only, 0 by the "
        "other only)."
    )


def test_a_ratio_is_that_of_the_side_that_is_named_first():
    changes = {"metric": "cost_usd", **SCORES, **RATIO, "p_adjusted": 0.0625}
    changes |= {"conclusion": "unclear", "ratio": 2, "ratio_low": 1.25, "ratio_high": 2.5}
    text = "kaamos-mini is better than aurora-2 is not supported (typical ratio 0.5, 95 % interval "
    assert text + "0.4 to 0.8, " in said(3, **changes)


def test_who_is_ahead_only_where_both_were_judged():
    changes = {"difference": -8 / 97, "low": -0.1474, "high": -0.0168, "p_missing": 0.3}
    assert said(**changes, conclusion="unclear").startswith(
        "kaamos-mini is ahead of aurora-2 on the tasks that both were judged on (difference 8.2 "
        "points, 95 % interval 1.7 to 14.7, p = 0.021, "
    )


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"metric": "cost_usd", **RATIO},
         "aurora-2 typically costs 50 % less per task than kaamos-mini (95 % interval 20 to 60 %,"),
        ({"metric": "latency_ms", **RATIO, "ratio": 2.0, "ratio_low": 1.25, "ratio_high": 2.5,
          "conclusion": "b"},
         "kaamos-mini typically answers 50 % faster than aurora-2 (95 % interval 20 to 60 %, p"),
        ({"metric": "cost_usd", **RATIO, "ratio_high": 1.2, "conclusion": "unclear"},
         "not show which is better by cost_usd (typical ratio 0.5, 95 % interval 0.4 to 1.2)."),
        ({"metric": "f1", "difference": 0.25}, "aurora-2 scores 0.25 more in f1 than kaamos-mini"),
        ({"metric": "wer", "difference": -0.25, "less_is_better": True},
         "aurora-2 scores 0.25 less in wer than kaamos-mini"),
        ({"scorer": "s", "difference": 0.25}, "aurora-2 scores 0.25 more in passed than kaamos"),
        ({"n_clusters": 30, "difference": 0.1}, "97 tasks in 30 clusters)."),
        ({"n_clusters": 1, "difference": 0.1}, "97 tasks in 1 cluster)."),
        ({"n_tasks": 9, "n_clusters": 9},
         "aurora-2 passes more than kaamos-mini (p = 0.021, 9 tasks)."),
    ],
)  # fmt: skip
def test_every_metric_has_its_words(changes, text):
    assert text in said(**{**SCORES, "detectable_difference": None, **changes})


def test_verdicts_of_a_scorer_are_passed_in_points():
    assert said(scorer="s") == said()
    assert said(3, scorer="s").startswith("mine, scorer s: aurora-2 passes 8.2 points more")


def test_several_comparisons_name_their_sides_and_adjust():
    assert said(3, task_set="easy").startswith("mine, easy: aurora-2 passes")
    assert "adjusted p = 0.021" in said(3)
    unclear = said(3, low=-0.1, conclusion="unclear", slice="length 1 to 5")
    assert unclear.startswith(
        "mine, length 1 to 5: aurora-2 and kaamos-mini: the data do not show which is better"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0625, "= 0.06"), (0.34, "= 0.34"), (0.0214, "= 0.021"), (0.0504, "= 0.0504"),
        (0.0496, "= 0.0496"), (0.04999, "= 0.04999"), (0.05, "= 0.05"),
        (0.0004, "= 0.0004"), (1e-9, "< 0.0001"),
        (1.0, "= 1.00"),
    ],
)  # fmt: skip
def test_p_values_are_not_rounded_across_the_level(value, text):
    assert p_text(value) == text


def test_a_margin_in_words():
    better = Comparison(**{**ROW, "noninferior": True})
    worse = Comparison(**{**ROW, "noninferior": False})
    unknown = Comparison(**ROW)
    assert margin_sentence(better, 0.02) == (
        "aurora-2 is not worse than kaamos-mini by 2 points or more (95 % interval)."
    )
    assert margin_sentence(worse, 0.02).startswith("It is not shown that aurora-2 is less than 2")
    assert "no interval" in margin_sentence(unknown, 0.02)
