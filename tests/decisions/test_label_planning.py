"""`evalstore plan --labels`: how many labels narrow the interval of a judge's figure."""

import json

import numpy as np
import pytest
from corrected_cases import N_TASKS, add, drawn_at_random, lenient, run, truth
from support import command, new_store

from warehouse.engine.statistics.label_plans import judge_correlation, planned_width


def stored(folder, n_labels):
    right = truth()
    drawn = drawn_at_random(n_labels)
    rows = run(right, lenient(right), drawn, chance=n_labels / N_TASKS)
    store = add(new_store(folder / "store"), rows)
    store.sync()
    return store, right, drawn


def planned(store, *arguments):
    ended = command(store.path, "plan", "--labels", "arena", *arguments)
    assert ended.code == 0, ended.err
    return ended.out


@pytest.mark.slow
def test_labels_in_the_store_say_how_much_the_judge_narrows(tmp_path):
    store, right, drawn = stored(tmp_path, 100)
    rows = json.loads(planned(store, "--format", "json"))
    correlation = np.corrcoef(right[drawn], lenient(right)[drawn])[0, 1]
    assert [row["n_labels"] for row in rows] == [30, 50, 100, 200, 300]
    for row in rows:
        assert (row["accuracy"], row["n_pilot"], row["n_answers"]) == (None, 100, N_TASKS)
        assert row["correlation"] == pytest.approx(correlation)
        expected = planned_width(
            row["n_labels"], N_TASKS, rate=right[drawn].mean(), correlation=correlation
        )
        found = row["width_of_labels"], row["width"]
        assert found == pytest.approx((expected.own_width, expected.width))
    first = planned(store).splitlines()[0]
    known = f"(a correlation of {correlation:.2f} with 100 labels)"
    assert f"{known}: 30 labels narrow nothing; with 50 the interval is" in first


@pytest.mark.slow
def test_without_labels_accuracies_are_assumed(tmp_path):
    store, right, _ = stored(tmp_path, 20)
    rows = json.loads(planned(store, "--format", "json"))
    assert {row["accuracy"] for row in rows} == {0.7, 0.8, 0.9}
    rate = lenient(right).mean()
    for row in rows:
        assert row["correlation"] == pytest.approx(judge_correlation(rate, row["accuracy"]))
    text = planned(store)
    assert "(if it is right 70.0 % of the time, which no labels show): up to 300 labels it" in text
    assert "(if it is right 80.0 % of the time, which no labels show): 30 labels narrow" in text


@pytest.mark.slow
def test_what_cannot_be_planned_is_refused(tmp_path):
    right = truth(n_tasks=20)
    store = add(new_store(tmp_path / "store"), run(right, lenient(right), right, chance=1.0))
    store.sync()
    ended = command(store.path, "plan", "--labels", "arena")
    assert (ended.code, "no judge has rated 30 answers" in ended.err) == (2, True)
    ended = command(store.path, "plan", "ant", "--labels", "arena")
    assert (ended.code, "leave out MODEL" in ended.err) == (2, True)
    ended = command(store.path, "plan")
    assert (ended.code, "Missing argument 'MODEL'" in ended.err) == (2, True)
