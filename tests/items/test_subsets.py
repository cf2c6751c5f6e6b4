"""Scores predicted from a part of the items, and the choice of the part."""

import numpy as np
import pytest
from support import needs_reference

from tests.items.matrices import answers, drawn, oracle
from warehouse.analysis.items.bank import Bank, fit_bank, predict_scores
from warehouse.analysis.items.subsets import Answers, Judge, choose_items, interval_factor

MATRICES = ("swebench-bash-only", "terminal-bench-1.0", "crux")


@pytest.mark.slow
@needs_reference
@pytest.mark.parametrize("name", ["swebench-bash-only", "crux"])
def test_held_out_predictions_equal_the_oracle(name):
    _, found = answers(name)
    expected = oracle(name)["held_out"]["by_fraction"]
    n_models, n_items = found.passed.shape
    random = np.random.default_rng(1)
    figures = {fraction: [] for fraction in expected}
    for model in range(n_models):
        bank = fit_bank(*found.models(np.delete(np.arange(n_models), model)))
        held_out = found.models(np.array([model]))
        truth = held_out.passed.mean()
        for fraction, rows in figures.items():
            for _ in range(5):
                items = random.choice(n_items, round(float(fraction) * n_items), replace=False)
                predicted = predict_scores(bank, *held_out.only(items))
                error = abs(predicted.scores[0] - truth)
                plain = abs(held_out.passed[0, items].mean() - truth)
                rows.append((error, plain, error <= 1.6448536 * predicted.errors[0]))
    for fraction, rows in figures.items():
        mae, plain, coverage = np.mean(rows, axis=0)
        assert mae == pytest.approx(expected[fraction]["mae_1pl"], abs=2e-6)
        assert plain == pytest.approx(expected[fraction]["mae_subset_mean"], abs=1e-12)
        known = expected[fraction]["coverage_of_90pct_predictive_interval"]
        assert coverage == pytest.approx(known, abs=1e-9)


@pytest.mark.slow
@needs_reference
@pytest.mark.parametrize("name", ["swebench-bash-only", "crux"])
def test_the_bank_is_that_of_the_oracle(name):
    _, found = answers(name)
    expected = oracle(name)["irt"]["1pl"]
    bank = fit_bank(*found)
    assert bank.slope == pytest.approx(np.ravel(expected["a"])[0], rel=1e-3)


@pytest.mark.slow
@needs_reference
@pytest.mark.parametrize("name", MATRICES)
def test_a_tenth_of_the_items_beats_random_ones_and_covers(name):
    models, found = answers(name)
    judge = Judge(found, models)
    judged = judge.judge(round(found.passed.shape[1] / 10))
    assert judge.n_models == len(models)
    low, _ = judged.chosen.gain_over(judged.plain)
    assert low > 0
    assert max(judged.chosen.mae, judged.random.mae) < judged.plain.mae
    assert all(each.coverage >= 0.85 for each in judged[:3])
    if "held_out" in oracle(name):
        known = oracle(name)["held_out"]["by_fraction"]["0.1"]
        assert judged.chosen.mae < known["mae_1pl"]
        assert judged.plain.mae == pytest.approx(known["mae_subset_mean"], rel=0.05)


@pytest.mark.slow
@needs_reference
def test_the_choice_is_better_than_chance_on_average():
    ratios = []
    for name in MATRICES:
        models, found = answers(name)
        judge = Judge(found, models)
        for share in (0.1, 0.3):
            judged = judge.judge(round(found.passed.shape[1] * share))
            ratios.append(judged.chosen.mae / judged.random.mae)
    assert np.mean(ratios) < 0.95
    assert max(ratios) < 1.05


@pytest.mark.slow
@needs_reference
def test_the_choice_does_not_depend_on_the_last_digits():
    _, found = answers("crux")
    bank = fit_bank(*found)
    noise = np.random.default_rng(1).normal(0, 1e-9, len(bank.intercepts))
    other = Bank(bank.slope * (1 + 1e-9), bank.intercepts + noise)
    np.testing.assert_array_equal(choose_items(bank, found, 80), choose_items(other, found, 80))


@pytest.mark.slow
@needs_reference
def test_the_smallest_subset_is_narrow_enough_and_one_less_is_not():
    models, found = answers("terminal-bench-1.0")
    judge = Judge(found, models)
    n_items, judged = judge.smallest(0.1)
    assert judged.chosen.half_width <= 0.1 < judge.judge(n_items - 1).chosen.half_width
    assert judge.smallest(1e-6) is None


def test_a_subset_leaves_out_what_tells_nothing_and_has_every_band():
    found = drawn(40, 60)
    found.passed[:, :5], found.passed[:, 5:10] = 0, 1
    bank = fit_bank(*found)
    items = choose_items(bank, found, 10)
    assert len(set(items)) == 10
    assert min(items) >= 10
    shares = np.sort(found.passed[:, items].mean(axis=0))
    lowest, highest = np.quantile(found.passed[:, 10:].mean(axis=0), [0.1, 0.9])
    assert shares[0] <= lowest
    assert shares[-1] >= highest
    assert len(choose_items(bank, found, 60)) == 50


def test_a_noisy_item_is_not_chosen():
    found = drawn(200, 40)
    found.passed[:, 7] = np.random.default_rng(3).random(200) < 0.5
    assert 7 not in choose_items(fit_bank(*found), found, 8)


def test_an_item_that_was_asked_counts_as_it_was_answered():
    found = drawn(30, 50)
    bank = fit_bank(*found)
    whole = predict_scores(bank, *found)
    assert whole.scores == pytest.approx(found.passed.mean(axis=1))
    assert whole.errors == pytest.approx(np.zeros(30), abs=1e-9)
    part = predict_scores(bank, *found.only(np.arange(25)))
    assert (part.errors > 0.01).all()
    nothing = predict_scores(bank, *found.only(np.array([], dtype=int)))
    assert np.ptp(nothing.scores) == pytest.approx(0, abs=1e-12)


@pytest.mark.slow
def test_missing_answers_are_neither_passed_nor_failed():
    found = drawn(40, 80)
    kept = np.random.default_rng(2).random(found.passed.shape) < 0.95
    part = Answers(found.passed * kept, found.attempts * kept)
    judge = Judge(part, [f"m{n}" for n in range(40)])
    assert judge.n_models > 30
    assert judge.judge(40).chosen.mae < 0.05


@pytest.mark.slow
def test_a_family_is_never_on_both_sides():
    found = drawn(30, 40)
    twins = Answers(np.repeat(found.passed, 2, axis=0), np.repeat(found.attempts, 2, axis=0))
    names = [f"m{n}" for n in range(30)]
    apart = Judge(twins, [f"{name}-{n}" for name in names for n in range(2)]).judge(10)
    together = Judge(twins, [name for name in names for _ in range(2)]).judge(10)
    assert together.n_models == apart.n_models == 60
    assert np.allclose(together.chosen.errors[0, ::2], together.chosen.errors[0, 1::2])
    assert not np.allclose(apart.chosen.errors[0, ::2], apart.chosen.errors[0, 1::2])


def test_the_interval_of_few_models_is_infinite():
    assert interval_factor(np.arange(8.0)) == np.inf
    assert interval_factor(np.arange(9.0)) == 8
    assert interval_factor(np.zeros(20)) == pytest.approx(1.6448536)
