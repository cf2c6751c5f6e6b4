"""Adaptive order: what is asked next, and when it stops."""

import numpy as np
import pytest
from support import needs_reference

from tests.items.matrices import answers, drawn
from warehouse.analysis.items.adaptive import AdaptiveOrder, calibrate, replay
from warehouse.analysis.items.bank import Bank, fit_bank
from warehouse.analysis.items.subsets import Answers, Judge, interval_factor

BANK = Bank(1.5, np.linspace(-4, 4, 401))
ALL = np.ones(401, dtype=bool)


def test_the_first_items_are_spread_over_all_difficulties():
    first = AdaptiveOrder(BANK, 1.96, 0.05).next_items(ALL, 4)
    assert len(first) == 8
    assert np.diff(BANK.intercepts[first]).min() > 0.9


def test_the_next_items_have_an_even_chance():
    order = AdaptiveOrder(BANK, 1.96, 0.01)
    for item in order.next_items(ALL, 8):
        order.answer(item, passed=BANK.intercepts[item] < 2)
    ability = order.prediction().abilities[0]
    chosen = order.next_items(ALL, 3)
    assert np.abs(1.5 * ability - BANK.intercepts[chosen]).max() < 0.05
    closed = ALL.copy()
    closed[chosen] = False
    assert not set(chosen) & set(order.next_items(closed, 3))


def test_it_stops_when_the_interval_is_narrow():
    passed = (BANK.intercepts < 1).astype(float)
    order = AdaptiveOrder(BANK, 1.96, 0.05)
    predicted, n_asked = replay(order, passed, np.ones(401), 8)
    assert order.half_width() <= 0.05
    assert 8 < n_asked < 200
    assert predicted.scores[0] == pytest.approx(passed.mean(), abs=0.05)
    everything = AdaptiveOrder(BANK, 1.96, 1e-9)
    predicted, n_asked = replay(everything, passed, np.ones(401), 8)
    assert n_asked == 401
    assert predicted.scores[0] == pytest.approx(passed.mean())


class RandomOrder(AdaptiveOrder):
    """The same estimator and rule, with items in the order of their numbers."""

    def next_items(self, open_items, n_items):
        return np.flatnonzero(open_items)[: len(super().next_items(open_items, n_items))]


def test_it_asks_fewer_items_than_random_order():
    found = drawn(60, 500, spread=2.0)
    bank = fit_bank(found.passed[:30], found.attempts[:30])
    asked = [
        [replay(kind(bank, 1.96, 0.05), passed, np.ones(500), 8)[1] for passed in found.passed[30:]]
        for kind in (AdaptiveOrder, RandomOrder)
    ]
    assert np.mean(asked[0]) < 0.75 * np.mean(asked[1])


@pytest.mark.slow
@needs_reference
def test_the_interval_covers_the_stored_models():
    models, found = answers("swebench-bash-only")
    judge = Judge(found, models)
    factor, n_asked = calibrate(judge, 0.05, 8)
    assert factor >= 1.96
    assert 50 < n_asked < 400
    covered = []
    for fold in judge.folds:
        for model in fold.test:
            order = AdaptiveOrder(fold.bank, factor, 0.05)
            predicted, _ = replay(order, found.passed[model], found.attempts[model], 8)
            off = abs(predicted.scores[0] - judge.truth[model])
            covered.append(off <= max(order.half_width(), 1e-9))
    assert np.mean(covered) >= 0.85


@pytest.mark.slow
@pytest.mark.parametrize("guess", [0, 0.25])
def test_the_chance_to_guess_is_estimated(guess):
    found = drawn(100, 200, seed=3)
    guessed = np.random.default_rng(4).random(found.passed.shape) < guess
    passed = np.maximum(found.passed, guessed)
    bank = fit_bank(passed, found.attempts, has_guesses=True)
    assert bank.guess == pytest.approx(guess, abs=0.04)
    if guess == 0:
        rasch = fit_bank(passed, found.attempts)
        np.testing.assert_allclose(bank.intercepts, rasch.intercepts, atol=1e-2)
    else:
        assert bank.slope == pytest.approx(1.5, abs=0.2)


def test_where_answers_can_be_guessed_easier_items_are_asked():
    order = AdaptiveOrder(Bank(1.5, BANK.intercepts, 0.25), 1.96, 0.01)
    for item in order.next_items(ALL, 8):
        order.answer(item, passed=BANK.intercepts[item] < 2)
    [item] = order.next_items(ALL, 1)
    knows = 1 / (1 + np.exp(BANK.intercepts - 1.5 * order.prediction().abilities[0]))
    information = (knows * (1 - knows)) ** 2 / ((0.25 + 0.75 * knows) * (1 - knows))
    assert item == np.argmax(information)


@pytest.mark.slow
def test_where_answers_are_guessed_the_rule_that_is_used_covers():
    """A larger factor stops later, where a model that does not hold is off by more errors."""
    found = drawn(40, 300, seed=3)
    guessed = np.random.default_rng(4).random(found.passed.shape) < 0.25
    judge = Judge(
        Answers(np.maximum(found.passed, guessed), found.attempts), list(map(str, range(40)))
    )
    factor, _ = calibrate(judge, 0.05, 8)
    distances = []
    for fold in judge.folds:
        for model in fold.test:
            order = AdaptiveOrder(fold.bank, factor, 0.05)
            predicted, _ = replay(order, judge.answers.passed[model], np.ones(300), 8)
            off = abs(predicted.scores[0] - judge.truth[model])
            distances.append(off / predicted.errors[0])
    assert factor > 1.96
    assert interval_factor(np.array(distances)) <= factor
