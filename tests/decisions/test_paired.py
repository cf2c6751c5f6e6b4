"""The values of two sides on the same tasks."""

from dataclasses import replace

import pytest
from support import kept_open, new_store

from warehouse.analysis.decisions.paired import across_suites, pair, pairs_of_sides, panels
from warehouse.analysis.decisions.series import MetricKey, read_items, read_series
from warehouse.analysis.decisions.sides import resolve_sides


def record(store, model, results, suite="mine", run_id=None, **names):
    """Record the outcomes of the attempts at each task; None is a failed call."""
    with store.record(suite=suite, model=model, run_id=run_id, **names) as run:
        for task, outcomes in results.items():
            for attempt, passed in enumerate(outcomes, 1):
                failure = "timeout" if passed is None else None
                run.log(
                    task_id=task, attempt=attempt, passed=passed, failure=failure,
                    cost_usd=attempt / 10, latency_ms=100.0 * attempt,
                    scores=None if failure else {"length": attempt},
                )  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("paired") / "store")
    record(store, "a", {"t1": [True], "t2": [False], "t3": [True], "only-a": [True]})
    record(store, "b", {"t1": [False], "t2": [None], "t3": [True], "only-b": [True]})
    record(store, "many", {"t1": [True, False, False], "t2": [True], "t3": [False, False, True]})
    for n, passed in enumerate([True, False]):
        record(store, "again", {"t1": [passed]}, run_id=f"r{n}")
    record(store, "again", {"t2": [True]}, run_id="r2")
    yield from kept_open(store)


def read(store, *sides, metric="passed", missing="exclude", mix_runs=False):
    with store.reading() as connection:
        resolved = resolve_sides(connection, sides)
        series = read_series(connection, resolved, metric=metric, mix_runs=mix_runs)
    return panels(series, missing=missing)


def test_tasks_of_both_are_paired(store):
    (panel,) = read(store, "a", "b")
    found = pair(panel, 0, 1)
    # A call without an answer did not pass.
    assert found.task_ids == ["t1", "t2", "t3"]
    assert found.differences.tolist() == [1.0, 0.0, 0.0]
    assert (found.n_attempts_a, found.n_attempts_b, found.is_single) == (3, 3, True)
    assert (panel.is_binary, panel.scale) == (True, 1.0)


def test_the_difference_has_all_attempts(store):
    (panel,) = read(store, "many", "a")
    found = pair(panel, 0, 1)
    assert found.means_a.tolist() == pytest.approx([1 / 3, 1.0, 1 / 3])
    assert found.means_b.tolist() == [1.0, 0.0, 1.0]
    assert (found.n_attempts_a, found.n_attempts_b, found.is_single) == (7, 3, False)


def test_the_run_on_the_board_counts_unless_runs_are_mixed(store):
    # Each of the runs has one task; the latest counts.
    (panel,) = read(store, "again", "a")
    assert pair(panel, 0, 1).means_a.tolist() == [1.0]
    (panel,) = read(store, "again", "a", mix_runs=True)
    assert pair(panel, 0, 1).means_a.tolist() == [0.0, 1.0]
    (panel,) = read(store, "run:r0", "a")
    assert pair(panel, 0, 1).means_a.tolist() == [1.0]


def test_tasks_without_a_value_are_counted_and_can_fail(store):
    (panel,) = read(store, "a", "b", metric="length")
    found = pair(panel, 0, 1)
    assert found.task_ids == ["t1", "t3"]
    assert (found.n_unjudged_a, found.n_unjudged_b, found.n_excluded) == (0, 1, 1)
    (panel,) = read(store, "a", "b", metric="length", missing="fail")
    found = pair(panel, 0, 1)
    assert found.task_ids == ["t1", "t2", "t3"]
    assert found.means_b.tolist() == [1.0, 0.0, 1.0]


def test_what_nothing_judges_does_not_fail(store):
    (panel,) = read(store, "a", "b", metric="length")
    series = panel.series
    del series[0].values["t2"]
    assert "t2" not in pair(panels(series, missing="fail")[0], 0, 1).task_ids


def test_costs_and_times_are_metrics(store):
    (panel,) = read(store, "many", "b", metric="cost_usd")
    # 0.1, 0.2 and 0.3 for the attempts; a failed call has its cost too.
    assert pair(panel, 0, 1).differences.tolist() == pytest.approx([0.1, 0.0, 0.1])
    (panel,) = read(store, "many", "b", metric="latency_ms", missing="fail")
    assert pair(panel, 0, 1).task_ids == ["t1", "t3"]
    assert (panel.is_binary, panel.scale) == (False, None)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ((0.0, 1.0), (True, 1.0)),
        ((0.0, 0.0), (False, None)),
        ((0.5, 1.0), (False, 1.0)),
        ((1.0, 3.0), (False, None)),
    ],
)
def test_scores_of_0_and_1_alone_are_like_verdicts(store, values, kind):
    series = read(store, "a", metric="length")[0].series
    series[0].values.update({"t1": values, "t2": values, "t3": values, "only-a": values})
    (panel,) = panels(series)
    assert (panel.is_binary, panel.scale) == kind


def test_percentages_are_of_100(store):
    (panel,) = read(store, "a", metric="length")
    (one,) = panel.series
    key, metric = one.key._replace(suite="posters"), MetricKey("app_core", None, None)
    (panel,) = panels([replace(one, key=key, metric=metric)])
    assert (panel.is_binary, panel.scale) == (False, 100.0)


def test_other_versions_of_a_task_are_not_paired(store):
    (panel,) = read(store, "a", "b")
    for task, hashes in (("t1", [1, 2]), ("t2", [1, 1]), ("t3", [1, -1])):
        panel.hashes[:, panel.task_ids.index(task)] = hashes
    found = pair(panel, 0, 1)
    assert (found.task_ids, found.n_changed) == (["t2", "t3"], 1)


def test_pairs_are_of_different_sides(store):
    (panel,) = read(store, "a", "b", "many")
    assert pairs_of_sides(panel) == [(0, 1), (0, 2), (1, 2)]
    # The same side twice has nothing to compare; another run of the model does.
    assert pairs_of_sides(read(store, "a", "a")[0]) == []
    assert pairs_of_sides(read(store, "again", "run:r0")[0]) == [(0, 1)]


@pytest.mark.slow
def test_items_join_suites(tmp_path):
    store = new_store(tmp_path / "store")
    for suite, first, outcomes in (("one", 0, "1101"), ("two", 2, "0110")):
        with store.record(suite=suite, model="m") as run:
            for place, passed in enumerate(outcomes, first):
                run.log(task_id=f"{suite}-{place}", prompt=f"p{place}", passed=passed == "1")
    with store.reading() as connection:
        sides = resolve_sides(connection, ["m"])
        series = read_series(connection, sides, metric="passed")
        assert read_items(connection, sides) == {}
    # The prompts of recorded results have unknown questions: name the items.
    items = {
        (one.key, task, asked.run_id): task.partition("-")[2]
        for one in series
        for task, asked in one.asked.items()
    }
    (panel,) = across_suites(series, items)
    found = pair(panel, 0, 1)
    assert (panel.suite, found.task_ids) == ("one+two", ["2", "3"])
    assert found.differences.tolist() == [0.0, 0.0]
