"""`evalstore run` from the command line: complete runs against servers on loopback."""

import gc
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
from serving import chat, http, serving
from support import ROOT, bring_in, command, new_store

from exports.palindrome.log_files import Selection, export_palindrome
from runners.suites.registry import SUITES, suite_named, suite_of
from tests.campaigns.runner_kills import run_and_kill
from warehouse.formats.yaml.documents import load
from warehouse.journal.run_lock import run_lock

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
        [sys.executable, "-m", "evalstore", *map(str, arguments)],
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


def test_palindrome_with_replay_is_exported_and_read_back_the_same(space):
    named = ("--model", "example/aurora-2", "--model", "example/kaamos-mini")
    _, err = run(space, "run", "palindrome", *named, "--provider", "replay")
    assert "18 of 18 done, 0 failed" in err
    ours = new_store(space / "store")
    exported = export_palindrome(ours, space / "out", Selection(with_extras=True))
    assert not exported.omitted
    assert [path.name for path in exported.paths if "logs" in str(path)]
    theirs = new_store(space / "other")
    bring_in(theirs, space / "out", ROOT / "tasks")
    assert not theirs.sql("FROM checks.violations").fetchall()
    for query in (
        "SELECT * EXCLUDE (n_runs) FROM leaderboard",
        "FROM palindrome_accuracy",
        "FROM palindrome_tasks",
        "SELECT prompt, model, settings, recorded, computed FROM verdicts ORDER BY ALL",
    ):
        left, right = ours.sql(query), theirs.sql(query)
        assert left.df().to_csv(float_format="%.9g") == right.df().to_csv(float_format="%.9g"), (
            query
        )


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
    assert rows(space, "FROM runs") == []


def test_each_attempt_is_a_row(space):
    with serving(http(200, chat("yes"))) as server:
        where = server_options(server)
        run(space, "run", suite(space, 2), "--model", "m", *where, "--attempts", 3)
    assert rows(space, "SELECT task_id, attempt FROM results ORDER BY seq") == [
        (f"t{task}", attempt) for attempt in (1, 2, 3) for task in (0, 1)
    ]
    assert len(server.requests) == 6


def test_selecting_tasks(space):
    with serving(http(200, chat("yes"))) as server:
        where = ("--model", "m", *server_options(server))
        run(space, "run", suite(space, 9), *where, "--tasks", "t5, 3,t1", "--limit", 2)
        assert rows(space, "SELECT task_id FROM results ORDER BY seq") == [("t1",), ("t2",)]
        _, err = run(space, "run", "mine.json", *where, "--tasks", "t5,nine", code=2)
    assert "no task has the ID nine" in err


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


@pytest.mark.parametrize("option", ["--max-tries", "--tries"])
def test_the_number_of_tries_is_limited(space, option):
    with serving(http(503, "busy", "Retry-After: 0")) as server:
        where = server_options(server)
        run(space, "run", suite(space, 1), "--model", "m", *where, option, 2)
    assert len(server.requests) == 2


def test_the_budget_covers_the_whole_run(space):
    price = {"input": 0.01, "output": 0.01}  # 12 tokens a call: 12 cents
    (space / "models").mkdir()
    (space / "models/m.yaml").write_text(f"name: m\noptions: {{max_tokens: 7}}\nprice: {price}\n")
    with serving(http(200, chat("yes"))) as server:
        where = ("--model", "m", *server_options(server), "--max-cost-usd")
        _, err = run(space, "run", suite(space, 20), *where, "0.5", code=1)
        assert "stopped: the budget is spent" in err
        n_calls = len(server.requests)
        assert n_calls == 4
        resume = ("run", "--resume", run_id_of(err), "--max-cost-usd")
        run(space, *resume, "0.5", code=1)
        assert len(server.requests) == n_calls
        run(space, *resume, "99")
        assert len(server.requests) == 20


def test_a_budget_requires_prices(space):
    _, err = run(space, "run", suite(space, 1), "--model", "m", "--provider", "ollama_openai",
                 "--max-cost-usd", 1, code=2)  # fmt: skip
    assert "the price of m is unknown" in err


def test_missing_keys_are_reported_before_the_first_call(space, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    _, err = run(space, "run", suite(space, 1), "-m", "m", "--provider", "openai_responses", code=2)
    assert "OPENAI_API_KEY is not set" in err
    assert rows(space, "FROM results") == []


def test_nothing_stays_open_after_a_run(space):
    reply = {"output": [{"content": [{"type": "output_text", "text": "yes"}]}]}
    with serving(http(200, chat("yes") | reply)) as server:
        for provider in ("ollama_openai", "openai_responses", "litellm"):
            where = ("--model", "openai/m", "--provider", provider, "--base-url", server.base)
            counts = []
            for _ in range(2):  # the first opens what libraries keep open
                run(space, "run", suite(space, 20), *where, "--concurrency", 10)
                gc.collect()
                counts.append(len(list(Path("/proc/self/fd").iterdir())))
            assert counts[1] <= counts[0], provider


def test_a_run_records_the_commit_of_its_files(space, monkeypatch):
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
    assert commits == [(None, "0.1.0"), (head.stdout.strip(), "0.1.0"), (None, "0.1.0")]


def _is_pending(pid, kind):
    """Return whether a signal was sent to a process but not yet delivered."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (pending,) = [line.split()[1] for line in lines if line.startswith("ShdPnd:")]
    return int(pending, 16) >> (kind - 1) & 1


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
        _, err = process.communicate(timeout=60)
        assert process.returncode == 1
        assert "stopped: interrupted" in err
        assert rows(space, "SELECT count(*) FROM results WHERE success") == [(4,)]
        assert f"evalstore run --resume {run_id_of(err)}" in err
        run(space, "run", "--resume", run_id_of(err))
    asked = Counter(request["body"]["messages"][0]["content"] for request in server.requests)
    assert asked == dict.fromkeys((f"question {i}" for i in range(9)), 1)


def test_a_second_runner_is_refused(space):
    with serving(http(400, "{}")) as server:
        _, err = run(space, "run", suite(space, 1), "--model", "m", *server_options(server))
        run_id = run_id_of(err)
        with run_lock(space / "store", "mine", run_id):
            _, err = run(space, "run", "--resume", run_id, "--retry-failed", code=2)
        assert f"run {run_id} is being run by the process with id" in err
    assert len(server.requests) == 1


@pytest.mark.slow
def test_kills_at_random_moments_repeat_no_completed_call(space):
    campaign = run_and_kill(space, calls=30, kills=4, seed=23)
    assert campaign.is_right, campaign
    assert campaign.n_idle_kills < campaign.n_kills


def test_a_run_whose_address_had_a_password_resumes_with_base_url(space):
    with serving(http(400, "{}")) as server:
        base = server.base.replace("http://", "http://me:planted-in-base-4@")
        where = ("--model", "m", "--provider", "ollama_openai", "--base-url", base)
        _, err = run(space, "run", suite(space, 1), *where)
        resume = ("run", "--resume", run_id_of(err), "--retry-failed")
        _, err = run(space, *resume, code=2)
        assert "give it again with --base-url" in err
        run(space, *resume, "--base-url", base)
    sent = [request["headers"]["authorization"] for request in server.requests]
    assert len(sent) == 2
    assert sent[0] == sent[1]
    for path in (space / "store").rglob("*"):
        assert not path.is_file() or b"planted" not in path.read_bytes(), path


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
            said = run(space, "run", suite(space, 2), *arguments)
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
    _, err = run(space, "models", code=2)
    assert problem in err


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


def test_all_models_when_every_file_says_skip(space):
    shutil.copytree(ROOT / "models", space / "models")
    for path in (space / "models").iterdir():
        path.write_text("name: x\nskip: true\n")
    for dry in ((), ("--dry-run",)):
        _, err = run(space, "run", suite(space, 1), "--model", "ALL", *dry, code=2)
        assert "no model is selected" in err


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
    assert rows(space, "FROM results") == []


def test_replay_responses_may_contain_any_line_separator(space):
    text = "a\u2028b\x85c"
    (space / "a.jsonl").write_text(json.dumps({"task": "t0", "text": text}, ensure_ascii=False))
    where = ("--provider", "replay", "--answers", "a.jsonl")
    run(space, "run", suite(space, 1), "--model", "m", *where)
    assert rows(space, "SELECT raw_output FROM results") == [(text,)]


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
    gone = {"OPENAI_API_KEY": "", "PATH": "", "OLLAMA_OPENAI_BASE": "http://127.0.0.1:9"}
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
