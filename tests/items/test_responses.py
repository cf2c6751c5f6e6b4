"""Responses: how often each system passed each item."""

import numpy as np
import pytest
from support import add_rows

from warehouse.analysis.items.responses import Responses, read_responses
from warehouse.core.errors import BadInput


@pytest.fixture
def store(store):
    """Two suites: both ask `1 + 1`, which m passed once in each; n was asked in one only."""
    tasks = [
        {"suite": "mine", "task_set": "quiz", "task_id": "A", "question": "1 + 1"},
        {"suite": "mine", "task_set": "quiz", "task_id": "B", "question": "1 + 2"},
        {"suite": "tool", "task_set": "sums", "task_id": "7", "question": "1 + 1 "},
    ]
    results = [
        ("mine", "quiz", "m", "A", 1, True),
        ("mine", "quiz", "m", "A", 2, False),
        ("mine", "quiz", "m", "B", 1, None),
        ("mine", "quiz", "n", "B", 1, True),
        ("tool", "sums", "m", "7", 1, True),
    ]
    names = ("suite", "task_set", "model", "task_id", "attempt", "objective_pass")
    rows = [dict(zip(names, row, strict=True)) for row in results]
    key = {"run_id": "r", "generation": "root"}
    add_rows(
        store.lake,
        runs=[{"suite": suite, **key, "content_id": suite} for suite in ("mine", "tool")],
        tasks=[
            {**row, "seq": n, "task_set_hash": "v", "content_id": f"t{n}", "task_hash": f"t{n}"}
            for n, row in enumerate(tasks)
        ],
        results=[{**row, **key, "seq": n, "content_id": f"r{n}"} for n, row in enumerate(rows)],
    )
    return store


def read(store, suite, **options):
    with store.reading("item_responses") as connection:
        return read_responses(connection, suite, **options)


def cells(responses):
    """Return the filled cells as system, suffix of the item, passed, attempts."""
    return {
        (responses.systems[system], responses.items[item]): (passed, attempts)
        for system, item, passed, attempts in zip(
            responses.system, responses.item, responses.passed, responses.attempts, strict=True
        )
    }


@pytest.mark.slow
def test_the_same_item_of_two_suites_is_one(store):
    alone, both = read(store, "mine"), read(store, ["mine", "tool"])
    assert alone.shape == both.shape == (2, 2)
    assert sorted(cells(alone).values()) == [(1, 1), (1, 2)]
    assert sorted(cells(both).values()) == [(1, 1), (2, 3)]
    assert alone.n_unjudged == both.n_unjudged == 1
    assert list(alone.items) == sorted(alone.items)
    assert list(alone.systems) == ["m", "n"]


@pytest.mark.slow
def test_a_system_is_named_with_its_provider_only_if_it_has_several(store):
    key = {"suite": "mine", "run_id": "s", "generation": "root"}
    results = [
        {**key, "seq": n, "content_id": f"s{n}", "task_set": "quiz", "task_id": "A", "attempt": 1,
         "model": model, "provider": provider, "objective_pass": True}
        for n, (provider, model) in enumerate([("p", "m"), ("p", "other/o")])
    ]  # fmt: skip
    add_rows(store.lake, runs=[{**key, "content_id": "s"}], results=results)
    assert list(read(store, "mine").systems) == ["m", "n", "other/o", "p/m"]


def test_a_matrix_comes_back():
    matrix = np.array([[1.0, np.nan, 0.25], [0.0, 0.5, np.nan]])
    responses = Responses.from_matrix(matrix, 4)
    np.testing.assert_array_equal(responses.dense(), matrix)
    assert responses.passed.sum() == 7
    assert list(responses.items) == ["item-0", "item-1", "item-2"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suite", "options", "message"),
    [
        ("mne", {}, "no suite 'mne'; did you mean 'mine'?"),
        ("mine", {"task_set": "sums"}, "no task set 'sums'; there are: quiz"),
        ("mine", {"metric": "pased"}, "no metric of passes and failures 'pased'; did you mean"),
    ],
)
def test_what_is_not_there_is_named(store, suite, options, message):
    with pytest.raises(BadInput, match=message.replace("?", r"\?")):
        read(store, suite, **options)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verdict", "message"),
    [
        (True, "the judged answers of bare do not say which task they are to: without task IDs"),
        (None, "nothing in bare is judged as passed or failed"),
    ],
)
def test_answers_to_tasks_without_ids_are_not_called_unjudged(store, verdict, message):
    key = {"suite": "bare", "run_id": "s", "generation": "root"}
    results = [
        {**key, "seq": n, "content_id": f"s{n}", "task_set": "bare", "attempt": 1, "model": "m",
         "provider": "p", "objective_pass": verdict}
        for n in range(2)
    ]  # fmt: skip
    add_rows(store.lake, runs=[{**key, "content_id": "s"}], results=results)
    with pytest.raises(BadInput, match=message):
        read(store, "bare")
