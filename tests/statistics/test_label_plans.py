"""Planned widths are those that simulated labels have, and the labels needed are the fewest."""

import numpy as np
import pytest

from warehouse.engine.statistics.corrected_means import corrected_mean
from warehouse.engine.statistics.label_plans import (
    judge_correlation,
    labels_needed,
    planned_width,
)


def test_the_correlation_is_that_of_verdicts():
    random = np.random.default_rng(1)
    human = random.random(200_000) < 0.7
    judge = np.where(random.random(200_000) < 0.85, human, ~human)
    expected = np.corrcoef(human, judge)[0, 1]
    assert judge_correlation(0.7, 0.85) == pytest.approx(expected, abs=0.01)
    assert judge_correlation(0.7, 0.5) == pytest.approx(0)
    assert judge_correlation(1.0, 1.0) == 0


@pytest.mark.parametrize("accuracy", [0.55, 0.8, 0.95])
@pytest.mark.parametrize("n_labels", [30, 100, 300])
def test_the_planned_width_is_what_labels_give(n_labels, accuracy):
    random = np.random.default_rng(n_labels)
    widths = []
    for _ in range(100):
        human = (random.random(1000) < 0.7).astype(float)
        judge = np.where(random.random(1000) < accuracy, human, 1 - human)
        labels = np.where(random.permutation(1000) < n_labels, human, np.nan)
        interval = corrected_mean(judge, labels, np.full(1000, n_labels / 1000)).interval
        widths.append(interval.high - interval.low)
    correlation = judge_correlation(0.7, accuracy)
    planned = planned_width(n_labels, 1000, rate=0.7, correlation=correlation)
    assert planned.width == pytest.approx(np.mean(widths), rel=0.05)


def test_labels_that_turn_out_as_expected_have_the_planned_width():
    # Of ten answers the judge is wrong about one that passed and one that did not.
    human = np.repeat([1.0, 0.0], [5, 5])
    judge = np.array([1.0, 1, 1, 1, 0, 0, 0, 0, 0, 1])
    labels = np.concatenate([np.tile(human, 10), np.full(900, np.nan)])
    found = corrected_mean(np.tile(judge, 100), labels, np.full(1000, 0.1))
    correlation = judge_correlation(0.5, 0.8)
    planned = planned_width(100, 1000, rate=0.5, correlation=correlation)
    assert found.source == "judge and labels"
    assert planned.width == pytest.approx(found.interval.high - found.interval.low, rel=1e-3)


def test_thirty_labels_and_a_judge_of_accuracy_80_narrow_nothing():
    for rate in (0.5, 0.8, 0.95):
        correlation = judge_correlation(rate, 0.8)
        planned = planned_width(30, 1000, rate=rate, correlation=correlation)
        without = planned_width(30, 1000, rate=rate, correlation=0.0)
        assert planned.width > 0.96 * without.width
    planned = planned_width(300, 1000, rate=0.5, correlation=judge_correlation(0.5, 0.8))
    assert planned.width < 0.9 * planned.own_width


def test_all_answers_labelled_leave_the_judge_nothing_to_say():
    found = [planned_width(400, 400, rate=0.7, correlation=c).width for c in (-0.5, 0, 0.9)]
    assert found[0] == found[1] == pytest.approx(found[2])


def test_the_labels_needed_are_the_fewest():
    for correlation in (0.0, 0.6, 0.9):
        n = labels_needed(0.12, 2000, rate=0.7, correlation=correlation)
        at = [
            planned_width(each, 2000, rate=0.7, correlation=correlation).width
            for each in (n - 1, n)
        ]
        assert at[1] <= 0.12 < at[0]


def test_a_better_judge_needs_fewer_labels():
    needed = [labels_needed(0.12, 2000, rate=0.7, correlation=c) for c in (0.0, 0.5, 0.9)]
    assert needed == sorted(needed, reverse=True)
    assert needed[2] < 0.6 * needed[0]


def test_too_few_answers_need_more_labels_than_there_are():
    assert labels_needed(0.01, 500, rate=0.5, correlation=0.9) is None
