"""`evalstore abilities`: one scale for systems that answered different items."""

import json
from dataclasses import replace

import numpy as np
import pytest
from support import add_rows, command

from warehouse.analysis.items.abilities import find_abilities
from warehouse.analysis.items.responses import Responses
from warehouse.core.errors import BadInput


def with_answers(store, answers):
    """Store answers (models, tasks), NaN where a model was not asked."""
    key = {"run_id": "r", "generation": "root"}
    rows = [
        {
            "suite": "s",
            **key,
            "content_id": f"{model}-{task}",
            "seq": 1000 * model + task,
            "task_set": "bank",
            "task_id": f"t{task:03}",
            "attempt": 1,
            "model": f"m{model:02}",
            "objective_pass": bool(answers[model, task]),
        }
        for model, task in np.argwhere(~np.isnan(answers)).tolist()
    ]
    add_rows(store.lake, runs=[{"suite": "s", **key, "content_id": "run"}], results=rows)
    store.sync()
    return store.path


def drawn(n_models=8, n_tasks=40, missing=0.0, spread=1.0):
    draw = np.random.default_rng(2)
    ability, difficulty = np.linspace(2, -2, n_models), draw.normal(0, spread, n_tasks)
    chance = 1 / (1 + np.exp(difficulty - ability[:, np.newaxis]))
    answers = (draw.random(chance.shape) < chance).astype(float)
    answers[draw.random(chance.shape) < missing] = np.nan
    return answers


@pytest.mark.slow
def test_a_complete_matrix_ranks_as_the_pass_rate_does_and_says_so(store):
    ended = command(with_answers(store, drawn()), "abilities", "s", "--format", "json")
    rows = json.loads(ended.out)
    assert ended.code == 0
    assert "abilities rank as the pass rates do" in ended.err
    rates = [row["pass_rate"] for row in rows]
    assert rates == sorted(rates, reverse=True)
    assert rows[0]["system"] == "m00"
    for row in rows:
        assert row["rank_low"] <= row["rank"] <= row["rank_high"]
        assert row["ability_low"] < row["ability"] < row["ability_high"]
        assert (row["n_items"], row["shared_rate"], row["method"]) == (40, 1, "rasch 1")
    # Neighbours are not told apart by 40 items, the ends are.
    assert rows[0]["rank_high"] > 1
    assert rows[0]["rank_high"] < rows[-1]["rank_low"]


def test_the_digest_changes_with_an_answer_only():
    answers = drawn()
    first, again = (find_abilities(Responses.from_matrix(answers), "s", "rasch") for _ in range(2))
    assert first.inputs == again.inputs
    answers[0, 0] = 1 - answers[0, 0]
    assert find_abilities(Responses.from_matrix(answers), "s", "rasch").inputs != first.inputs


@pytest.mark.slow
def test_the_order_of_the_cells_changes_no_figure():
    sparse = Responses.from_matrix(drawn(missing=0.4))
    order = np.random.default_rng(1).permutation(len(sparse.system))
    names = ("system", "item", "passed", "attempts")
    mixed = replace(sparse, **{name: getattr(sparse, name)[order] for name in names})
    ours, theirs = (find_abilities(each, "s") for each in (sparse, mixed))
    assert ours.inputs == theirs.inputs
    assert (ours.found.ability == theirs.found.ability).all()
    assert ours.gain == theirs.gain


@pytest.mark.slow
def test_models_that_answered_easier_tasks_are_not_abler(store):
    answers = drawn(10, 120, spread=2.0)
    # The weak half was asked the tasks that most pass, the strong half the others; all share ten.
    order = np.argsort(-answers.mean(axis=0), kind="stable")
    answers[:5, order[:55]] = np.nan
    answers[5:, order[65:]] = np.nan
    ended = command(with_answers(store, answers), "abilities", "s", "--format", "json")
    rows = {row["system"]: row for row in json.loads(ended.out)}
    strong, weak = rows["m02"], rows["m06"]
    assert strong["pass_rate"] < weak["pass_rate"]
    assert strong["ability_low"] > weak["ability_high"]
    assert strong["shared_rate"] < 1
    assert "m00 15 % with m05" in ended.err.replace("\n", " ")


@pytest.mark.slow
def test_adaptive_runs_are_in_no_pass_rate():
    from warehouse.analysis.items.abilities import (
        ITEM_COLUMNS,
        SYSTEM_COLUMNS,
        item_rows,
        sentences,
        system_rows,
    )

    answers = drawn()
    answers[0, 10:] = np.nan
    asked = Responses.from_matrix(answers)
    found = find_abilities(replace(asked, is_adaptive=asked.system == 0), "s")
    rates = {row[3]: row[SYSTEM_COLUMNS.index("pass_rate")] for row in system_rows(found)}
    assert [name for name, rate in rates.items() if rate is None] == [asked.systems[0]]
    assert rates[asked.systems[1]] == pytest.approx(answers[1].mean())
    by_item = {row[0]: row[ITEM_COLUMNS.index("pass_rate")] for row in item_rows(found)}
    assert by_item[asked.items[0]] == pytest.approx(answers[1:, 0].mean())
    assert f"The items of {asked.systems[0]} were chosen" in " ".join(sentences(found))


@pytest.mark.slow
def test_items_are_printed_with_their_errors(store):
    ended = command(with_answers(store, drawn()), "abilities", "s", "--items", "--format", "json")
    rows = json.loads(ended.out)
    assert len(rows) == 40
    difficulties = [row["difficulty"] for row in rows]
    assert difficulties == sorted(difficulties, reverse=True)
    assert {row["slope"] for row in rows} == {1}
    assert all(row["difficulty_stderr"] > 0 for row in rows)
    two = command(store.path, "abilities", "s", "--items", "--model", "2pl", "--format", "json")
    assert len({row["slope"] for row in json.loads(two.out)}) > 10


@pytest.mark.slow
def test_few_models_are_refused_with_what_helps(store):
    ended = command(with_answers(store, drawn(4)), "abilities", "s")
    assert (ended.code, ended.out) == (2, "")
    assert "s has answers of 4 systems; abilities need 5 or more; `evalstore items s`" in ended.err


def test_models_without_a_link_are_refused():
    answers = drawn(6, 20)
    answers[:3, :10] = np.nan
    answers[3:, 10:] = np.nan
    with pytest.raises(BadInput, match=r"no item links system-3, .* with system-0, "):
        find_abilities(Responses.from_matrix(answers), "s")


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_answers_that_are_all_alike_tell_nobody_apart(share):
    from warehouse.analysis.items.abilities import sentences, system_rows

    found = find_abilities(Responses.from_matrix(np.full((6, 10), share)), "s")
    assert {row[1:3] for row in system_rows(found)} == {(1, 6)}
    assert "known on one side only" in " ".join(sentences(found))


def test_attempts_that_are_alike_are_no_misfit_and_narrow_no_error():
    from warehouse.analysis.items.abilities import sentences

    once = Responses.from_matrix(drawn())
    repeated = replace(once, passed=5 * once.passed, attempts=5 * once.attempts)
    found = [find_abilities(each, "s", "rasch") for each in (once, repeated)]
    said = [" ".join(sentences(each)) for each in found]
    assert ["more alike" in each for each in said] == [False, True]
    errors, of_repeated = (np.median(each.error.difficulty) for each in found)
    assert of_repeated == pytest.approx(errors, rel=0.3)


@pytest.mark.slow
def test_a_wrong_suite_or_task_set_is_named(store):
    path = with_answers(store, drawn())
    for words, message in ((["t"], "no suite 't'"), (["s", "--task-set", "x"], "no task set 'x'")):
        ended = command(path, "abilities", *words)
        assert ended.code == 2
        assert message in ended.err
