"""A judge's mean corrected by labels: equal to ppi-python's, and honest where labels are few."""

import json
from functools import cache

import numpy as np
import pytest
from support import REFERENCE, needs_reference

from warehouse.engine.statistics.corrected_means import corrected_difference, corrected_mean
from warehouse.engine.statistics.distributions import normal_quantile
from warehouse.engine.statistics.proportions import Interval, wilson_limits

PANDALM = REFERENCE / "preferences" / "pandalm"
JUDGES = {"gpt": "gpt-3.5-turbo-testset-v1.json", "pan": "pandalm-7b-testset-v1.json"}
RESULTS = {"gpt": ("gpt_result", "1", "2"), "pan": ("pandalm_result", 1, 2)}
NET_WIN = Interval(-1.0, 1.0)


@cache
def oracle():
    return json.loads((PANDALM / "oracle.json").read_text("utf-8"))["binary_target"]


def rows(name):
    read = json.loads((PANDALM / name).read_text("utf-8"))
    return sorted(read, key=lambda row: row["idx"])


def pandalm(judge, *, is_net_win=False):
    """Return the judge's values, the majority's label of every fifth row, and the chances."""
    key, first, second = RESULTS[judge]
    human, judged = [], []
    for people, row in zip(rows("testset-v1.json"), rows(JUDGES[judge]), strict=True):
        votes = [people[f"annotator{n}"] for n in (1, 2, 3)]
        loss = -1.0 if is_net_win else 0.0
        human.append(1.0 if votes.count(1) >= 2 else loss if votes.count(2) >= 2 else 0.0)
        judged.append({first: 1.0, second: loss}.get(row[key], 0.0))
    is_labelled = np.arange(len(human)) % 5 == 0
    labels = np.where(is_labelled, human, np.nan)
    return np.array(judged), labels, np.full(len(human), is_labelled.mean())


def normal_ends(found):
    reach = normal_quantile(0.975) * found.standard_error
    return found.mean - reach, found.mean + reach


@needs_reference
@pytest.mark.parametrize("judge", JUDGES)
def test_a_fixed_weight_gives_the_figures_of_ppi_python(judge):
    found = corrected_mean(*pandalm(judge), weight=1.0)
    expected = oracle()[judge]["ppi_lam1"]
    assert found.mean == pytest.approx(expected["estimate"], abs=1e-12)
    assert normal_ends(found) == pytest.approx(expected["ci95"], abs=1e-12)
    assert found.judge_mean == pytest.approx(oracle()[judge]["apparent_full"], abs=1e-12)


@needs_reference
@pytest.mark.parametrize("judge", JUDGES)
def test_the_tuned_weight_is_the_closed_form_and_near_ppi_python(judge):
    found = corrected_mean(*pandalm(judge))
    assert found.weight == pytest.approx(oracle()[judge]["closed_form_lam"], abs=1e-12)
    expected = oracle()[judge]["closed_form"]
    assert found.mean == pytest.approx(expected["estimate"], abs=1e-12)
    assert normal_ends(found) == pytest.approx(expected["ci95"], abs=1e-12)
    theirs = oracle()[judge]["ppi_tuned"]
    assert found.mean == pytest.approx(theirs["estimate"], abs=1e-3)
    assert normal_ends(found) == pytest.approx(theirs["ci95"], abs=1e-3)


@needs_reference
@pytest.mark.parametrize("judge", JUDGES)
def test_net_wins_have_another_scale(judge):
    found = corrected_mean(*pandalm(judge, is_net_win=True), limits=NET_WIN)
    expected = oracle()[judge]["ppi_net_win"]
    assert found.mean == pytest.approx(expected["estimate"], abs=1e-3)
    assert normal_ends(found) == pytest.approx(expected["ci95"], abs=1e-3)


def answers(n=400, *, accuracy=0.85, rate=0.7, seed=1):
    random = np.random.default_rng(seed)
    human = (random.random(n) < rate).astype(float)
    return np.where(random.random(n) < accuracy, human, 1 - human), human


def labelled(human, step=4):
    """Return the labels of every fourth answer, and the chances."""
    is_labelled = np.arange(len(human)) % step == 0
    return np.where(is_labelled, human, np.nan), np.full(len(human), is_labelled.mean())


def test_all_answers_labelled_give_their_own_mean():
    judge, human = answers()
    for weight in (None, 0.6):
        found = corrected_mean(judge, human, np.ones(400), weight=weight)
        assert found.mean == found.labelled_mean == pytest.approx(human.mean(), abs=1e-15)
        assert found.standard_error == pytest.approx(human.std() / 20, abs=1e-15)
        assert (found.weight, found.source) == (0, "labels")


def test_a_constant_judge_adds_nothing():
    human = answers()[1]
    found = corrected_mean(np.full(400, 0.3), *labelled(human))
    assert found.weight == 0
    assert found.mean == found.labelled_mean == pytest.approx(human[::4].mean())
    assert found.source == "labels"
    assert found.interval == wilson_limits(found.labelled_mean, 100, level=0.95)


def test_a_judge_who_errs_more_often_than_not_has_no_weight():
    judge, human = answers(accuracy=0.2)
    assert corrected_mean(judge, *labelled(human)).weight == 0


def test_a_judge_whose_scale_is_too_narrow_has_weight_one():
    human = answers()[1]
    found = corrected_mean(0.5 + 0.2 * human, *labelled(human))
    assert found.weight == 1


def test_equal_labels_have_an_interval_that_allows_others():
    judge, _ = answers()
    found = corrected_mean(judge, *labelled(np.ones(400)))
    assert found.mean == 1
    assert found.standard_error == 0
    assert (found.weight, found.source) == (0, "labels")
    assert found.interval.high == 1
    assert 0.9 < found.interval.low < 0.98


def test_a_good_judge_narrows_the_interval_and_a_poor_one_does_not():
    judge, human = answers(accuracy=0.95)
    good = corrected_mean(judge, *labelled(human))
    own = wilson_limits(good.labelled_mean, 100, level=0.95)
    assert good.source == "judge and labels"
    assert good.interval.high - good.interval.low < 0.8 * (own.high - own.low)
    assert good.interval.low < good.mean < good.interval.high
    judge, human = answers(accuracy=0.5)
    assert corrected_mean(judge, *labelled(human)).source == "labels"


def test_a_wider_level_widens_the_interval():
    judge, human = answers()
    at = [corrected_mean(judge, *labelled(human), level=level).interval for level in (0.8, 0.99)]
    assert at[1].low < at[0].low < at[0].high < at[1].high


def test_fewer_than_thirty_labels_correct_nothing():
    judge, human = answers(120)
    found = corrected_mean(judge, *labelled(human))
    assert (found.n_labels, found.n_effective) == (30, pytest.approx(30))
    assert found.mean is not None
    few, chances = labelled(human)
    few[0] = np.nan
    found = corrected_mean(judge, few, chances)
    assert found.source == "labelled answers only"
    assert (found.mean, found.standard_error, found.weight) == (None, None, None)
    assert found.interval == wilson_limits(found.labelled_mean, found.n_effective, level=0.95)


@pytest.mark.parametrize("missing", [np.nan, 0.0])
def test_a_probability_that_is_not_recorded_corrects_nothing(missing):
    judge, human = answers()
    labels, chances = labelled(human)
    chances[1] = missing
    for given in (chances, None):
        found = corrected_mean(judge, labels, given)
        assert found.source == "labelled answers only"
        assert found.mean is None
        assert found.labelled_mean == pytest.approx(human[::4].mean())
        assert found.n_effective == 100


def test_without_labels_there_is_the_judge_only():
    judge = answers()[0]
    found = corrected_mean(judge, np.full(400, np.nan), np.full(400, 0.1))
    assert found.judge_mean == judge.mean()
    assert (found.n_labels, found.labelled_mean, found.interval) == (0, None, None)


def test_answers_labelled_more_often_do_not_count_more():
    """Half of the answers have a low rate and were labelled four times as often."""
    random = np.random.default_rng(3)
    is_hard = np.arange(4000) % 2 == 0
    human = (random.random(4000) < np.where(is_hard, 0.4, 0.9)).astype(float)
    judge = np.where(random.random(4000) < 0.85, human, 1 - human)
    chances = np.where(is_hard, 0.4, 0.1)
    labels = np.where(random.random(4000) < chances, human, np.nan)
    found = corrected_mean(judge, labels, chances)
    assert np.nanmean(labels) < 0.53
    assert found.mean == pytest.approx(human.mean(), abs=2.5 * found.standard_error)
    assert found.n_effective == pytest.approx(0.64 * found.n_labels, rel=0.05)
    assert found.interval.low < human.mean() < found.interval.high


def test_the_error_is_that_of_repeated_samples():
    random = np.random.default_rng(5)
    means, errors = [], []
    for _ in range(400):
        human = (random.random(600) < 0.7).astype(float)
        judge = np.where(random.random(600) < 0.9, human, 1 - human)
        chances = np.where(judge == 0, 0.5, 0.125)
        labels = np.where(random.random(600) < chances, human, np.nan)
        found = corrected_mean(judge, labels, chances)
        means.append(found.mean)
        errors.append(found.standard_error)
    assert np.mean(means) == pytest.approx(0.7, abs=0.005)
    assert np.mean(errors) == pytest.approx(np.std(means), rel=0.1)


def test_another_scale_changes_the_unit_only():
    judge, human = answers()
    labels, chances = labelled(human)
    found = corrected_mean(judge, labels, chances)
    scaled = corrected_mean(10 * judge, 10 * labels, chances, limits=Interval(0.0, 10.0))
    assert scaled.mean == pytest.approx(10 * found.mean)
    assert scaled.interval == pytest.approx([10 * end for end in found.interval])
    assert scaled.source == found.source


def test_a_difference_is_the_mean_of_differences():
    judge, human = answers()
    other_judge, other = answers(seed=2)
    labels, chances = labelled(human)
    found = corrected_difference((judge, other_judge), (labels, labelled(other)[0]), chances)
    same = corrected_mean(judge - other_judge, labels - other, chances, limits=NET_WIN)
    assert (found.mean, found.standard_error) == (same.mean, same.standard_error)
    assert found.interval.low < found.mean < found.interval.high


def test_a_task_of_which_one_answer_is_labelled_does_not_count():
    judge, human = answers()
    labels, chances = labelled(human)
    found = corrected_difference((judge, judge), (labels, labelled(human, 8)[0]), chances)
    assert found.n_labels == 50


def test_equal_systems_differ_by_nothing():
    judge, human = answers()
    labels, chances = labelled(human)
    found = corrected_difference((judge, judge), (labels, labels), chances)
    assert found.mean == found.standard_error == 0
    assert found.interval.low == -found.interval.high < 0
