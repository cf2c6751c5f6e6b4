"""`evalstore compare` as a user sees it."""

import json

import pytest
from support import ROOT, add_rows, command, import_into, new_store

from warehouse.app.store import Store

FIRST_COLUMNS = [
    "suite", "task_set", "metric", "a", "b", "n_tasks", "n_attempts_a", "n_attempts_b", "mean_a",
    "mean_b", "difference", "low", "high", "p_value", "p_missing", "p_adjusted",
    "test", "n_only_a", "n_only_b",
    "conclusion", "noninferior", "detectable_difference",
]  # fmt: skip


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Return a store: x passed 30 of 30 tasks, y 22, z 21; w failed to answer half of them."""
    store = new_store(tmp_path_factory.mktemp("compare") / "store")
    for model, passed, options in (
        ("x", 30, {"settings": {"temperature": 0}}), ("y", 22, {}), ("z", 21, {}),
    ):  # fmt: skip
        with store.record(suite="mine", model=model, **options) as run:
            for n in range(30):
                run.log(
                    task_id=f"t{n:02}", prompt="word " * (n + 1), passed=n < passed,
                    output=f"{model} says {n}", cost_usd=n / 1000, extra={"page": n // 2},
                    scores={"style": n / 30 if model == "x" else n / 60},
                )  # fmt: skip
    with store.record(suite="mine", model="w") as run:
        for n in range(30):
            failed = n % 2 == 0
            run.log(
                task_id=f"t{n:02}",
                failure="timeout" if failed else None,
                scores=None if failed else {"style": 0.5},
            )
    with store.reading():  # to open it takes longer than most queries
        yield store.path


@pytest.fixture
def systems(tmp_path):
    """Return a store of two agents with one model, of which one solves more tasks."""
    store = new_store(tmp_path / "store")
    run = {"suite": "arena", "run_id": "r", "generation": "root"}
    agents = {"crab 1 (gpt)": ("crab", "1", 12), "snail (gpt)": ("snail", None, 4)}
    add_rows(
        store.lake,
        runs=[{**run, "content_id": "run"}],
        systems=[
            {**run, "content_id": system, "system": system, "agent": agent}
            | {"agent_version": version, "harness": "bench", "models": '{"agent":"gpt"}'}
            for system, (agent, version, _) in agents.items()
        ],
        results=[
            {**run, "content_id": f"{system} {n}", "seq": n, "trial_id": f"{system} {n}"}
            | {"system": system, "model": "gpt", "task_set": "core", "task_id": f"t{n}"}
            | {"objective_pass": n < n_solved}
            for system, (_, _, n_solved) in agents.items()
            for n in range(16)
        ],
    )
    store.sync()
    return store.path


def test_systems_are_compared_by_their_labels(systems):
    ended = command(systems, "compare", "crab 1 (gpt)", "snail (gpt)")
    first, second = ended.out.split("\n\n")[0].splitlines()
    assert first.startswith("crab 1 (gpt) passes 50 points more than snail (gpt) ")
    assert second == "Also different: agent (crab; snail); version of the agent (1; not recorded)."


def rows(path, *arguments):
    ended = command(path, "compare", *arguments, "--format", "json")
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def test_a_sentence_comes_first_then_the_table(path):
    ended = command(path, "compare", "x", "y")
    words, table = ended.out.split("\n\n")
    assert words.splitlines()[0] == (
        "x passes 26.7 points more than y (95 % interval 10.5 to 45.9, p = 0.005, 30 tasks; "
        "8 passed by it only, 0 by the other only)."
    )
    assert words.splitlines()[1:] == ["Also different: settings (temperature 0; not recorded)."]
    assert (len(table.splitlines()), ended.err) == (3, "")


def test_json_has_a_row_for_each_comparison(path):
    (row,) = rows(path, "x", "y")
    assert list(row)[: len(FIRST_COLUMNS)] == FIRST_COLUMNS
    assert (row["conclusion"], row["n_only_a"], row["p_mcnemar"]) == ("a", 8, 2 / 2**8)
    assert [r["b"] for r in rows(path, "x", "y", "z")] == ["y", "z", "z"]


def test_models_that_all_differ_are_no_groups(tmp_path):
    store = new_store(tmp_path / "store")
    passing = {"best": 90, "middle": 60, "worst": 20}
    lines = [f"{m},{t},{str(t < n).lower()}" for m, n in passing.items() for t in range(100)]
    table = tmp_path / "apart.csv"
    table.write_text("\n".join(["model,task,passed", *lines]), "utf-8")
    assert command(store.path, "import", "--yes", table).code == 0
    said = " ".join(command(store.path, "compare", "worst", "best", "middle").out.split())
    text = "Any two of them can be told apart (apart, passed), the best first: best; middle; worst."
    assert text in said


def test_many_models_have_ranks_and_groups(path):
    ended = command(path, "compare", "x", "y", "z")
    assert "Groups that cannot be told apart (mine, passed): x; y, z." in ended.out
    ranks = rows(path, "x", "y", "z", "--ranks")
    assert [(r["model"], r["rank_low"], r["rank_high"], r["groups"]) for r in ranks] == [
        ("x", 1, 1, "a"), ("y", 2, 3, "b"), ("z", 2, 3, "b"),
    ]  # fmt: skip
    groups = Store(path).sql("SELECT model, rank_low, rank_high FROM leaderboard_groups")
    assert groups.fetchall() == [("x", 1, 1), ("y", 2, 3), ("z", 2, 3)]


def test_tasks_are_listed_with_both_answers(path):
    tasks = rows(path, "x", "y", "--tasks")
    assert [task["task_id"] for task in tasks] == [f"t{n}" for n in range(22, 30)]
    assert (tasks[0]["value_a"], tasks[0]["value_b"]) == (1, 0)
    assert (tasks[0]["answer_a"], tasks[0]["answer_b"]) == ("x says 22", "y says 22")
    assert tasks[0]["prompt"].startswith("word word")


def test_slices_show_where_the_difference_is(path):
    found = rows(path, "x", "y", "--by", "prompt_length")
    assert [(r["slice"], r["n_tasks"]) for r in found] == [
        ("prompt_length 5 to 40", 8), ("prompt_length 45 to 75", 7),
        ("prompt_length 80 to 115", 8), ("prompt_length 120 to 150", 7),
    ]  # fmt: skip
    assert [r["difference"] for r in found] == [0, 0, 1 / 8, 1]


@pytest.mark.slow
def test_a_sentence_says_whether_slices_differ(path):
    shown = " ".join(command(path, "compare", "x", "y", "--by", "prompt_length").out.split())
    said = "The difference of x and y depends on prompt_length (permutation test, p = 0.0001)."
    assert said in shown.replace("< 0.0001", "= 0.0001")
    ended = command(path, "compare", "x", "y", "--by", "prompt_length", "--format", "json")
    assert said in " ".join(ended.err.split()).replace("< 0.0001", "= 0.0001")
    json.loads(ended.out)
    ended = command(path, "compare", "x", "y", "--by", "prompt_length", "--cluster", "page")
    assert "permutation test" not in ended.out
    assert "of tasks in clusters it is not tested whether the difference depends on" in ended.err


@pytest.mark.slow
def test_costs_clusters_margins_and_seeds(path):
    (row,) = rows(path, "x", "y", "--metric", "cost", "--margin", "0.01")
    assert (row["metric"], row["difference"], row["conclusion"]) == ("cost_usd", 0, "unclear")
    (row,) = rows(path, "x", "y", "--cluster", "page", "--margin", "0.1")
    assert (row["n_clusters"], row["test"], row["noninferior"]) == (15, "bounded_mean", True)
    styles = [rows(path, "x", "y", "--metric", "style", "--seed", str(n))[0] for n in (1, 1, 2)]
    assert styles[0] == styles[1]
    assert styles[0]["p_value"] == styles[2]["p_value"]


def test_a_model_that_does_not_answer_does_not_look_better(path):
    ended = command(path, "compare", "w", "y", "--metric", "style")
    assert "15 of 30 tasks of w and y are left out" in ended.err
    (row,) = rows(path, "w", "y", "--metric", "style")
    assert (row["n_tasks"], row["n_excluded"], row["n_unjudged_a"]) == (15, 15, 15)
    (row,) = rows(path, "w", "y", "--metric", "style", "--missing", "fail")
    assert (row["n_tasks"], row["n_excluded"], row["mean_a"]) == (30, 0, 0.25)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("x",), "name two sides or more"),
        (("x", "x"), "are the same side; a model named twice is compared by its settings"),
        (("x", "y", "--margin", "0"), "--margin: give a number above 0"),
        (("x", "y", "--margin", "nan"), "--margin: give a number above 0"),
        (("x", "y", "--seed", "-1"), "--seed: give a whole number from 0"),
        (("x", "y", "--tasks", "--ranks"), "choose one"),
        (("x", "y", "--ranks"), "ranks need three or more sides"),
        (("x", "y", "--metric", "stile"), "did you mean 'style'?"),
        (("x", "y", "--metric", "cost", "--missing", "fail"), "has no value to count"),
        (("x", "y", "--task-set", "other"), "in task set 'other'"),
        (("x", "y", "--cluster", "pages"), "did you mean 'page'?"),
        (("x", "y", "--why", "task_idd"), "no task has a value 'task_idd'"),
        (("x", "y@2020-01-01"), "no run until then"),
    ],
)
def test_what_cannot_be_compared_is_said(path, arguments, message):
    ended = command(path, "compare", *arguments)
    assert (ended.code, message in ended.err) == (2, True), ended.err
    assert "Traceback" not in ended.err


def test_few_tasks_are_warned_of(path):
    ended = command(path, "compare", "x", "y", "--by", "prompt_length")
    assert "warning: 7 tasks of prompt_length 45 to 75: too few" in ended.err


@pytest.mark.slow
def test_tools_are_compared_on_the_questions_they_share(tmp_path):
    path = tmp_path / "store"
    for tool, first, right in (("one", 0, 8), ("two", 2, 3)):
        lines = [
            f"{tool}-{n},What is {n}?,{n},it is {n} ({tool}),{str(n < right).lower()}"
            for n in range(first, first + 10)
        ]
        lines.insert(0, "task_id,question,target,output,passed")
        (tmp_path / f"{tool}.csv").write_text("\n".join(lines))
        names = ("--suite", tool, "--model", f"m/{tool}", "--yes")
        assert command(path, "import", tmp_path / f"{tool}.csv", *names).code == 0
    (row,) = rows(path, "m/one", "m/two")
    assert (row["suite"], row["n_tasks"], row["n_only_a"], row["n_only_b"]) == ("one+two", 8, 5, 0)
    tasks = rows(path, "m/one", "m/two", "--tasks")
    assert {(task["prompt"], task["answer_a"]) for task in tasks} >= {
        ("What is 3?", "it is 3 (one)"),
    }
    refused = command(path, "compare", "m/one", "m/two", "--by", "prompt_length")
    assert (refused.code, "several suites" in refused.err) == (2, True)


@pytest.mark.slow
def test_posters_are_compared_by_any_score(store):
    import_into(store, ROOT / "examples" / "posters" / "benchmark")
    models = ("openrouter-example_vision-large", "ollama-tinyeye_3b")
    posters = command(store.path, "compare", *models)
    assert "by app_quality (p = " in posters.out
    venues = command(store.path, "compare", *models, "--metric", "venue")
    assert "by venue (p = " in venues.out
    tasks = command(store.path, "compare", *models, "--metric", "venue", "--tasks")
    assert "value_a" in tasks.out
    wrong = command(store.path, "compare", *models, "--metric", "venu")
    assert (wrong.code, "did you mean 'venue'?" in wrong.err) == (2, True)


@pytest.mark.slow
def test_examples_are_compared(examples):
    models = ("relay/example/tundra-large", "example/aurora-2")
    ended = command(examples.path, "compare", *models)
    assert ended.code == 0
    assert command(examples.path, "compare", *models, "--format", "csv").out.startswith("suite,")
