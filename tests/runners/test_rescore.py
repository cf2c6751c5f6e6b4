"""`evalstore rescore`: stored answers are judged by another scorer, and nothing else changes."""

import json
import socket

import pytest
from support import (
    EXAMPLES,
    REFERENCE,
    ROOT,
    command,
    digests,
    import_into,
    needs_reference,
    traces,
)

from warehouse.core.schemas import RESULTS, RUNS, TASKS
from warehouse.engine.connection import open_for_reading
from warehouse.lake.batch import Generation

SUITE = {
    "suite": "capitals",
    "template": "Answer with one word. {prompt}",
    "tasks": [
        {"id": "fr", "prompt": "The capital of France?", "reference": "Paris"},
        {"id": "it", "prompt": "The capital of Italy?", "reference": "Rome"},
        {"id": "fi", "prompt": "The capital of Finland?", "reference": "Helsinki"},
    ],
}
ANSWERS = {"fr": "Paris", "it": "rome", "fi": "Turku"}
CHANGES = (
    "SELECT task_id, passed, rescored, change FROM rescored_verdicts ORDER BY task_id, version"
)


@pytest.fixture
def space(tmp_path, monkeypatch, store):
    """Return a store with a recorded run of the suite's tasks, real and as a rehearsal."""
    monkeypatch.chdir(tmp_path)
    prompts = {task["id"]: task["prompt"] for task in SUITE["tasks"]}
    for run_id in ("one", "two"):
        with store.record(suite="capitals", model="m", run_id=run_id) as run:
            for task_id, answer in ANSWERS.items():
                passed = answer == "Paris"
                # What was sent is recorded once with the template and once without.
                prompt = SUITE["template"].replace("{prompt}", prompts[task_id])
                prompt = prompt if run_id == "two" else prompts[task_id]
                run.log(task_id=task_id, prompt=prompt, output=answer, passed=passed)
    store.sync()
    return store


def write(tmp_path, name="lenient", **changes):
    """Write the suite's file, with a scorer that ignores case by default."""
    scorer = {"type": "exact", "ignore_case": True}
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps({**SUITE, "scorer": scorer, **changes}))
    return path


@pytest.mark.slow
def test_changed_verdicts_are_listed(space, tmp_path):
    ended = command(space.path, "rescore", write(tmp_path), "--run", "one", "--format", "json")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out) == [
        {
            "suite": "capitals",
            "model": "m",
            "settings": "",
            "n_rescored": 3,
            "n_passed_before": 1,
            "n_passed": 2,
            "n_gained": 1,
            "n_lost": 0,
            "n_undecided": 0,
        }
    ]
    assert space.sql(CHANGES).fetchall() == [
        ("fi", False, False, "same"),
        ("fr", True, True, "same"),
        ("it", False, True, "gained"),
    ]
    assert space.sql("SELECT DISTINCT scorer, is_latest FROM rescored_verdicts").fetchall() == [
        ("lenient", True)
    ]


@pytest.mark.campaign
def test_no_other_view_changes_and_no_call_is_made(space, tmp_path, monkeypatch):
    before = digests(space, schemas=("main",))

    def refuse(*_arguments, **_options):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert command(space.path, "rescore", write(tmp_path)).code == 0
    after = digests(space, schemas=("main",))
    changed = {view for view in before if before[view] != after[view]}
    assert changed == {"main.rescored_verdicts"}


@pytest.mark.slow
def test_the_same_scorer_adds_nothing(space, tmp_path):
    path = write(tmp_path)
    command(space.path, "rescore", path, "--run", "one")
    before = space.lake.batch_names()
    ended = command(space.path, "rescore", path, "--run", "one")
    assert "3 answers judged before by this version" in ended.err
    assert space.lake.batch_names() == before
    # Only what is new is judged: the answers of the other run.
    ended = command(space.path, "rescore", path)
    assert "lenient@" in ended.err
    assert ended.err.endswith(": 3 answers judged\n")
    assert space.sql("SELECT count(*), count(DISTINCT version) FROM lake.rescores").fetchall() == [
        (6, 1)
    ]


@pytest.mark.slow
def test_a_changed_rule_is_another_version(space, tmp_path):
    command(space.path, "rescore", write(tmp_path), "--run", "one")
    command(space.path, "rescore", write(tmp_path, scorer="exact"), "--run", "one")
    query = "SELECT rescored FROM rescored_verdicts WHERE task_id = 'it' AND {}"
    assert space.sql(query.format("is_latest")).fetchall() == [(False,)]
    assert space.sql(query.format("NOT is_latest")).fetchall() == [(True,)]
    # A comment, the order of keys and the names of tasks are not a change.
    same = [{**dict(reversed(task.items())), "name": "x"} for task in SUITE["tasks"]]
    ended = command(space.path, "rescore", write(tmp_path, scorer="exact", tasks=same))
    assert "3 answers judged before" in ended.err


@pytest.mark.slow
def test_answers_to_other_prompts_and_tasks_are_counted_and_not_judged(space, tmp_path):
    tasks = [{**SUITE["tasks"][0], "prompt": "Capital of France?"}, SUITE["tasks"][1]]
    ended = command(space.path, "rescore", write(tmp_path, tasks=tasks), "--run", "one")
    assert "1 answer not judged: the file has another prompt for the task" in ended.err
    assert "1 answer not judged: the file has no rule for the task" in ended.err
    assert ended.err.endswith(": 1 answer judged\n")


@pytest.mark.slow
def test_a_function_judges_and_its_source_is_part_of_the_version(space, tmp_path):
    (tmp_path / "our_rules_a.py").write_text(
        "def judge(answer, references, options):\n"
        "    if answer == 'Turku':\n"
        "        raise ValueError('no idea')\n"
        "    return answer.istitle(), 'not a name'\n"
    )
    (tmp_path / "our_rules_b.py").write_text(
        "def judge(answer, references, options): return True\n"
    )
    versions = set()
    for module in ("our_rules_a", "our_rules_b"):
        scorer = {"type": "function", "function": f"{module}:judge"}
        ended = command(space.path, "rescore", write(tmp_path, scorer=scorer), "--run", "one")
        assert ended.code == 0, ended.err
        [(version,)] = space.sql(
            "SELECT DISTINCT version FROM rescored_verdicts WHERE is_latest"
        ).fetchall()
        versions.add(version)
    assert len(versions) == 2
    query = (
        "SELECT task_id, rescored, reason FROM rescored_verdicts "
        "WHERE contains(rule, 'our_rules_a') ORDER BY task_id"
    )
    assert space.sql(query).fetchall() == [
        ("fi", None, "ValueError: no idea"),
        ("fr", True, None),
        ("it", False, "not a name"),
    ]


@pytest.mark.slow
def test_validators_of_an_openclaw_prompt_file(store, tmp_path):
    """A log without prompts is judged by ID only where its task set has the same prompt."""
    prompt = {"id": "P0", "prompt": "Reply with PONG.", "name": "pong"}
    sets = {"mine": prompt["prompt"], "other": "Reply with PING."}
    key = {"suite": "openclaw", "generation": "root"}
    state = {"availability_status": "ok", "success": True, "objective_pass": False}
    answer = {"task_id": "P0", "task_name": "pong", "raw_output": "pong", "model": "m", **state}
    with store.lake.write("import") as writer:
        for run_id in (*sets, "unknown"):
            run = {**key, "run_id": run_id}
            writer.add(RUNS, [{**run, "content_id": f"run {run_id}", "task_set": run_id}])
            writer.add(RESULTS, [{**run, "content_id": f"call {run_id}", "seq": 1, **answer}])
        for name, text in sets.items():
            task = {"content_id": name, "suite": "openclaw", "task_set": name, "seq": 1}
            task |= {"task_set_hash": name, "task_id": "P0", "task_name": "pong"}
            writer.add(TASKS, [{**task, "task_hash": name, "prompt": text}])
        runs = [Generation("openclaw", run_id, "root") for run_id in (*sets, "unknown")]
        writer.commit(generations=runs)
    prompts = tmp_path / "mine.json"
    changed = {"type": "one_of", "values": ["PONG", "pong"]}
    prompts.write_text(json.dumps([{**prompt, "validator": changed}]))
    ended = command(store.path, "rescore", prompts)
    assert ended.code == 0, ended.err
    assert "1 answer not judged: the file has another prompt for the task" in ended.err
    assert "1 answer not judged: the prompt is not known" in ended.err
    query = "SELECT run_id, passed, rescored, change FROM rescored_verdicts"
    assert store.sql(query).fetchall() == [("mine", False, True, "gained")]


@pytest.mark.slow
@needs_reference
def test_the_original_validators_give_the_recorded_verdicts(store):
    openclaw = REFERENCE / "openclaw"
    import_into(store, openclaw / "prompts", openclaw / "runs")
    command(store.path, "rescore", openclaw / "prompts" / "prompts_v1.json")
    query = (
        "SELECT change, count(*) FROM rescored_verdicts "
        "WHERE passed IS NOT NULL AND rescored IS NOT NULL AND verdict_source = 'recorded' "
        "GROUP BY change"
    )
    [(change, n_verdicts)] = store.sql(query).fetchall()
    assert (change, n_verdicts > 200) == ("same", True)


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({"scorer": {"type": "judge", "model": "j", "prompt": "{answer}?"}}, (), "calls none"),
        ({"scorer": {"type": "exakt"}}, (), "unknown scorer 'exakt'; did you mean 'exact'?"),
        ({"suite": "capitls"}, (), "no runs of suite 'capitls'; did you mean 'capitals'?"),
        ({}, ("--suite", "x"), "no runs of suite 'x'; its suites are: capitals"),
        ({}, ("--run", "on"), "there is no run 'on'; did you mean 'one'?"),
        ({}, ("--name", "a@b"), "'a@b' cannot be the name of a scorer"),
        ({"tasks": [{"id": "fr", "prompt": "?"}]}, (), "no task has a scorer"),
    ],
)
def test_mistakes_are_explained_and_change_nothing(space, tmp_path, changes, options, message):
    before = space.lake.batch_names()
    ended = command(space.path, "rescore", write(tmp_path, **changes), *options)
    assert (ended.code, message in ended.err) == (2, True), ended.err
    assert space.lake.batch_names() == before


@pytest.mark.slow
def test_forget_removes_the_verdicts_too(space, tmp_path):
    command(space.path, "rescore", write(tmp_path))
    command(space.path, "compact")
    assert command(space.path, "forget", "one", "--yes").code == 0
    query = "SELECT run_id, count(*) FROM lake.rescores GROUP BY run_id"
    assert space.sql(query).fetchall() == [("two", 3)]
    assert not [path for path in traces(space, "'one'") if path.suffix == ".parquet"]


@pytest.mark.slow
def test_tasks_have_the_verdicts_of_each_scorer(space, tmp_path):
    # A third run: of two attempts at one task, one gave no answer; another task was not rescored.
    with space.record(suite="capitals", model="m", run_id="three") as run:
        prompt = SUITE["tasks"][1]["prompt"]
        run.log(task_id="it", prompt=prompt, output="ROME", passed=False, attempt=1)
        run.log(task_id="it", prompt=prompt, failure="timeout", attempt=2)
        run.log(task_id="de", prompt="The capital of Germany?", output="Bonn", passed=False)
    command(space.path, "rescore", write(tmp_path), "--run", "one", "--run", "three")
    query = (
        "SELECT run_id, task_id, n_attempts, scored FROM scores.rescored_tasks "
        "WHERE scorer = 'lenient' AND is_latest AND metric = 'passed' ORDER BY run_id, task_id"
    )
    assert space.sql(query).fetchall() == [
        ("one", "fi", 1, [0.0]),
        ("one", "fr", 1, [1.0]),
        ("one", "it", 1, [1.0]),
        ("three", "de", 1, []),
        ("three", "it", 2, [1.0, 0.0]),
    ]


@pytest.mark.slow
def test_all_views_answer_in_any_client(space, tmp_path):
    command(space.path, "rescore", write(tmp_path))
    space.sync()
    with open_for_reading(space.warehouse, wait_seconds=0) as connection:
        assert connection.execute("SELECT count(*) FROM rescored_verdicts").fetchall() == [(6,)]


@pytest.mark.parametrize("name", ["openclaw.json"])
def test_shipped_prompts_can_be_read(space, name):
    ended = command(space.path, "rescore", ROOT / "tasks" / name, "--suite", "capitals")
    assert ended.code == 0, ended.err
    assert "6 answers not judged: the file has no rule for the task" in ended.err


@pytest.fixture
def imported(tmp_path, monkeypatch, store):
    """Return a store of imported answers and tasks, and one of its runs."""
    monkeypatch.chdir(tmp_path)
    import_into(store, EXAMPLES, ROOT / "tasks")
    query = "SELECT run_id FROM results WHERE suite = 'palindrome' AND success ORDER BY ALL LIMIT 1"
    return store, store.sql(query).fetchall()[0][0]


def bare(tmp_path, **content):
    path = tmp_path / "bare.yaml"
    path.write_text(json.dumps(content))
    return path


@pytest.mark.slow
def test_imported_answers_are_judged_by_the_references_of_their_tasks(imported, tmp_path):
    store, run_id = imported
    options = ("--suite", "palindrome", "--format", "json")
    (tmp_path / "bare_functions.py").write_text(
        "def has(answer, references, _):\n"
        "    return any(each.lower() in answer.lower() for each in references)\n"
    )
    scorer = bare(tmp_path, scorer={"type": "function", "function": "bare_functions:has"})
    ended = command(store.path, "rescore", run_id, "--scorer", scorer, *options)
    assert ended.code == 0, ended.err
    # A function also judges answers to tasks without a reference.
    found = store.sql(
        "SELECT rescored, "
        "coalesce(contains(lower(coalesce(raw_output, answer)), lower(reference)), false) "
        "FROM rescored_verdicts JOIN results USING (suite, run_id, result_id) "
        "LEFT JOIN (SELECT DISTINCT suite, prompt, reference FROM tasks) AS tasks "
        "ON results.suite = tasks.suite AND results.prompt = tasks.prompt"
    ).fetchall()
    assert {verdict for verdict, _ in found} == {True, False}
    assert all(verdict == expected for verdict, expected in found)
    assert sum(row["n_rescored"] for row in json.loads(ended.out)) == len(found)
    again = command(store.path, "rescore", run_id, "--scorer", scorer, *options)
    assert "scorer bare@" in again.err
    assert ": 0 answers judged" in again.err


def test_references_that_do_not_suit_a_bare_scorer_are_counted(imported, tmp_path):
    store, run_id = imported
    scorer = bare(tmp_path, scorer={"type": "number"})
    ended = command(store.path, "rescore", run_id, "--scorer", scorer, "--suite", "palindrome")
    assert ended.code == 0, ended.err
    assert "the store has no reference for the task that suits the scorer" in ended.err
    assert store.sql("FROM rescored_verdicts").fetchall() == []


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"scorer": {"type": "exat"}}, "bare.yaml:1: scorer.type: unknown scorer 'exat'"),
        ({"tasks": []}, "must have a `scorer`, and no tasks"),
        ({"scorer": "exact", "tasks": [{"prompt": "?"}]}, "must have a `scorer`, and no tasks"),
        ({"scorer": {"type": "judge", "model": "m", "prompt": "{answer}"}}, "judged by a model"),
    ],
)
def test_mistakes_in_a_bare_scorer(space, tmp_path, content, problem):
    scorer = bare(tmp_path, **content)
    ended = command(space.path, "rescore", "one", "--scorer", scorer)
    assert ended.code == 2
    assert problem in ended.err
