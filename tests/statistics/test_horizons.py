"""Fits of time horizons: equal to another program's, and the optimum of what they minimise."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import NO_REFERENCE, REFERENCE

from warehouse.engine.statistics.arrays import cluster_indices
from warehouse.engine.statistics.horizons import fit_horizons, resample_runs, run_weights

FOLDER = REFERENCE / "items" / "metr" / "cyber"
needs_items = pytest.mark.skipif(not FOLDER.is_dir(), reason=NO_REFERENCE)


class Runs:
    """The runs of a model in the reference data."""

    def __init__(self, model):
        lines = (FOLDER / "all_runs.jsonl").read_text().splitlines()
        runs = [run for run in map(json.loads, lines) if run["alias"] == model]
        self.minutes = np.array([run["human_minutes"] for run in runs])
        self.passed = np.array([float(run["score_binarized"]) for run in runs])
        self.recorded = np.array([run["equal_task_weight"] for run in runs])
        self.levels = [cluster_indices([r[n] for r in runs]) for n in ("task_family", "task_id")]


def oracle(rule):
    return json.loads((FOLDER / "oracle.json").read_text())["variants"][rule]


@needs_items
@pytest.mark.parametrize("rule", ["published_rule", "metr_1_1_rule"])
def test_fits_are_those_of_the_oracle(rule):
    regularisation = oracle(rule)["reg"]
    for model, expected in oracle(rule)["models"].items():
        runs = Runs(model)
        weights = run_weights(*runs.levels, by_family=True)
        weights = runs.recorded if rule == "published_rule" else weights
        fits = fit_horizons(runs.minutes, runs.passed, weights[np.newaxis], regularisation)
        found = fits.intercepts[0], fits.slopes[0], fits.minutes(0.5)[0], fits.minutes(0.8)[0]
        names = ("intercept_newton", "slope_newton", "p50_newton", "p80_newton")
        assert found == pytest.approx([expected[name] for name in names], rel=1e-9)
        # A solver that stops early is as far from the optimum.
        assert found[2] == pytest.approx(expected["p50_sklearn"], rel=2e-3)
        published = expected.get("published", {"p50": found[2], "average": expected["average"]})
        assert found[2] == pytest.approx(published["p50"], rel=2e-3)


@pytest.mark.slow
@needs_items
def test_intervals_are_near_those_of_the_oracle():
    expected = oracle("metr_1_1_rule")["bootstrap"]["p50_quantiles_2.5_50_97.5"]
    for model in ("O4 Mini", "Claude 3.5 Haiku", "GPT 2"):
        runs = Runs(model)
        counts = resample_runs(*runs.levels, 2000, np.random.default_rng(1))
        weights = run_weights(*runs.levels, by_family=True) * counts
        draws = fit_horizons(runs.minutes, runs.passed, weights, 1e-5).minutes(0.5)
        low, middle, high = np.quantile(draws, (0.025, 0.5, 0.975))
        # The oracle has 300 draws; GPT 2 passed few tasks, so that its lower end is uncertain.
        assert (middle, high) == pytest.approx(expected[model][1:], rel=0.15)
        assert low == pytest.approx(expected[model][0], rel=0.15 if model != "GPT 2" else 1)


@given(st.lists(st.tuples(st.integers(-40, 100), st.booleans()), min_size=2), st.integers(0, 5))
def test_a_fit_is_the_optimum(drawn, exponent):
    minutes = np.array([2.0 ** (each / 10) for each, _ in drawn])
    passed = np.array([float(each) for _, each in drawn])
    weights = np.linspace(1, 2, len(drawn))
    weights /= weights.sum()
    regularisation = 10.0**-exponent
    fits = fit_horizons(minutes, passed, np.stack((weights, weights)), regularisation)
    assert fits.slopes[0] == pytest.approx(fits.slopes[1], nan_ok=True, abs=1e-9)
    if len({*passed}) == 1:
        assert (fits.intercepts[0], fits.slopes[0]) == pytest.approx(
            (np.inf if passed[0] else -np.inf, np.nan), nan_ok=True
        )
        assert fits.minutes(0.5)[0] == (np.inf if passed[0] else 0)
        return
    x = np.log2(minutes)
    errors = weights * (passed - 1 / (1 + np.exp(-fits.intercepts[0] - fits.slopes[0] * x)))
    assert errors.sum() == pytest.approx(0, abs=1e-9)
    assert errors @ x - regularisation * fits.slopes[0] == pytest.approx(0, abs=1e-9)


def test_complete_separation_has_a_horizon_between_the_tasks():
    minutes, passed = np.array([1.0, 2.0, 8.0, 16.0]), np.array([1.0, 1.0, 0.0, 0.0])
    fits = fit_horizons(minutes, passed, np.full((1, 4), 0.25), 1e-9)
    assert fits.minutes(0.5)[0] == pytest.approx(4)
    assert 2 < fits.minutes(0.8)[0] < 4


def test_longer_tasks_that_are_passed_more_often_give_no_horizon():
    minutes, passed = np.array([1.0, 2.0, 8.0, 16.0]), np.array([0.0, 0.0, 1.0, 1.0])
    fits = fit_horizons(minutes, passed, np.full((1, 4), 0.25), 0.1)
    assert fits.slopes[0] > 0
    assert np.isnan(fits.minutes(0.5)[0])
    alike = fit_horizons(np.full(4, 2.0), passed, np.full((1, 4), 0.25), 0.1)
    assert np.isnan(alike.minutes(0.5)[0])


def test_weights_are_of_tasks_and_families():
    families, tasks = np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 2, 3])
    families, tasks = np.append(families, [1, 1]), np.append(tasks, [4, 5])
    equal = run_weights(families, tasks, by_family=False)
    assert equal == pytest.approx(np.array([0.5, 0.5, 1, 1, 1, 1, 1]) / 6)
    root = run_weights(families, tasks, by_family=True)
    assert root.sum() == pytest.approx(1)
    assert root[2] / root[3] == pytest.approx(np.sqrt(4) / np.sqrt(2))
    assert root[0] == pytest.approx(root[2] / 2)


@pytest.mark.slow
def test_draws_are_those_of_a_plain_loop():
    """Compare the distribution of counts with families, tasks and runs drawn one by one."""
    families, tasks = np.array([0, 0, 0, 0, 1, 2]), np.array([0, 0, 1, 2, 3, 4])
    rng = np.random.default_rng(3)
    counts = resample_runs(families, tasks, 20_000, rng)
    plain = np.zeros((20_000, 6))
    for draw in plain:
        for family in rng.integers(3, size=3):
            members = np.unique(tasks[families == family])
            for task in rng.choice(members, len(members)):
                runs = np.flatnonzero(tasks == task)
                for run in rng.choice(runs, len(runs)):
                    draw[run] += 1
    assert counts.mean(axis=0) == pytest.approx(np.ones(6), abs=0.05)
    assert np.cov(counts.T) == pytest.approx(np.cov(plain.T), abs=0.12)
    sizes = Counter(families.tolist())
    for family, size in sizes.items():
        n_runs = counts[:, families == family].sum(axis=1)
        assert size != 1 or set(n_runs) <= {0, 1, 2, 3}


def test_intervals_of_single_results_contain_the_truth():
    random = np.random.default_rng(5)
    n_models, n_tasks = 150, 10
    single = np.arange(n_tasks)
    hits = 0
    for _ in range(n_models):
        x = random.uniform(0, 11, n_tasks)
        passed = (random.random(n_tasks) < 1 / (1 + np.exp(0.8 * (x - 5)))).astype(float)
        weights = resample_runs(single, single, 200, random) / n_tasks
        draws = fit_horizons(2**x, passed, weights, 1e-5).minutes(0.5)
        # Draws without a horizon may lie anywhere.
        low, high = (
            np.quantile(np.nan_to_num(draws, nan=beyond, posinf=np.inf), end, method="inverted_cdf")
            for end, beyond in ((0.025, -np.inf), (0.975, np.inf))
        )
        hits += low <= 2.0**5 <= high
    assert hits / n_models > 0.91
