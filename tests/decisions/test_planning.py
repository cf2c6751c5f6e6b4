"""`evalstore plan`: how many tasks and attempts a comparison takes."""

import json
import random
from functools import partial

import numpy as np
import pytest
from gate_cases import write
from support import command, kept_open, new_store

from warehouse.engine.statistics.bounded_means import bounded_mean_limits
from warehouse.engine.statistics.detectable import variance_of_bounds
from warehouse.engine.statistics.sample_size import (
    tasks_needed,
    tasks_needed_for_margin,
    tasks_needed_of_verdicts,
    variance_of_difference,
)


def runs(passed_by_model, cost):
    """Yield a run of each model; `passed` has the verdicts of the attempts at each task."""
    for model, passed in passed_by_model.items():
        key = {"suite": "mine", "run_id": model, "generation": "root"}
        run = {**key, "content_id": model, "origin": "import", "run_date": "2026-04-01"}
        yield (
            run,
            [
                {
                    **key,
                    "content_id": f"{model} {n} {attempt}",
                    "seq": n,
                    "model": model,
                    "task_set": "mine",
                    "task_id": f"t{n}",
                    "attempt": attempt + 1,
                    "answer": "x",
                    "is_correct": verdict,
                    "cost_usd": cost.get(model),
                }
                for n, verdicts in enumerate(passed)
                for attempt, verdict in enumerate(verdicts)
            ],
        )


def answers(rate, n_tasks, attempts, seed):
    random_ = random.Random(seed)
    return [[random_.random() < rate for _ in range(attempts)] for _ in range(n_tasks)]


ANSWERS = {
    "a": answers(0.8, 80, 3, 1),
    "b": answers(0.6, 80, 3, 2),
    "once": answers(0.7, 80, 1, 3),
    "again": answers(0.5, 80, 1, 4),
    "few": answers(0.7, 10, 1, 5),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("plan") / "store")
    write(store, *runs(ANSWERS, {"a": 0.01, "b": 0.03}))
    yield from kept_open(store)


def plan(store, *arguments):
    ended = command(store.path, "plan", *arguments, "--format", "json")
    assert (ended.code, ended.err) == (0, "")
    return json.loads(ended.out)


def test_the_rows_are_those_of_the_formula(store):
    rows = plan(store, "a", "b", "--difference", "0.15")
    variance = variance_of_difference(
        *([[float(x) for x in task] for task in ANSWERS[model]] for model in "ab")
    )
    means = (np.array([np.mean(task) for task in ANSWERS[model]]) for model in "ab")
    differences = np.subtract(*means)
    limits = bounded_mean_limits(differences, -1, 1)
    several = partial(tasks_needed, bounds=variance_of_bounds(differences, limits, None))
    assert [row["n_attempts"] for row in rows] == [1, 2, 3, 5, 10]
    for row in rows:
        k = row["n_attempts"]
        needed = tasks_needed_of_verdicts if k == 1 else several
        assert row["n_tasks"] == needed(variance.of_task(k), 0.15)
        assert row["n_tasks"] < row["n_tasks_safe"] < 2 * row["n_tasks"]
        assert row["n_calls"] == 2 * k * row["n_tasks_safe"]
        assert row["cost_usd"] == pytest.approx(0.04 * k * row["n_tasks_safe"])
        assert row["variance_within"] == pytest.approx(variance.within)
    [best] = [row for row in rows if row["is_cheapest"]]
    feasible = [row for row in rows if row["n_tasks_safe"] <= 80]
    assert best["n_calls"] == min(row["n_calls"] for row in feasible)


def test_a_single_model_is_compared_with_one_like_it(store):
    rows = plan(store, "a", "--difference", "0.1", "--attempts", "1", "--attempts", "4")
    assert [(row["b"], row["n_attempts"]) for row in rows] == [(None, 1), (None, 4)]
    assert rows[0]["cost_usd"] == pytest.approx(0.02 * rows[0]["n_tasks_safe"])
    alike = plan(store, "a", "--difference", "0.1", "--correlation", "1", "--attempts", "4")
    assert alike[0]["n_tasks"] <= rows[1]["n_tasks"]


def test_single_attempts_plan_single_attempts(store):
    rows = plan(store, "once", "again", "--difference", "0.1")
    assert [row["n_tasks"] is None for row in rows] == [False, True, True, True, True]
    assert rows[0]["cost_usd"] is None
    assert rows[0]["is_cheapest"]
    one_priced = plan(store, "a", "once", "--difference", "0.1", "--attempts", "1")
    assert [row["cost_usd"] for row in one_priced] == [None]


def test_the_sentence_comes_first(store):
    ended = command(store.path, "plan", "a", "b", "--difference", "0.1")
    first = ended.out.splitlines()[0]
    assert first.startswith(
        "mine, passed: 80 % power to detect a difference between a and b of 10 points takes "
    )
    assert " tasks if the pilot is right, " in first
    assert "US dollars). The pilot is the 80 tasks of the store. They have that power for " in first
    once = command(store.path, "plan", "once", "again", "--difference", "0.1", "--power", "0.9")
    assert "90 % power" in once.out
    assert "No task has two attempts, so that more attempts cannot be planned." in once.out


@pytest.mark.slow
def test_a_gate_is_planned_by_its_own_test(store):
    arguments = ("once", "again", "--difference", "0.1", "--attempts", "1")
    [gate] = plan(store, *arguments, "--margin", "0.02")
    share = sum(a != b for a, b in zip(ANSWERS["once"], ANSWERS["again"], strict=True)) / 80
    assert gate["n_tasks"] == tasks_needed_for_margin(share, 0.1, 0.02)
    [compared] = plan(store, *arguments)
    [equality] = plan(store, *arguments, "--margin", "0")
    # The test of a gate is one-sided, and a margin leaves less to be found.
    assert equality["n_tasks"] < compared["n_tasks"]
    assert equality["n_tasks"] < gate["n_tasks"]
    text = command(store.path, "plan", *arguments, "--margin", "0.02").out
    assert "a drop between once and again, of which the gate allows 2 points, of 10 points" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["few", "--difference", "0.1"],
            "'few': fewer than 20 tasks, or 6 clusters of them, with values of 'passed'",
        ),
        (
            ["a", "--difference", "0.1", "--metric", "x"],
            "fewer than 20 tasks, or 6 clusters of them, with values of 'x'",
        ),
        (["lacking", "--difference", "0.1"], "no results of a model 'lacking'"),
        (["a", "--difference", "0"], "--difference"),
        (["a", "--difference", "5"], "'passed' goes from 0 to 1; 5 points are 0.05"),
        (["a", "--difference", "0.1", "--margin", "0.1"], "--margin 0.1: a gate finds drops above"),
    ],
)
def test_what_cannot_be_planned_is_refused(store, arguments, message):
    ended = command(store.path, "plan", *arguments)
    assert ended.code == 2
    assert message in ended.err


@pytest.mark.slow
def test_a_plan_and_a_comparison_find_the_same_difference(tmp_path):
    store = new_store(tmp_path / "own")
    for model in ("one", "two"):
        with store.record(suite="quiz", model=model) as run:
            for n in range(24):
                run.log(task_id=str(n), output="x", passed=n % 3 == 0)
    ended = command(store.path, "plan", "one", "two", "--difference", 0.1, "--format", "json")
    planned = json.loads(ended.out)[0]["detectable_difference"]
    [compared] = json.loads(command(store.path, "compare", "one", "two", "--format", "json").out)
    assert planned == compared["detectable_difference"]
