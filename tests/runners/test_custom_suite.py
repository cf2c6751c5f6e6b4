"""Suites of one's own: how answers are judged, what is recorded, and mistakes in the file."""

import json
import os
import signal
import threading
from pathlib import Path

import pytest
from serving import chat, http, serving
from support import command, new_store, queried_store

from runners.engine.engine import Engine

# litellm and its libraries emit warnings of their own.
pytestmark = pytest.mark.filterwarnings("default")

SUITE = """\
suite: mine
scorer: {type: exact, ignore_case: true}
tasks:
- {id: city, prompt: a, reference: Paris}
- {id: names, prompt: b, references: [Paris, Lutetia], scorer: {type: exact, whitespace: ignore}}
- {id: pi, prompt: c, reference: 3.14, scorer: {type: number, absolute: 0.01}}
- {id: object, prompt: d, reference: {a: [1, true]}, scorer: json}
- {id: short, prompt: e, validator: {type: max_words, value: 2}}
- {id: free, prompt: f}
"""
ANSWERS = {
    "city": "PARIS\n",
    "names": "Lu te tia",
    "pi": "3.15",
    "object": '{"a": [1, 1]}',
    "short": "a b c",
    "free": "anything",
}


@pytest.fixture
def space(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    new_store(tmp_path / "store")
    write_answers(ANSWERS)
    return tmp_path


def write_answers(answers):
    lines = [json.dumps({"task": task, "text": text}) for task, text in answers.items()]
    Path("answers.jsonl").write_text("\n".join(lines))


def run(space, text, *options, code=0):
    (space / "mine.yaml").write_text(text)
    given = ("-m", "m", "--provider", "replay", "--answers", "answers.jsonl", *options)
    ended = command(space / "store", "run", "mine.yaml", *given)
    assert ended.code == code, ended.err
    return ended.err


def rows(space, query):
    return queried_store(space / "store").sql(query).fetchall()


TASKS = "SELECT task_id, cluster, task_hash, task_set_hash, task_version FROM tasks ORDER BY ALL"


@pytest.mark.slow
def test_a_cluster_makes_a_version_of_the_set_not_of_the_task(space):
    run(space, SUITE)
    (before,) = [row for row in rows(space, TASKS) if row[0] == "pi"]
    assert before[1] is None
    run(space, SUITE.replace("id: pi,", "id: pi, cluster: 7,"))
    clustered, plain = [row for row in rows(space, TASKS) if row[0] == "pi"]
    assert plain == before
    assert clustered[1:3] == ("7", before[2])
    assert clustered[3] != before[3]


def test_a_cluster_is_a_name(space):
    said = run(space, SUITE.replace("id: pi,", "id: pi, cluster: [a],"), code=2)
    assert "tasks[2].cluster: must be a name that tasks share" in said


VERDICTS = """
SELECT task_id, recorded, computed, scorer, violation
FROM verdicts JOIN results USING (suite, run_id, result_id, task_id) ORDER BY results.seq
"""


@pytest.mark.slow
def test_each_task_is_judged_by_its_scorer_and_computed_alike(space):
    run(space, SUITE)
    assert rows(space, VERDICTS) == [
        ("city", True, True, "exact", None),
        ("names", True, True, "exact", None),
        ("pi", True, True, "number", None),
        ("object", False, False, "json", "$.a[1]: 1 instead of true"),
        ("short", False, False, "validator max_words", "too_many_words got=3 limit=2"),
        ("free", None, None, None, None),
    ]
    assert rows(space, "FROM verdict_drift") == []
    assert rows(space, "SELECT task_id, reference FROM tasks WHERE seq <= 4 ORDER BY seq") == [
        ("city", "Paris"),
        ("names", '["Paris","Lutetia"]'),
        ("pi", "3.14"),
        ("object", '{"a":[1,true]}'),
    ]
    ((config,),) = rows(space, "SELECT config FROM runs")
    assert json.loads(config) == {"scorers": ["exact", "json", "number", "validator max_words"]}


@pytest.mark.slow
def test_a_rebuild_gives_the_verdicts_of_an_increment(space):
    run(space, SUITE)
    run(space, SUITE.replace("absolute: 0.01", "absolute: 0"))  # another version of a task
    before = rows(space, f"{VERDICTS}, run_id")
    computed = {row[:3] for row in before if row[0] == "pi"}
    assert computed == {("pi", True, True), ("pi", False, False)}
    assert command(space / "store", "sync", "--rebuild").code == 0
    assert rows(space, f"{VERDICTS}, run_id") == before


@pytest.mark.slow
def test_the_scorer_of_the_suite_is_part_of_the_version_of_a_task(space):
    run(space, SUITE)
    run(space, SUITE.replace("ignore_case: true", "ignore_case: false"))
    query = "SELECT recorded, computed FROM verdicts WHERE task_id = 'city' ORDER BY run_id"
    assert rows(space, query) == [(True, True), (False, False)]
    query = "SELECT count(DISTINCT task_hash) FROM tasks WHERE task_id = 'short'"
    assert rows(space, query) == [(1,)]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("ignore_case: true", "ignore_cass: true", ":2: scorer.ignore_cass: unknown option; did y"),
        ("ignore_case: true", "ignore_case: 1", ":2: scorer.ignore_case: must be true or false"),
        ("type: number", "type: numbr", ":6: tasks[2].scorer.type: unknown scorer 'numbr'; did yo"),
        ("whitespace: ignore", "whitespace: none", ":5: tasks[1].scorer.whitespace: must be one"),
        ("absolute: 0.01", "absolute: -1", ":6: tasks[2].scorer.absolute: must be a number, zero"),
        ("reference: 3.14", "reference: pi", ":6: tasks[2].reference: must be a number"),
        ("reference: Paris", "reference: 7", ":4: tasks[0].reference: must be text; put it in qu"),
        ("reference: Paris", "refrence: Paris", ":4: tasks[0].refrence: unknown key; did you mean"),
        ("reference: 3.14, ", "", ":6: tasks[2].scorer: type number needs a reference"),
        ("reference: {a: [1, true]}", "reference: '{'", ":7: tasks[3].reference: not JSON"),
        ("[Paris, Lutetia]", "Paris", ":5: tasks[1].references: must be a list"),
        ("value: 2}", "value: few}", ":8: tasks[4].validator.value: must be an integer"),
        ("value: 2}", "value: 2}, scorer: exact", ":8: tasks[4].scorer: a task has a scorer or"),
        ("prompt: f", "prompt: f, prompt: g", ":9: tasks[5].prompt: the key 'prompt' appears tw"),
        ("id: free", "id: city", ":9: tasks[5].id: the id 'city' is used twice"),
        ("prompt: f", "promt: f", ":9: tasks[5]: has no prompt"),
        ("tasks:", "task:", ":4: task: unknown key; did you mean 'tasks'?"),
    ],
)
def test_a_mistake_is_reported_with_file_line_and_field(space, old, new, problem):
    assert old in SUITE
    err = run(space, SUITE.replace(old, new, 1), code=2)
    assert f"mine.yaml{problem}" in err
    assert rows(space, "FROM results") == []


def test_all_mistakes_are_reported_at_once(space):
    err = run(space, SUITE.replace("Paris", "1").replace("number", "numbers"), code=2)
    assert [line.partition("mine.yaml:")[2].partition(" ")[0] for line in err.splitlines()] == [
        "4:",
        "5:",
        "6:",
    ]


@pytest.mark.parametrize(
    ("name", "deep"),
    [
        ("mine.json", '{"tasks": [{"prompt": "p", "reference": %s, "scorer": "json"}]}'),
        ("mine.json", '{"tasks": [{"prompt": "p", "note": %s}]}'),
        ("mine.yaml", "tasks: [{prompt: p, reference: '%s', scorer: json}]"),
    ],
)
def test_values_that_are_nested_deeply_are_refused(space, name, deep):
    given = (name, "-m", "m", "--provider", "replay", "--answers", "answers.jsonl")
    for depth in (100, 900):
        (space / name).write_text(deep % ("[" * depth + "1" + "]" * depth))
        ended = command(space / "store", "run", *given)
        assert ended.code == 2
        assert ended.err.count("nested more than 64 levels deep: flatten it") == 1
    assert rows(space, "FROM results") == []


@pytest.mark.slow
def test_keys_of_the_users_own_are_allowed(space):
    err = run(space, SUITE.replace("prompt: f", "prompt: f, difficulty: high"))
    assert "warning: mine.yaml:9: tasks[5].difficulty: unknown key, has no effect" in err


def test_a_run_begun_before_scorers_were_recorded_can_be_resumed():
    from runners.plan import Task
    from runners.suites.custom.tasks import rule_of

    assert rule_of(Task("a", "a", reference="x")) == {"type": "exact", "references": ["x"]}
    assert rule_of(Task("a", "a", reference="x", validator={"type": "noop"})) == {
        "type": "validator",
        "validator": {"type": "noop"},
    }
    assert rule_of(Task("a", "a")) is None


FUNCTIONS = """\
def polite(answer, references, options):
    if "please" in answer:
        return True
    return False, f"lacks one of {references} {options['strict']}"

def number(answer, references, options):
    return float(answer) > 0

def broken(answer, references, options):
    return "yes"

def leaves(answer, references, options):
    raise SystemExit(3)
"""


def function_suite(function, more=""):
    scorer = f"{{type: function, function: '{function}', {more}}}"
    return f"tasks:\n- {{id: t, prompt: a, reference: please, scorer: {scorer}}}\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "answer", "verdict", "reason"),
    [
        ("polite", "please", True, None),
        ("polite", "now", False, "lacks one of ['please'] True"),
        ("number", "7", True, None),
        ("number", "-7", False, "returned False"),
        ("number", "x", None, "ValueError: could not convert string to float: 'x'"),
        ("broken", "x", None, "returned 'yes', not True or False"),
        ("leaves", "x", None, "SystemExit: 3"),
    ],
)
def test_a_function_of_the_user_decides(space, function, answer, verdict, reason):
    # A module is imported once in a process, and its file goes with the test.
    module = f"own_functions_of_{space.name}"
    (space / f"{module}.py").write_text(FUNCTIONS)
    write_answers({"t": answer})
    name = f"{module}:{function}"
    run(space, function_suite(name, "options: {strict: true}"), code=int(verdict is None))
    query = "SELECT objective_pass, violation, scorer FROM results"
    assert rows(space, query) == [(verdict, reason, f"function {name}")]
    query = "SELECT recorded, computed, passed FROM verdicts"
    assert rows(space, query) == [(verdict, None, verdict)]
    ((config,),) = rows(space, "SELECT config FROM runs")
    assert len(json.loads(config)["functions"][name]) == 64
    assert command(space / "store", "sync", "--rebuild").code == 0
    assert rows(space, query) == [(verdict, None, verdict)]


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        ("no_such_module_of_test:f", "ModuleNotFoundError: No module named 'no_such_module_of_t"),
        ("json:no_such_function", "the module json has no function 'no_such_function'"),
        ("failing_module_of_test:f", "ZeroDivisionError: division by zero"),
        ("loads", "mine.yaml:2: tasks[0].scorer.function: must be `module:function`"),
    ],
)
def test_a_function_that_cannot_be_used_is_refused_before_the_first_call(space, function, problem):
    (space / "failing_module_of_test.py").write_text("1 / 0")
    assert problem in run(space, function_suite(function), code=2)
    assert rows(space, "FROM results") == []


JUDGED = """\
tasks:
- id: tone
  prompt: Say no.
  references: [Sorry, {reference}]
  scorer: {type: judge, model: j, prompt: 'Asked {prompt} wanted {reference} got <{answer}>'}
""".replace("{reference}]", "'{answer}']")


def judged(space, reply, code=0):
    write_answers({"tone": "No! {reference}", "judge tone": reply})
    return run(space, JUDGED, code=code)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reply", "verdict", "reason"),
    [
        ('{"passed": true, "reason": "polite"}', True, None),
        ('```json\n{"passed": false, "reason": "rude"}\n```', False, "judge: rude"),
        ('{"passed": "yes", "reason": ""}', None, "judge: `passed` is not true or false, or"),
        ('{"passed": true}', None, "judge: the reply is not an object with `passed` and `reason`"),
        ("It passes.", None, "judge: the reply is not JSON"),
        ("", None, "judge: empty_response"),
    ],
)
def test_a_judge_decides_and_its_reply_is_recorded(space, reply, verdict, reason):
    judged(space, reply, code=int(verdict is None))
    ((passes, violation, scorer),) = rows(
        space, "SELECT objective_pass, violation, scorer FROM results"
    )
    assert (passes, scorer) == (verdict, "judge j")
    assert (violation or "").startswith(reason or "")
    assert (violation is None) is (reason is None)
    query = """
        SELECT judgements.model, judge, judgements.raw_output, document IS NOT NULL, cost_usd
        FROM lake.judgements AS judgements JOIN lake.results AS results
            ON judgements.result_id = results.content_id
    """
    query = query.replace("cost_usd", "judgements.cost_usd")
    assert rows(space, query) == [("m", "j", reply, verdict is not None, None)]
    assert rows(space, "SELECT recorded, computed FROM verdicts") == [(verdict, None)]


PASSED = '{"passed": true, "reason": "fine"}'
# A call has 12 tokens, which cost 12 cents.
MODEL = """\
name: {name}
provider: ollama_openai
parameters: {{max_tokens: 7}}
price: {{input: 0.01, output: 0.01}}
"""


@pytest.fixture
def priced(space):
    (space / "models").mkdir()
    (space / "models/m.yaml").write_text(MODEL.format(name="m"))
    (space / "models/j.yaml").write_text(MODEL.format(name="j"))
    return space


def run_judged(space, server, monkeypatch, *options, n=1, code=0):
    monkeypatch.setenv("OLLAMA_OPENAI_BASE", server.base)
    scorer = "{type: judge, model: j, prompt: 'Is <{answer}> polite?'}"
    tasks = "".join(f"- {{id: t{i}, prompt: Hello {i}}}\n" for i in range(n))
    (space / "mine.yaml").write_text(f"scorer: {scorer}\ntasks:\n{tasks}")
    ended = command(space / "store", "run", "mine.yaml", "-m", "m", *options)
    assert ended.code == code, ended.err
    return ended.err


@pytest.mark.slow
def test_a_judge_is_called_like_a_model_and_its_cost_is_recorded(priced, monkeypatch):
    with serving(http(200, chat(PASSED))) as server:
        run_judged(priced, server, monkeypatch)
    first, second = (request["body"] for request in server.requests)
    assert (first["model"], second["model"]) == ("m", "j")
    prompt = second["messages"][-1]["content"]
    assert prompt.startswith(f"Is <{PASSED}> polite?")
    assert "Reply with a JSON object and nothing else" in prompt
    query = """
        SELECT round(results.cost_usd, 2), judge, round(judgements.cost_usd, 2), passed
        FROM lake.judgements AS judgements
        JOIN verdicts AS results ON judgements.result_id = results.result_id
    """
    assert rows(priced, query) == [(0.12, "j", 0.12, True)]


@pytest.mark.slow
def test_the_budget_covers_the_judge_also_when_the_run_is_resumed(priced, monkeypatch):
    with serving(http(200, chat(PASSED))) as server:
        limits = ("--concurrency", 1, "--max-cost-usd")
        err = run_judged(priced, server, monkeypatch, *limits, 1.5, n=9, code=4)
        assert "stopped: the budget of $1.5000 leaves no room" in err
        n_calls = len(server.requests)
        # $0.24 for each task, about $0.50 reserved for it before: 5 tasks.
        assert n_calls == 10
        run_id = err.partition("run ")[2].partition(":")[0]
        again = command(priced / "store", "run", "--resume", run_id, *limits, 1.5)
        assert (again.code, len(server.requests)) == (4, n_calls)
        assert command(priced / "store", "run", "--resume", run_id).code == 0
        assert len(server.requests) == 18
    assert rows(priced, "SELECT count(*), count(*) FILTER (passed) FROM verdicts") == [(9, 9)]


def test_a_judge_that_cannot_be_called_is_refused_before_the_first_call(priced, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (priced / "models/j.yaml").write_text("name: j\nprovider: openai_responses\n")
    with serving(http(200, chat(PASSED))) as server:
        err = run_judged(priced, server, monkeypatch, code=2)
        assert "no calls were made: j (openai_responses): " in err
        (priced / "models/j.yaml").write_text("name: j\nprovider: ollama_openai\n")
        err = run_judged(priced, server, monkeypatch, "--max-cost-usd", 1, code=2)
        assert "the price of j is unknown" in err
        (priced / "models/j.yaml").write_text("name: j\nprovider: replay\n")
        err = run_judged(priced, server, monkeypatch, code=2)
        assert "the judge j is replayed, but the models are not" in err
    assert server.requests == []


@pytest.mark.slow
def test_an_answer_whose_judge_failed_can_be_repeated(priced, monkeypatch):
    with serving(http(200, chat("no verdict"))) as server:
        err = run_judged(priced, server, monkeypatch, code=1)
        run_id = err.partition("run ")[2].partition(":")[0]
        resume = ("run", "--resume", run_id)
        assert command(priced / "store", *resume).code == 1
        assert len(server.requests) == 2
    assert rows(priced, "SELECT recorded FROM verdicts") == [(None,)]
    with serving(http(200, chat(PASSED))) as server:
        monkeypatch.setenv("OLLAMA_OPENAI_BASE", server.base)
        assert command(priced / "store", *resume, "--retry-failed").code == 0
    assert rows(priced, "SELECT recorded FROM verdicts") == [(True,)]
    assert rows(priced, "SELECT count(*) FROM lake.judgements") == [(2,)]


@pytest.mark.slow
def test_an_answer_is_kept_if_its_judge_is_interrupted(priced, monkeypatch):
    """The second call, the judge's, hangs; the run is stopped twice."""

    stop, is_stopped = Engine.stop, threading.Event()

    def noted(*arguments, **options):
        stop(*arguments, **options)
        is_stopped.set()

    def answer(_request):
        if len(server.requests) == 1:
            return (http(200, chat(PASSED)),)
        for _ in range(2):
            is_stopped.clear()
            os.kill(os.getpid(), signal.SIGINT)
            assert is_stopped.wait(300)
        return (300,)  # or until the server is closed

    monkeypatch.setattr(Engine, "stop", noted)
    # The second interrupt must come while the run waits for the call.
    monkeypatch.setattr("runners.engine.engine.GRACE_SECONDS", 300)
    with serving(answer) as server:
        err = run_judged(priced, server, monkeypatch, code=130)
    assert "stopped: interrupted" in err
    query = "SELECT success, objective_pass, violation FROM results"
    assert rows(priced, query) == [(True, None, "interrupted before it was judged")]
