"""Item response models: the fits of other programs, and published digits."""

import csv
import json

import numpy as np
import pytest
from item_response_cases import cells_of, drawn
from support import NO_REFERENCE, REFERENCE

from warehouse.engine.statistics import item_response
from warehouse.engine.statistics.item_response import fit_guessed, fit_marginal

ITEMS = REFERENCE / "items"
needs_items = pytest.mark.skipif(not ITEMS.is_dir(), reason=NO_REFERENCE)
MODELS = {"rasch": "1pl", "2pl": "2pl"}


def lsat6():
    with (ITEMS / "lsat6" / "patterns.csv").open() as file:
        rows = list(csv.DictReader(file))
    patterns = np.array([[float(digit) for digit in row["pattern"]] for row in rows])
    return np.repeat(patterns, [int(row["count"]) for row in rows], axis=0)


def crux():
    oracle = json.loads((ITEMS / "zeroeval" / "oracle.json").read_text())
    with (ITEMS / "zeroeval" / "crux.matrix.csv").open() as file:
        [_, *systems], *rows = csv.reader(file)
    matrix = np.array([[float(cell or 0) for cell in row[1:]] for row in rows]).T
    return oracle, systems, [row[0] for row in rows], matrix


def bash_only():
    oracle = json.loads((ITEMS / "eval_arena" / "oracle.json").read_text())
    lines = (ITEMS / "eval_arena" / "swebench-bash-only.jsonl").read_text().splitlines()
    shares = {(row["model"], row["example_id"]): row["pass1"] for row in map(json.loads, lines)}
    systems, items = (sorted(set(names)) for names in zip(*shares, strict=True))
    matrix = np.array([[shares[system, item] for item in items] for system in systems], float)
    return oracle["swebench-bash-only"], systems, items, matrix


@needs_items
@pytest.mark.parametrize("model", MODELS)
def test_lsat6_has_the_known_digits(model):
    oracle = json.loads((ITEMS / "lsat6" / "oracle.json").read_text())
    fit = fit_marginal(cells_of(lsat6()), model, has_priors=False)
    own = oracle["own_mml"][MODELS[model]]
    assert fit.slope == pytest.approx(own["a"], abs=1e-4)
    assert fit.intercept / fit.slope == pytest.approx(own["b"], abs=1e-4)
    published = oracle["known_published"][MODELS[model]]
    assert fit.log_likelihood == pytest.approx(published["loglik"], abs=5e-4)
    # The two programs' own nodes differ in the fourth decimal of the 2PL's slopes.
    tolerance = 1e-4 if model == "rasch" else 2.5e-3
    assert fit.intercept / fit.slope == pytest.approx(published["difficulty"], abs=tolerance)


@pytest.mark.slow
@needs_items
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("load", [crux, bash_only])
def test_fits_are_those_of_another_program(load, model):
    oracle, systems, items, matrix = load()
    fit = fit_marginal(cells_of(matrix), model)
    expected = oracle["irt"][MODELS[model]]
    slopes = expected["a"]
    slopes = [slopes[item] for item in items] if model == "2pl" else [slopes] * len(items)
    assert fit.slope == pytest.approx(slopes, abs=1e-3)
    assert fit.intercept == pytest.approx([expected["d"][item] for item in items], abs=1e-3)
    abilities = np.array([expected["theta_eap"][system] for system in systems])
    assert fit.ability == pytest.approx(abilities[:, 0], abs=1e-3)
    assert fit.ability_sd == pytest.approx(abilities[:, 1], abs=1e-3)
    # girth's nodes do not resolve hundreds of items: the order agrees, not the digits.
    girth = {items.index(item): b for item, b in oracle["girth_1pl"]["b"].items()}
    ours = (fit.intercept / fit.slope)[list(girth)]
    if model == "rasch":
        assert np.corrcoef(ours, list(girth.values()))[0, 1] >= 0.996


@pytest.mark.parametrize("model", MODELS)
def test_attempts_count_as_answers(model):
    draw = np.random.default_rng(5)
    shares = draw.binomial(4, 0.6, (12, 9)) / 4
    fit = fit_marginal(cells_of(shares, attempts=4.0), model)
    # Four items of the same parameters, asked once each, say as much of a system.
    passed = np.concatenate([shares * 4 > attempt for attempt in range(4)], axis=1).astype(float)
    single = cells_of(passed)
    single = single._replace(item=single.item % 9, n_items=9)
    again = fit_marginal(single, model)
    for ours, theirs in zip(fit[:4], again[:4], strict=True):
        assert ours == pytest.approx(theirs, abs=1e-3)


def test_guesses_take_few_steps_to_fit(monkeypatch):
    """Without scales of the slope and the guess, it takes 136."""
    losses = []

    class Counted(item_response._Guessed):
        def loss(self, parameters):
            losses.append(super().loss(parameters))
            return losses[-1]

    monkeypatch.setattr(item_response, "_Guessed", Counted)
    _, difficulty, _, cells = drawn(30, 1000)
    guessed = np.random.default_rng(1).random(len(cells.item)) < 0.25
    cells = cells._replace(passed=np.maximum(cells.passed, guessed))
    _, intercepts, guess = fit_guessed(cells)
    assert len(losses) < 80
    assert 0.15 < guess < 0.3
    assert np.corrcoef(intercepts, difficulty)[0, 1] > 0.9
