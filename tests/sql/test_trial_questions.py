"""The questions of docs/trials.md, asked of a made-up store whose answers are known."""

import re
from itertools import product

import pytest
from support import ROOT, add_rows, new_store

PAGE = (ROOT / "docs" / "trials.md").read_text("utf-8")
QUERIES = re.findall(r"^```sql\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
RUN = {"suite": "arena", "run_id": "r", "generation": "root"}
TASKS = range(8)


def _trial(agent, model, task):
    """A trial: `a` solves even tasks; `b` none, fails a call in each, and is stopped by time."""
    name = f"{agent}-{model}-{task}"
    is_solved = agent == "a" and task % 2 == 0
    result = {
        **RUN,
        "content_id": name,
        "trial_id": name,
        "seq": 1,
        "system": f"{agent} ({model})",
        "model": model,
        "task_set": "core",
        "task_id": f"t{task}",
        "cost_usd": 0.5,
        "objective_pass": is_solved,
        "end_reason": "solved" if is_solved else "gave_up" if agent == "a" else "timeout",
        "duration_seconds": 60.0,
        "phases": '[{"name":"agent","started_at":"2026-01-01T00:00:00Z",'
        '"ended_at":"2026-01-01T00:01:00Z"}]',
    }
    steps = [
        {"kind": "model", "input_tokens": 100},
        {"kind": "tool", "name": "ls", "arguments": "{}", "error": None},
        {"kind": "model", "input_tokens": 300},
        *[
            {"kind": "tool", "name": "run", "arguments": f'"{agent}"', "error": error}
            for error in ([None] if agent == "a" else ["no", "no", "no"])
        ],
    ]
    rows = [
        {**RUN, "content_id": f"{name}#{seq}", "result_id": name, "seq": seq, **step}
        for seq, step in enumerate(steps, 1)
    ]
    check = {
        **RUN,
        "content_id": f"{name} check",
        "result_id": name,
        "metric": "test_1",
        "check_class": "test",
        "counts": True,
        "value": float(is_solved),
        "passed": is_solved,
    }
    return result, rows, check


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("trials") / "store")
    trials = [_trial(*each) for each in product("ab", ("x", "y"), TASKS)]
    systems = [
        {**RUN, "content_id": f"{agent}{model}", "system": f"{agent} ({model})", "agent": agent}
        | {"model": model}
        for agent, model in product("ab", ("x", "y"))
    ]
    add_rows(
        store.lake,
        runs=[{**RUN, "content_id": "run"}],
        systems=systems,
        results=[result for result, _, _ in trials],
        steps=[step for _, steps, _ in trials for step in steps],
        result_scores=[check for _, _, check in trials],
    )
    store.sync()
    return store


def asked(store, words):
    """Return the rows of the query that follows a question of the page."""
    query = QUERIES[PAGE[: PAGE.index(words)].count("```sql\n")]
    return store.sql(query).fetchall()


@pytest.mark.parametrize("query", QUERIES)
def test_every_query_has_an_answer(store, query):
    assert store.sql(query).fetchall()


def test_a_solved_task_costs_what_all_trials_cost(store):
    assert asked(store, "What does a solved task cost") == [
        # 8 trials of 0.5 dollars and one minute, of which 4 passed
        *[("a", model, 0.5, 1.0, 2.0, 4.0, 0.0) for model in "xy"],
        *[("b", model, 0.0, None, None, 6.0, 1.0) for model in "xy"],
    ]


def test_agents_and_models_are_told_apart(store):
    assert asked(store, "How does the same agent do") == [
        ("core", "a", [("x", 0.5), ("y", 0.5)]),
        ("core", "b", [("x", 0.0), ("y", 0.0)]),
    ]


def test_the_tool_that_fails_is_named(store):
    rows = asked(store, "Which tool fails most")
    assert [row[:4] for row in rows] == [("b (x)", "run", 24, 1.0), ("b (y)", "run", 24, 1.0)]
    assert all(low < 1.0 == high and n_retries == 16 for *_, low, high, n_retries in rows)


def test_a_failed_call_goes_with_a_failed_trial(store):
    [(_, _, n_tasks, difference, margin)] = asked(store, "Does a failed call predict")
    # of the even tasks all trials without a failed call passed, of the others none
    assert (n_tasks, difference) == (8, -0.5)
    assert margin == pytest.approx(2.3646242515927844 * (2 / 7) ** 0.5 / 8**0.5)


def test_tasks_lost_by_time_are_told_from_wrong_answers(store):
    counts = {task: rest for _, _, task, *rest in asked(store, "Which tasks are lost")}
    assert counts == {f"t{n}": [2, 2, 0] if n % 2 == 0 else [4, 2, 2] for n in TASKS}


def test_systems_part_at_the_first_other_call(store):
    rows = asked(store, "Where do two systems part")
    assert len(rows) == 8  # the even tasks, by `b` with either model
    assert {row[3:] for row in rows} == {(1, "run", '"b"', "run", '"a"')}


def test_a_quarter_of_the_tokens_is_sent_again(store):
    assert {share for *_, share in asked(store, "What share of tokens")} == {0.25}
