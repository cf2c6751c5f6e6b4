"""`evalstore run` from the command line: complete runs against servers on loopback."""

import gc
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from serving import chat, closed_port, http, serving
from support import PATIENT, ROOT, command, import_into, new_store

from exports.palindrome.log_files import Selection, export_palindrome
from runners.suites.registry import SUITES, suite_named, suite_of
from tests.campaigns.runner_kills import run_and_kill
from warehouse.core.formats.yaml.documents import load
from warehouse.lake.batch import evalstore_version
from warehouse.lake.journal.run_lock import run_lock

# litellm and its libraries emit warnings of their own.
pytestmark = pytest.mark.filterwarnings("default")
KEYS = {
    "OPENAI_API_KEY": "planted-in-environment-1",
    "MY_PROXY": "http://me:planted-in-url-2@127.0.0.1:1/?token=planted-in-query-3",
}


@pytest.fixture
def space(tmp_path, monkeypatch):
    """A workspace: an empty folder in which commands run."""
    monkeypatch.chdir(tmp_path)
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    new_store(tmp_path / "store")
    return tmp_path


def start(space, *arguments):
    """Start a command in its own process."""
    return subprocess.Popen(
        [sys.executable, *PATIENT, *map(str, arguments)],
        cwd=space,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(space, *arguments, code=0):
    """Run a command, assert its exit code, and return its standard output and error."""
    ended = command(space / "store", *arguments)
    assert ended.code == code, ended.err
    return ended.out, ended.err


def run_id_of(err):
    return err.partition("run ")[2].partition(":")[0]


def rows(space, query):
    return new_store(space / "store").sql(query).fetchall()


def suite(space, n, **fields):
    tasks = [{"id": f"t{i}", "prompt": f"question {i}", "reference": "yes"} for i in range(n)]
    (space / "mine.json").write_text(json.dumps({"suite": "mine", "tasks": tasks, **fields}))
    return "mine.json"


def server_options(server):
    return "--provider", "ollama_openai", "--base-url", server.base


@pytest.mark.slow
def test_a_palindrome_run_is_exported_and_read_back_the_same(space):
    named = ("--model", "example/aurora-2", "--model", "example/kaamos-mini")
    with serving(http(200, chat("<answer>innostunut sonni</answer>"))) as server:
        _, err = run(space, "run", "palindrome", *named, *server_options(server))
    assert "18 of 18 done, 0 failed" in err
    ours = new_store(space / "store")
    exported = export_palindrome(ours, space / "out", Selection(with_extras=True))
    assert not exported.omitted
    assert [path.name for path in exported.paths if "logs" in str(path)]
    theirs = new_store(space / "other")
    import_into(theirs, space / "out", ROOT / "tasks")
    assert not theirs.sql("FROM checks.violations").fetchall()
    for query in (
        "SELECT * EXCLUDE (provider, run_id) FROM leaderboard",
        "FROM palindrome_accuracy",
        "FROM palindrome_tasks",
        "SELECT prompt, model, settings, recorded, computed FROM verdicts ORDER BY ALL",
    ):
        left, right = ours.sql(query), theirs.sql(query)
        assert left.df().to_csv(float_format="%.9g") == right.df().to_csv(float_format="%.9g"), (
            query
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["palindrome", "openclaw", "mine.json"])
def test_every_result_names_the_provider_that_was_used(space, name):
    suite(space, 2)
    answers = "".join(f'{{"task": "t{i}", "text": "yes"}}\n' for i in range(2))
    (space / "a.jsonl").write_text(answers)
    where = ("--provider", "replay", "--answers", "a.jsonl", "--limit", 2)
    run(space, "run", name, "--model", "example/aurora-2", *where)
    assert rows(space, "SELECT provider, count(*) FROM results GROUP BY ALL") == [("replay", 2)]


# "Task definitions referenced by logs use this format", word for word.
SPECIFIED_TASKS = """\
tasks:
  - prompt: "Suomalainen kaksikirjaiminen paikannimi"
    reference: "Ii"
  - prompt: "Kolmekirjaiminen sana, käytä vain kirjaimia T ja U"
    reference: "utu"
"""


@pytest.mark.slow
def test_a_task_file_as_specified_runs_with_the_default_template(space):
    (space / "mine.yaml").write_text(SPECIFIED_TASKS)
    with serving(http(200, chat("<PALINDROMI>Ii</PALINDROMI>"))) as server:
        where = ("--prompts", "mine.yaml", *server_options(server))
        _, err = run(space, "run", "palindrome", *where, "-m", "m")
        assert "mine.yaml has no `system_prompt`: using the default prompt template" in err
        (space / "template.txt").write_text("Vastaa {palindromilla}: {prompt}\n")
        # Of another model: equal answers in the same second and millisecond are one call.
        other = ("-m", "n", "--template", "template.txt")
        _, err = run(space, "run", "palindrome", *where, *other)
        assert "default" not in err
    sent = [request["body"]["messages"][0]["content"] for request in server.requests]
    default = load((ROOT / "tasks/palindrome.yaml").read_bytes())["system_prompt"]
    place = "Suomalainen kaksikirjaiminen paikannimi"
    word = "Kolmekirjaiminen sana, käytä vain kirjaimia T ja U"
    assert sent == [
        default.replace("{prompt}", place),
        default.replace("{prompt}", word),
        f"Vastaa {{palindromilla}}: {place}",
        f"Vastaa {{palindromilla}}: {word}",
    ]
    assert (
        rows(space, "SELECT prompt, is_correct FROM results ORDER BY run_id, seq")
        == [
            (place, True),
            (word, False),
        ]
        * 2
    )
    exported = export_palindrome(new_store(space / "store"), space / "out", Selection())
    assert not exported.omitted
    logs = [load(path.read_bytes()) for path in sorted((space / "out/benchmark_logs").iterdir())]
    templates = {log["prompt_template"] for log in logs}
    assert templates == {default, "Vastaa {palindromilla}: {prompt}"}


def test_templates_without_a_placeholder_are_refused(space):
    (space / "mine.yaml").write_text("system_prompt: Answer.\n" + SPECIFIED_TASKS)
    (space / "template.txt").write_text("Answer.")
    where = ("run", "palindrome", "--prompts", "mine.yaml", "-m", "m")
    _, err = run(space, *where, code=2)
    assert "mine.yaml: system_prompt: the {prompt} placeholder is missing" in err
    _, err = run(space, *where, "--template", "template.txt", code=2)
    assert "template.txt: the {prompt} placeholder is missing" in err


@pytest.mark.campaign
def test_a_new_parameter_set_gets_its_own_model_file(space):
    options = ("--provider", "replay", "--limit", 1, "-o", "temperature", "0.3")
    model = "example/aurora-2"
    run(space, "run", "palindrome", "--model", model, *options)
    run(space, "run", "palindrome", "--model", model, *options)
    (made,) = (space / "models").iterdir()
    assert made.name == "example-aurora-2-2.yaml"
    assert "temperature: 0.3" in made.read_text()
    assert rows(space, "SELECT DISTINCT model_path, settings FROM results") == [
        ("models/example-aurora-2-2.yaml", "temperature 0.3")
    ]
    assert rows(space, "SELECT count(DISTINCT run_id) FROM runs") == [(2,)]


@pytest.mark.slow
def test_braces_in_prompts_and_templates_are_kept(space):
    template = "Say {json: {prompt}} or {}"
    with serving(http(200, chat("yes"))) as server:
        file = suite(space, 1, template=template)
        run(space, "run", file, "--model", "m", *server_options(server))
    (message,) = server.requests[0]["body"]["messages"]
    assert message["content"] == "Say {json: question 0} or {}"


def test_a_dry_run_makes_no_calls(space):
    with serving(http(200, chat("yes"))) as server:
        file = suite(space, 3)
        where = server_options(server)
        out, _ = run(space, "run", file, "--model", "m", *where, "--attempts", 2, "--dry-run")
    assert server.requests == []
    line = out.splitlines()[2].split()
    assert line[:5] == ["m", "ollama_openai", "6", "0", "6"]
    assert line[6] == "unknown"
    assert rows(space, "FROM runs") == []


@pytest.mark.slow
def test_each_attempt_is_a_row(space):
    with serving(http(200, chat("yes"))) as server:
        where = server_options(server)
        run(space, "run", suite(space, 2), "--model", "m", *where, "--attempts", 3)
    assert rows(space, "SELECT task_id, attempt FROM results ORDER BY seq") == [
        (f"t{task}", attempt) for attempt in (1, 2, 3) for task in (0, 1)
    ]
    assert len(server.requests) == 6


@pytest.mark.slow
def test_selecting_tasks(space):
    with serving(http(200, chat("yes"))) as server:
        where = ("--model", "m", *server_options(server))
        run(space, "run", suite(space, 9), *where, "--tasks", "t5, 3,t1", "--limit", 2)
        assert rows(space, "SELECT task_id FROM results ORDER BY seq") == [("t1",), ("t2",)]
        _, err = run(space, "run", "mine.json", *where, "--tasks", "t5,nine", code=2)
    assert "no task has the ID nine" in err


@pytest.mark.slow
def test_failed_calls_are_repeated_with_retry_failed(space):
    bad = {"question 1", "question 3"}

    def answer(request):
        prompt = request["body"]["messages"][-1]["content"]
        return [http(400, "{}") if prompt in bad else http(200, chat("yes"))]

    with serving(answer) as server:
        _, err = run(space, "run", suite(space, 5), "--model", "m", *server_options(server))
        run_id = run_id_of(err)
        run(space, "run", "--resume", run_id)
        assert len(server.requests) == 5
        bad.clear()
        run(space, "run", "--resume", run_id, "--retry-failed")
    assert len(server.requests) == 7
    assert rows(space, "SELECT task_id, success FROM results ORDER BY seq") == [
        (f"t{i}", True) for i in range(5)
    ]
    assert rows(space, "SELECT count(*) FROM lake.results") == [(7,)]


@pytest.mark.slow
def test_retries_are_recorded_with_the_result(space):
    answers = iter([http(503, "busy", "Retry-After: 0"), http(200, chat("yes"))])
    with serving(lambda _request: [next(answers)]) as server:
        run(space, "run", suite(space, 1), "--model", "m", *server_options(server))
    ((retries, duration, e2e_ms),) = rows(
        space, "SELECT retries, duration_seconds, e2e_ms FROM results"
    )
    (retry,) = json.loads(retries)
    assert (retry["failure_type"], retry["said"]) == ("http_503", "busy")
    assert duration * 1000 >= e2e_ms


@pytest.mark.parametrize("name", SUITES)
def test_suites_are_listed_under_their_own_names(name):
    assert suite_named(name).family == name
    assert suite_of(name) is suite_named(name)


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--max-tries", "--tries"])
def test_the_number_of_tries_is_limited(space, option):
    with serving(http(503, "busy", "Retry-After: 0")) as server:
        where = server_options(server)
        run(space, "run", suite(space, 1), "--model", "m", *where, option, 2, code=1)
    assert len(server.requests) == 2


@pytest.mark.slow
def test_the_budget_covers_the_whole_run(space):
    price = {"input": 0.01, "output": 0.01}  # 12 tokens a call: 12 cents
    (space / "models").mkdir()
    (space / "models/m.yaml").write_text(f"name: m\noptions: {{max_tokens: 7}}\nprice: {price}\n")
    with serving(http(200, chat("yes"))) as server:
        where = ("--model", "m", *server_options(server), "--max-cost-usd")
        _, err = run(space, "run", suite(space, 20), *where, "0.5", code=4)
        assert "stopped: the budget of $0.5000 leaves no room for the next call: $0.4800 is" in err
        assert f"`evalstore run --resume {run_id_of(err)} --max-cost-usd USD`" in err
        n_calls = len(server.requests)
        assert n_calls == 4
        resume = ("run", "--resume", run_id_of(err), "--max-cost-usd")
        run(space, *resume, "0.5", code=4)
        assert len(server.requests) == n_calls
        run(space, *resume, "99")
        assert len(server.requests) == 20


@pytest.mark.slow
def test_an_unknown_cost_is_not_printed_as_zero(space):
    (space / "models").mkdir()
    price = {"input": 0.01, "output": 0.01}  # 12 tokens a call
    (space / "models/known.yaml").write_text(f"name: known\nprice: {price}\n")
    (space / "models/free.yaml").write_text("name: free\nprice: {input: 0, output: 0}\n")
    with serving(http(200, chat("yes"))) as server:
        models = ("-m", "known", "-m", "free", "-m", "unknown")
        _, err = run(space, "run", suite(space, 2), *models, *server_options(server))
    lines = {line.partition(":")[0]: line for line in err.splitlines() if " done" in line}
    assert lines["known"].endswith("$0.2400")
    assert lines["free"].endswith("$0.0000")
    assert lines["unknown"].endswith("cost unknown")
    with serving(http(200, chat("yes", usage=False))) as server:
        _, err = run(space, "run", "mine.json", "-m", "known", *server_options(server))
    assert "known: 2 of 2 done" in err
    assert "$" not in err


@pytest.mark.slow
def test_calls_of_unknown_cost_are_named_next_to_the_known_cost(space):
    price = {"input": 0.01, "output": 0.01}
    (space / "models").mkdir()
    (space / "models/m.yaml").write_text(f"name: m\nprice: {price}\n")
    answers = itertools.cycle([chat("yes"), chat("yes", usage=False)])
    with serving(lambda _request: [http(200, next(answers))]) as server:
        _, err = run(space, "run", suite(space, 4), "-m", "m", *server_options(server))
    assert "$0.2400 without 2 calls of unknown cost" in err


def test_a_budget_requires_prices(space):
    _, err = run(space, "run", suite(space, 1), "--model", "m", "--provider", "ollama_openai",
                 "--max-cost-usd", 1, code=2)  # fmt: skip
    assert "the price of m is unknown" in err


def test_missing_keys_are_reported_before_the_first_call(space, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    _, err = run(space, "run", suite(space, 1), "-m", "m", "--provider", "openai_responses", code=2)
    assert "OPENAI_API_KEY is not set" in err
    assert rows(space, "FROM results") == []


@pytest.mark.campaign
def test_nothing_stays_open_after_a_run(space):
    reply = {"output": [{"content": [{"type": "output_text", "text": "yes"}]}]}
    with serving(http(200, chat("yes") | reply)) as server:
        for provider in ("ollama_openai", "openai_responses", "litellm"):
            where = ("--model", "openai/m", "--provider", provider, "--base-url", server.base)
            counts = []
            for _ in range(2):  # the first opens what libraries keep open
                run(space, "run", suite(space, 20), *where, "--concurrency", 10)
                server.settle()
                gc.collect()
                counts.append(len(list(Path("/proc/self/fd").iterdir())))
            assert counts[1] <= counts[0], provider


@pytest.mark.slow
def test_a_run_records_the_commit_of_its_files(space, monkeypatch):
    monkeypatch.setattr("warehouse.core.git._WAIT_SECONDS", 300)
    file = suite(space, 1)
    where = ("--model", "m", "--provider", "replay", "--answers", "a.jsonl")
    (space / "a.jsonl").write_text('{"task": "t0", "text": "yes"}')
    run(space, "run", file, *where)
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]
    for command_ in (["init", "-q"], ["add", "mine.json"], ["commit", "-qm", "Add the suite"]):
        subprocess.run([*git, *command_], check=True)
    run(space, "run", file, *where)
    head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    monkeypatch.setenv("PATH", str(space))
    run(space, "run", file, *where)
    commits = rows(space, "SELECT git_commit, versions->>'evalstore' FROM runs ORDER BY run_id")
    version = evalstore_version()
    assert commits == [(None, version), (head.stdout.strip(), version), (None, version)]


def _is_pending(pid, kind):
    """Return whether a signal was sent to a process but not yet delivered."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (pending,) = [line.split()[1] for line in lines if line.startswith("ShdPnd:")]
    return int(pending, 16) >> (kind - 1) & 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_the_results_and_says_how_to_resume(space, kind):
    def answer(_request):
        if len(server.requests) == 4:
            process.send_signal(kind)
            # Respond only once the runner has received the signal.
            while _is_pending(process.pid, kind):
                time.sleep(0.001)
        return [http(200, chat("yes"))]

    with serving(answer) as server:
        process = start(space, "run", suite(space, 9), "--model", "m", *server_options(server))
        _, err = process.communicate(timeout=300)
        assert process.returncode == 130
        assert "stopped: interrupted" in err
        assert rows(space, "SELECT count(*) FROM results WHERE success") == [(4,)]
        assert f"evalstore run --resume {run_id_of(err)}" in err
        run(space, "run", "--resume", run_id_of(err))
    asked = Counter(request["body"]["messages"][0]["content"] for request in server.requests)
    assert asked == dict.fromkeys((f"question {i}" for i in range(9)), 1)


@pytest.mark.slow
def test_a_second_runner_is_refused(space):
    with serving(http(400, "{}")) as server:
        options = ("--model", "m", *server_options(server))
        _, err = run(space, "run", suite(space, 1), *options, code=1)
        run_id = run_id_of(err)
        with run_lock(space / "store", "mine", run_id):
            _, err = run(space, "run", "--resume", run_id, "--retry-failed", code=75)
        assert f"run {run_id} is being run by the process with id" in err
    assert len(server.requests) == 1


@pytest.mark.campaign
def test_kills_at_random_moments_repeat_no_completed_call(space):
    campaign = run_and_kill(space, calls=30, kills=4, seed=23)
    assert campaign.is_right, campaign
    assert campaign.n_idle_kills < campaign.n_kills


@pytest.mark.slow
def test_a_run_whose_address_had_a_password_resumes_with_base_url(space):
    with serving(http(400, "{}")) as server:
        base = server.base.replace("http://", "http://me:planted-in-base-4@")
        where = ("--model", "m", "--provider", "ollama_openai", "--base-url", base)
        _, err = run(space, "run", suite(space, 1), *where, code=1)
        resume = ("run", "--resume", run_id_of(err), "--retry-failed")
        _, err = run(space, *resume, code=2)
        assert "give it again with --base-url" in err
        run(space, *resume, "--base-url", base, code=1)
    sent = [request["headers"]["authorization"] for request in server.requests]
    assert len(sent) == 2
    assert sent[0] == sent[1]
    for path in (space / "store").rglob("*"):
        assert not path.is_file() or b"planted" not in path.read_bytes(), path


@pytest.mark.campaign
def test_no_key_is_in_any_file_or_output(space, monkeypatch):
    shutil.copytree(ROOT / "models", space / "models")
    planted = "sk-ant-planted0000000000000000"
    body = json.dumps({"error": {"message": f"bad key {planted}, {' '.join(KEYS.values())}"}})
    with serving(http(401, body, f"X-Key: {planted}")) as server:
        base = server.base.replace("http://", "http://me:planted-in-base-4@")
        query = "/v1?api_key=planted-in-base-5"
        for provider in ("openai_responses", "litellm", "ollama_openai"):
            # litellm's client does not accept an address with a password.
            where = "openai/m", server.base + query if provider == "litellm" else base + query
            arguments = "--model", where[0], "--base-url", where[1], "--provider", provider
            said = run(space, "run", suite(space, 2), *arguments, code=1)
            assert "planted" not in "".join(said)
    assert rows(space, "SELECT count(*) FROM results WHERE failure_type = 'http_401'") == [(6,)]
    # A program that prints its environment, and a response with a key in it.
    (space / "claude").write_text(f"#!/bin/sh\necho $OPENAI_API_KEY {planted}; env\n")
    (space / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", f"{space}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("MY_TOKEN", "planted-in-token-6")
    (space / "a.jsonl").write_text(json.dumps({"task": "t0", "text": f"it is {planted}"}))
    for provider in ("claude_code_cli", "replay"):
        where = ("--provider", provider, "--answers", "a.jsonl")
        said = run(space, "run", suite(space, 1), "--model", "m", *where)
        assert "planted" not in "".join(said)
    kept = "SELECT count(*) FROM results WHERE contains(raw_output, '(redacted)')"
    assert rows(space, f"{kept} AND provider IN ('claude_code_cli', 'replay')") == [(2,)]
    new_store(space / "store").sync(rebuild=True)
    said = run(space, "sql", "FROM lake.runs SELECT plan", "--format", "csv")
    assert "planted" not in "".join(said)
    for path in (space / "store").rglob("*"):
        assert not path.is_file() or b"planted" not in path.read_bytes(), path


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("name: m\noptions: {thinking_level: huge}", "x.yaml:2: thinking_level"),
        ("name: m\noptions: {api_key: abc}", "x.yaml:2: api_key: keys belong in the environment"),
        ("name: m\n\nprice: {input: free}", "x.yaml:3: price.input"),
        ("name: m\noptions: {extra_headers: {A: 1}}", "x.yaml:2: extra_headers.A: must be text"),
        ("name: [m]", "x.yaml"),
        ("name: 'm", "x.yaml"),
    ],
)
def test_model_files_are_checked_when_loaded(space, text, problem):
    (space / "models").mkdir()
    (space / "models/x.yaml").write_text(text)
    _, err = run(space, "models", code=1)
    assert problem in err


def test_a_model_file_with_errors_stops_only_what_needs_it(space):
    (space / "models").mkdir()
    (space / "models/good.yaml").write_text("name: good\n")
    (space / "models/priced.yaml").write_text("name: priced\nprice: {input: free}\n")
    out, err = run(space, "models", "--format", "csv", code=1)
    assert [line.split(",")[:2] for line in out.splitlines()[1:]] == [
        ["models/good.yaml", "good"],
        ["models/priced.yaml", "priced"],
    ]
    assert out.endswith("the file has errors\n")
    problem = "models/priced.yaml:2: price.input: must be US dollars per token"
    assert problem in err

    def dry_run(model, code=0):
        where = ("run", suite(space, 1), "--provider", "ollama_openai", "--dry-run", "-m")
        return run(space, *where, model, code=code)[1]

    for name in ("good", "another"):
        warning = "warning: models/priced.yaml has errors; this run does not use it"
        assert f"{warning}\n{problem}" in dry_run(name)
    for name in ("priced", "models/priced.yaml", "ALL"):
        err = dry_run(name, code=2)
        assert problem in err
        assert "warning" not in err
    # A file whose name cannot be read may be that of any model without another file.
    (space / "models/broken.yaml").write_text("name: 'm")
    assert "warning: models/broken.yaml has errors" in dry_run("good")
    assert "another has no other file, so this may be its file" in dry_run("another", code=2)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("-o", "thinking_level", "huge"), "--option thinking_level: 'huge' is not one of"),
        (("-o", "api_key", "planted-1"), "--option api_key: keys belong in the environment"),
        (("-o", "temperature", "nan"), "--option temperature: nan cannot be sent"),
        (("--max-cost-usd", "nan"), "--max-cost-usd: nan is not a number"),
        (("--timeout-s", "nan"), "--timeout-s: nan is not a number"),
        (("-m", ""), "--model: the name is empty"),
        (("--answers", "gone.jsonl"), "'gone.jsonl' does not exist"),
    ],
)
def test_options_are_checked_before_the_first_call(space, arguments, problem):
    with serving(http(200, chat("yes"))) as server:
        file = suite(space, 1)
        _, err = run(space, "run", file, "-m", "m", *server_options(server), *arguments, code=2)
    assert problem in err
    assert server.requests == []
    assert not list((space / "store").rglob("*.parquet"))


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("temperature: 0.2", "m.yaml:2: temperature: has no effect here; parameters belong under"),
        ("parametres: {}", "m.yaml:2: parametres: unknown key, has no effect; did you mean"),
        ("colour: red", "m.yaml:2: colour: unknown key, has no effect; put notes of your own"),
        (
            "price: {input: 0, output: 0, inputs: 1}",
            "m.yaml:2: price.inputs: unknown key, has no effect; did you mean 'input'",
        ),
        (
            "price: {input: 0, output: 0, per: 1000000}",
            "m.yaml:2: price.per: unknown key, has no effect; use input and output, US dollars",
        ),
        (
            "price: {input: 2.5, output: 0}",
            "m.yaml:2: price.input: 2.5 US dollars per token; did you mean per million tokens?",
        ),
    ],
)
def test_keys_without_effect_are_reported(space, text, warning):
    (space / "models").mkdir()
    (space / "models/m.yaml").write_text(f"name: m\n{text}\n")
    (space / "models/other.yaml").write_text("name: other\nodd: 1\n")
    _, err = run(space, "models")
    assert f"warning: models/{warning}" in err
    assert "other.yaml:2: odd" in err
    arguments = ("run", suite(space, 1), "--provider", "ollama_openai", "--dry-run")
    _, err = run(space, *arguments, "-m", "m")
    assert f"warning: models/{warning}" in err
    assert "other.yaml" not in err


def test_shipped_model_files_have_no_warnings(space):
    _, err = run(space, "models")
    assert "warning" not in err


def test_all_means_the_files_of_the_user(space):
    where = ("run", suite(space, 1), "--provider", "ollama_openai", "--dry-run", "-m")
    shipped = sorted(load(path.read_bytes())["name"] for path in (ROOT / "models").iterdir())

    def listed(*arguments):
        out, _ = run(space, *arguments)
        return sorted(line.split()[0] for line in out.splitlines()[2:])

    assert listed(*where, "ALL") == shipped
    assert len(run(space, "models", "--format", "jsonl")[0].splitlines()) == len(shipped)
    (space / "models").mkdir()
    (space / "models/mine.yaml").write_text("name: mine\n")
    assert listed(*where, "ALL") == ["mine"]
    (line,) = run(space, "models", "--format", "jsonl")[0].splitlines()
    assert json.loads(line)["model"] == "mine"
    # An example is still found if it is named.
    assert listed(*where, "example/aurora-2") == ["example/aurora-2"]


@pytest.mark.slow
def test_similar_names_are_suggested(space):
    (space / "a.jsonl").write_text('{"task": "t0", "text": "yes"}')
    replay = ("--provider", "replay", "--answers", "a.jsonl")
    file = suite(space, 1)
    _, err = run(space, "run", "palindrom", "-m", "m", code=2)
    assert "unknown suite 'palindrom': did you mean 'palindrome'?" in err
    _, err = run(space, "run", "min.json", "-m", "m", code=2)
    assert "min.json: no such file; did you mean 'mine.json'?" in err
    _, err = run(space, "run", file, "-m", "models/example-aurora-3.yaml", code=2)
    assert "no such model file; did you mean 'models/example-aurora-2.yaml'" in err
    _, err = run(space, "run", file, "-m", "exampel/aurora-2", code=2)
    assert "litellm does not know the provider of `exampel/aurora-2`" in err
    assert "did you mean 'example/aurora-2'" in err
    _, err = run(space, "run", file, "-m", "m", *replay, "--tasks", "t00", code=2)
    assert "no task has the ID t00; did you mean 't0'?" in err
    _, err = run(space, "run", file, "-m", "m", *replay)
    run_id = run_id_of(err)
    _, err = run(space, "run", "--resume", run_id.replace("_", ""), code=2)
    assert f"did you mean '{run_id}'?" in err


def test_all_models_when_every_file_says_skip(space):
    shutil.copytree(ROOT / "models", space / "models")
    for path in (space / "models").iterdir():
        path.write_text("name: x\nskip: true\n")
    for dry in ((), ("--dry-run",)):
        _, err = run(space, "run", suite(space, 1), "--model", "ALL", *dry, code=2)
        assert "no model is selected" in err


@pytest.mark.slow
def test_more_concurrency_than_calls(space):
    with serving(http(200, chat("yes"))) as server:
        where = (*server_options(server), "--concurrency", 10**9)
        run(space, "run", suite(space, 2), "--model", "m", *where)
    assert len(server.requests) == 2


@pytest.mark.parametrize("name", ["a", "x" * 300])
def test_a_model_file_that_cannot_be_written(space, name):
    if name == "a":
        (space / "models").touch()
    _, err = run(space, "run", "palindrome", "--model", name, "--provider", "ollama_openai", code=2)
    assert "no calls were made" in err


@pytest.mark.parametrize(
    "fields",
    [
        {"text": None},
        {"failure_type": 5},
        {"availability_status": "weird"},
        {"input_tokens": "abc"},
        {"output_tokens": 10**30},
        {"ttft_ms": 1.5},
        {"cost_usd": "abc"},
        {"cost_usd": -1},
        {"delay_ms": "abc"},
        {"task": ["t0"]},
    ],
)
def test_replay_files_are_checked_before_the_first_call(space, fields):
    (space / "a.jsonl").write_text("\n" + json.dumps({"task": "t0", "text": "yes", **fields}))
    where = ("--provider", "replay", "--answers", "a.jsonl")
    _, err = run(space, "run", suite(space, 1), "--model", "m", *where, code=2)
    assert "a.jsonl:2: not a valid response" in err
    assert "Error(" not in err
    assert rows(space, "FROM results") == []


@pytest.mark.slow
def test_replay_responses_may_contain_any_line_separator(space):
    text = "a\u2028b\x85c"
    (space / "a.jsonl").write_text(json.dumps({"task": "t0", "text": text}, ensure_ascii=False))
    where = ("--provider", "replay", "--answers", "a.jsonl")
    run(space, "run", suite(space, 1), "--model", "m", *where)
    assert rows(space, "SELECT raw_output FROM results") == [(text,)]


@pytest.mark.slow
def test_a_json_suite_may_contain_all_that_json_may(space):
    tasks = [{"id": "a", "prompt": "smile \U0001f600", "k" * 2000: 1}]
    (space / "mine.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(tasks, indent="\t").encode())
    with serving(http(200, chat("yes"))) as server:
        run(space, "run", "mine.json", "--model", "m", *server_options(server))
    assert server.requests[0]["body"]["messages"][0]["content"] == "smile \U0001f600"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "template: ['{prompt}']\ntasks:\n- prompt: a",
            "template: the {prompt} placeholder is missing",
        ),
        ("tasks:\n- {id: 1, prompt: a}\n- {id: '1', prompt: b}", "the id '1' is used twice"),
        ("{", "mine"),
        ("[" * 100_000, "mine"),
    ],
)
@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_suites_with_mistakes(space, text, problem, suffix):
    document = text if text[0] in "{[" or suffix == "yaml" else json.dumps(load(text.encode()))
    (space / f"mine.{suffix}").write_text(document)
    _, err = run(space, "run", f"mine.{suffix}", "-m", "m", "--provider", "ollama_openai", code=2)
    assert problem in err


def test_models_shows_what_is_missing(space, monkeypatch):
    (space / "models").mkdir()
    files = {"a": "openai_responses", "b": "ollama_openai", "c": "claude_code_cli"}
    for name, provider in files.items():
        (space / f"models/{name}.yaml").write_text(f"name: {name}\nprovider: {provider}\n")
    odd = "name: d\nprovider: ollama_openai\noptions: {api_base: 'http://a:b'}\n"
    (space / "models/d.yaml").write_text(odd)
    gone = {"OPENAI_API_KEY": "", "PATH": "", "OLLAMA_OPENAI_BASE": closed_port()}
    for name, value in gone.items():
        monkeypatch.setenv(name, value)
    out, _ = run(space, "models", "--format", "jsonl")
    missing = {line["model"]: line["missing"] for line in map(json.loads, out.splitlines())}
    assert "OPENAI_API_KEY" in missing["a"]
    assert "no server" in missing["b"]
    assert "no server" in missing["d"]
    assert "claude" in missing["c"]


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"tasks": []}, "tasks"),
        ({"suite": "openclaw", "tasks": [{"prompt": "a"}]}, "suite"),
        ({"tasks": [{"id": "a"}]}, "tasks[0]: has no prompt"),
        ({"tasks": [{"prompt": "a", "reference": 1}]}, "tasks[0].reference"),
        ({"tasks": [{"prompt": "a"}, {"prompt": "a"}]}, "is used twice"),
        ({"template": "no place", "tasks": [{"prompt": "a"}]}, "template"),
    ],
)
def test_a_suite_is_checked_before_it_runs(space, document, problem):
    (space / "own.yaml").write_text(json.dumps(document))
    _, err = run(space, "run", "own.yaml", "--model", "m", "--provider", "replay", code=2)
    assert problem in err


@pytest.mark.parametrize(
    "option",
    [("-m", "n"), ("--limit", "1"), ("--stream",)],
)
def test_the_plan_cannot_be_changed_by_resume(tmp_path, option):
    ended = command(tmp_path / "store", "run", "--resume", "r1", *option)
    assert ended.code == 2
    assert "cannot be changed with --resume" in ended.err
    assert not (tmp_path / "store").exists()
