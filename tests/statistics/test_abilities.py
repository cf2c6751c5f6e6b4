"""Abilities and items: known truths come back, within their errors."""

import numpy as np
import pytest
from item_response_cases import cells_of, drawn

from warehouse.engine.statistics.abilities import choose_model, errors, estimate, misfit
from warehouse.engine.statistics.item_response import fit_marginal


def test_a_complete_matrix_ranks_as_the_pass_rate_does():
    *_, cells = drawn(12, 60)
    ability = estimate(cells, "rasch").ability
    n_passed = np.bincount(cells.system, cells.passed)
    gaps = np.subtract.outer(ability, ability)
    assert (gaps[np.greater.outer(n_passed, n_passed)] > 0.01).all()
    assert np.abs(gaps[np.equal.outer(n_passed, n_passed)]).max() < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "n_systems", "slope_sd"), [("rasch", 20, 0.0), ("2pl", 20, 0.4), ("2pl", 120, 0.4)]
)
def test_answers_missing_at_random_give_back_the_truth(model, n_systems, slope_sd):
    distances = ([], [], [])
    for seed in range(10 if n_systems < 100 else 2):
        *truth, cells = drawn(n_systems, 300, missing=0.6, slope_sd=slope_sd, seed=seed)
        found = estimate(cells, model)
        error = errors(cells, found, model)
        stderr = np.sqrt(np.diagonal(error.covariance))
        assert (error.linking < stderr).all()
        assert np.corrcoef(found.ability, truth[0])[0, 1] > 0.85
        distances[0].extend((found.ability - truth[0]) / stderr)
        distances[1].extend((found.difficulty - truth[1]) / error.difficulty)
        if model == "2pl":
            distances[2].extend(np.log(found.slope / truth[2]) / error.log_slope)
        of_systems, of_items = misfit(cells, found)
        assert of_systems.infit.mean() == pytest.approx(1, abs=0.12)
        # Seven answers to an item, or so, say little of its two parameters.
        assert model == "2pl" or of_items.infit.mean() == pytest.approx(1, abs=0.12)
    for values in distances:
        assert not values or np.mean(np.abs(values) < 1.96) > 0.92


def test_the_errors_are_those_of_all_parameters_together():
    *_, cells = drawn(6, 9, missing=0.2)
    found = estimate(cells, "rasch")
    chance = found.chances(cells)
    weight = chance * (1 - chance)
    n = cells.n_systems + cells.n_items
    information = np.zeros((n, n))
    information[: cells.n_systems, : cells.n_systems] = np.eye(cells.n_systems) / 3**2
    for item in range(cells.n_items):
        # An item is expected where the systems are that answered it.
        gradient = np.zeros(n)
        answered = cells.system[cells.item == item]
        gradient[answered], gradient[cells.n_systems + item] = -1 / len(answered), 1
        information += np.outer(gradient, gradient) / 3**2
    for system, item, each in zip(cells.system, cells.item, weight, strict=True):
        gradient = np.zeros(n)
        gradient[system], gradient[cells.n_systems + item] = 1, -1
        information += each * np.outer(gradient, gradient)
    centring = np.eye(n)
    centring[:, : cells.n_systems] -= 1 / cells.n_systems
    covariance = centring @ np.linalg.inv(information) @ centring.T
    error = errors(cells, found, "rasch")
    of_systems = covariance[: cells.n_systems, : cells.n_systems]
    assert error.covariance == pytest.approx(of_systems, rel=1e-9)
    of_items = np.sqrt(np.diagonal(covariance)[cells.n_systems :])
    assert error.difficulty == pytest.approx(of_items, rel=1e-9)


@pytest.mark.slow
def test_the_model_that_predicts_better_is_chosen():
    *_, rasch = drawn(30, 200)
    *_, two_parameters = drawn(30, 200, slope_sd=1.0)
    assert choose_model(rasch)[0] == "rasch"
    model, gain = choose_model(two_parameters)
    assert model == "2pl"
    assert gain > 0
    *_, many = drawn(100, 10)
    assert choose_model(many) == ("2pl", None)


def test_both_ways_to_integrate_agree_where_systems_and_items_are_many():
    *_, cells = drawn(90, 90)
    fit = fit_marginal(cells, "rasch")
    found = estimate(cells, "rasch")
    difficulty = fit.intercept - (fit.slope * fit.ability).mean()
    # Items of which all or nothing passes are drawn to the mean by either prior.
    is_inside = np.abs(difficulty) < 3
    assert found.difficulty[is_inside] == pytest.approx(difficulty[is_inside], abs=0.1)


def test_attempts_that_agree_widen_the_errors():
    answers = np.random.default_rng(4).integers(0, 2, (8, 30)).astype(float)
    once, alike = cells_of(answers), cells_of(answers, attempts=4.0)
    stderr = [
        np.sqrt(np.diagonal(errors(cells, estimate(cells, "rasch"), "rasch").covariance)).mean()
        for cells in (once, alike)
    ]
    # Four attempts that always agree say no more than one.
    assert stderr[1] == pytest.approx(stderr[0], rel=0.15)


def test_a_system_that_fails_everything_has_a_finite_ability_and_a_large_error():
    answers = np.random.default_rng(3).integers(0, 2, (8, 20)).astype(float)
    answers[0], answers[1] = 0, 1
    found = estimate(cells_of(answers), "rasch")
    error = np.sqrt(np.diagonal(errors(cells_of(answers), found, "rasch").covariance))
    assert found.ability.argmin() == 0
    assert found.ability.argmax() == 1
    assert np.isfinite(found.ability).all()
    assert error[:2].min() > 1.3 * error[2:].max()
