"""Values of tasks by a column, and slices of them."""

import pytest
from support import kept_open, new_store

from warehouse.analysis.decisions.task_columns import slices, task_values
from warehouse.core.errors import BadInput


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("columns") / "store")
    with store.record(suite="mine", model="m") as run:
        for n in range(3):
            run.log(
                task_id=f"t{n}",
                prompt="x" * n or None,
                extra={"page's": f"p{n // 2}", "cluster": f"c{n}"},
            )
    yield from kept_open(store)


def values(store, column):
    with store.reading() as connection:
        return task_values(connection, column)["mine", "mine"]


def test_values_come_from_the_calls_where_there_is_no_task_file(store):
    assert values(store, "prompt_length") == {"t1": "1", "t2": "2"}
    assert values(store, "page's") == {"t0": "p0", "t1": "p0", "t2": "p1"}
    # A column of `tasks` that no task has a value in is looked for in `extra` too.
    assert values(store, "cluster") == {"t0": "c0", "t1": "c1", "t2": "c2"}


@pytest.mark.parametrize("column", ["pages", "x') OR 1=1 --", '"', "$", ""])
def test_an_unknown_column_is_refused_with_hints(store, column):
    with pytest.raises(BadInput, match=r"no task has a value .*(did you mean|columns of tasks)"):
        values(store, column)


def test_slices_by_value():
    found = slices({"a": "x", "b": "y", "c": "x"}, ["a", "b", "c", "d"])
    assert found == {
        "x": [True, False, True, False],
        "y": [False, True, False, False],
        "not known": [False, False, False, True],
    }


def test_many_numbers_are_grouped_by_quarters():
    tasks = [str(n) for n in range(100, 0, -1)]
    found = slices({task: task for task in tasks}, tasks)
    assert [(name, sum(keep)) for name, keep in found.items()] == [
        ("1 to 25", 25), ("26 to 50", 25), ("51 to 75", 25), ("76 to 100", 25),
    ]  # fmt: skip
    assert found["1 to 25"][-25:] == [True] * 25


def test_few_numbers_are_slices_in_order():
    assert list(slices({"a": "10", "b": "9"}, ["a", "b"])) == ["9", "10"]


def test_too_many_slices_are_refused():
    tasks = [f"t{n}" for n in range(21)]
    with pytest.raises(BadInput, match="21 different values"):
        slices({task: task for task in tasks}, tasks)
