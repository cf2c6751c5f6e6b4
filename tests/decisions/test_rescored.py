"""Comparisons and gates by the verdicts of a re-score."""

import json
from datetime import UTC, datetime

import pytest
from support import command, new_store

from warehouse.analysis.decisions.rescored import Rescorer, find_rescorer
from warehouse.analysis.decisions.series import read_series
from warehouse.analysis.decisions.sides import resolve_sides
from warehouse.core.errors import BadInput
from warehouse.core.schemas import RESCORES, RESULTS, RUNS
from warehouse.engine.statistics.sample_size import tasks_needed_of_verdicts
from warehouse.lake.batch import Generation

N_TASKS = 40
RULES = """
candidate: m/b
baseline: m/a
scorer: lenient
rules:
  - {metric: passed, max_drop: 0.02}
  - {must_pass: [t0]}
"""


def call(model, n):
    """Return an answer: m/a passed all tasks, m/b only the last eight."""
    return {
        "suite": "mine",
        "run_id": model[-1],
        "generation": "root",
        "content_id": f"{model} {n}",
        "seq": n,
        "model": model,
        "task_set": "mine",
        "task_id": f"t{n}",
        "answer": "x",
        "availability_status": "ok",
        "success": True,
        "is_correct": model == "m/a" or n >= 32,
        "cost_usd": 0.01,
    }


def verdict(call, scorer, version, day, *, passed):
    key = {name: call[name] for name in ("suite", "run_id")}
    again = {
        "scorer": scorer,
        "version": version,
        "rescored_at": datetime(2026, 4, day, tzinfo=UTC),
    }
    content_id = f"{call['content_id']} {scorer} {version}"
    return {
        **key,
        **again,
        "content_id": content_id,
        "result_id": call["content_id"],
        "passed": passed,
    }


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("rescored") / "store")
    calls = {model: [call(model, n) for n in range(N_TASKS)] for model in ("m/a", "m/b")}
    key = ("suite", "run_id", "generation")
    with store.lake.write("import") as writer:
        for (first, *_), day in zip(calls.values(), (1, 2), strict=True):
            run = {name: first[name] for name in key}
            writer.add(RUNS, [{**run, "content_id": run["run_id"], "run_date": f"2026-03-0{day}"}])
        writer.add(RESULTS, [*calls["m/a"], *calls["m/b"]])
        writer.commit(generations=[Generation("mine", run_id, "root") for run_id in "ab"])
    with store.lake.write("rescore") as writer:
        every = [*calls["m/a"], *calls["m/b"]]
        # The last version passes every answer, an earlier one none.
        writer.add(RESCORES, [verdict(one, "lenient", "111aaa", 3, passed=False) for one in every])
        writer.add(RESCORES, [verdict(one, "lenient", "222bbb", 4, passed=True) for one in every])
        writer.add(RESCORES, [verdict(one, "strict", "222ccc", 5, passed=False) for one in every])
        writer.commit()
    return store


@pytest.fixture(scope="module")
def connection(store):
    with store.reading() as connection:
        yield connection


@pytest.mark.parametrize(
    ("text", "version"),
    [("lenient", "222bbb"), ("lenient@111aaa", "111aaa"), ("lenient@1", "111aaa")],
)
def test_a_scorer_is_found_by_name_and_version(connection, text, version):
    assert find_rescorer(connection, text) == Rescorer("lenient", version)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("leniant", "did you mean 'lenient'?"),
        ("x", "no re-score by a scorer 'x'; they are: lenient, strict"),
        ("lenient@9", "has no version '9'; its versions are: 222bbb, 111aaa"),
    ],
)
def test_an_unknown_scorer_is_explained(connection, text, message):
    with pytest.raises(BadInput, match=r"^--scorer: ") as raised:
        find_rescorer(connection, text)
    assert message in str(raised.value)


def test_a_store_without_re_scores_is_explained(tmp_path):
    with (
        new_store(tmp_path / "empty").reading() as connection,
        pytest.raises(BadInput, match="`evalstore rescore` adds one"),
    ):
        find_rescorer(connection, "lenient")


@pytest.mark.parametrize(
    ("scorer", "passed_a", "passed_b"),
    [(None, 40, 8), ("lenient", 40, 40), ("lenient@111aaa", 0, 0), ("strict", 0, 0)],
)
def test_values_are_the_verdicts_of_the_scorer(connection, scorer, passed_a, passed_b):
    sides = resolve_sides(connection, ["m/a", "m/b"])
    rescorer = None if scorer is None else find_rescorer(connection, scorer)
    found = read_series(connection, sides, metric="passed", rescorer=rescorer)
    assert [one.metric.scorer for one in found] == [None, None]
    assert [len(one.values) for one in found] == [N_TASKS, N_TASKS]
    assert [sum(sum(v) for v in one.values.values()) for one in found] == [passed_a, passed_b]
    by_cost = read_series(connection, sides, metric="cost_usd", rescorer=rescorer)
    assert [len(one.values) for one in by_cost] == [N_TASKS, N_TASKS]


def test_compare_uses_the_verdicts_of_the_scorer(store):
    def compared(*options):
        ended = command(store.path, "compare", "m/a", "m/b", "--format", "json", *options)
        assert ended.code == 0, ended.err
        [row] = json.loads(ended.out)
        return row["mean_a"], row["mean_b"], row["n_only_a"], row["n_tasks"], ended.err

    assert compared()[:4] == (1.0, 0.2, 32, N_TASKS)
    *values, said = compared("--scorer", "lenient")
    assert values == [1.0, 1.0, 0, N_TASKS]
    assert said.startswith("passed is the verdict of lenient@222bbb, a re-score\n")
    assert compared("--scorer", "strict", "--metric", "passed")[:2] == (0.0, 0.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--scorer", "lenint"), "did you mean 'lenient'?"),
        (("--scorer", "lenient", "--metric", "cost"), "a re-score is a verdict"),
        (("--scorer", "lenient", "--task-set", "other"), "no task in common judged by lenient@"),
    ],
)
def test_compare_explains_mistakes_about_scorers(store, options, message):
    ended = command(store.path, "compare", "m/a", "m/b", *options)
    assert (ended.code, message in ended.err) == (2, True), ended.err


@pytest.mark.slow
def test_a_gate_decides_by_the_scorer(store, tmp_path):
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULES)
    ended = command(store.path, "gate", rules, "--format", "json")
    assert (ended.code, ended.err) == (0, "passed is the verdict of lenient@222bbb, a re-score\n")
    assert json.loads(ended.out)
    # By the recorded verdicts, and by another version, it fails.
    rules.write_text(RULES.replace("scorer: lenient\n", ""))
    assert command(store.path, "gate", rules).code == 1
    options = ("--candidate", "m/b", "--must-pass", "t0")
    assert command(store.path, "gate", *options, "--scorer", "lenient").code == 0
    assert command(store.path, "gate", *options, "--scorer", "lenient@1").code == 1


def test_a_gate_refuses_costs_by_a_scorer(store):
    options = ("--candidate", "m/b", "--max-cost-per-passed-usd", "1", "--scorer", "lenient")
    ended = command(store.path, "gate", *options)
    assert (ended.code, "does not go with a scorer" in ended.err) == (2, True)


def test_plan_by_a_rescore(store):
    arguments = ["m/a", "m/b", "--difference", "0.1", "--format", "json"]
    recorded, lenient = (
        command(store.path, "plan", *arguments, *option)
        for option in ([], ["--scorer", "lenient@111"])
    )
    assert "passed is the verdict of lenient@111aaa, a re-score" in lenient.err
    found = [json.loads(each.out)[0]["n_tasks"] for each in (recorded, lenient)]
    # 32 of 40 differ by the recorded verdicts; by the re-score none, so that only those tasks are
    # planned with that the difference itself takes.
    assert found == [tasks_needed_of_verdicts(share, 0.1) for share in (0.8, 0.1)]
    ended = command(store.path, "plan", *arguments, "--scorer", "lenient", "--metric", "cost")
    assert (ended.code, "leave out --metric cost" in ended.err) == (2, True)
