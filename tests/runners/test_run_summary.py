"""How a run ends: its table, a sentence for each model, and the exit code."""

import json
import os
import subprocess
import sys

import pytest
from serving import chat, closed_port, http, serving
from support import ROOT, command, new_store

from runners.command import run as run_command
from runners.providers.registry import make_provider
from runners.summary import _Problem

# litellm and its libraries emit warnings of their own.
pytestmark = pytest.mark.filterwarnings("default")
REPLIES = ["yes", "no", "", "yes"]


@pytest.fixture
def space(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    new_store(tmp_path / "store")
    return tmp_path


def write(space, n, **fields):
    tasks = [{"id": f"t{i}", "prompt": f"question {i}"} for i in range(n)]
    document = {"suite": "mine", "tasks": [{**task, **fields} for task in tasks]}
    (space / "mine.json").write_text(json.dumps(document))
    (space / "models").mkdir()
    (space / "models/m.yaml").write_text("name: m\nprice: {input: 0.001, output: 0.001}\n")
    return "mine.json"


def run(space, base, *options, model="m"):
    where = ("-m", model, "--provider", "ollama_openai", "--base-url", base, "--max-tries", 1)
    return command(space / "store", "run", "mine.json", *where, *options)


def rows(space, query):
    return new_store(space / "store").sql(query).fetchall()


def by_task(request):
    """Reply by the number in the prompt: two pass, one fails, one is empty."""
    prompt = request["body"]["messages"][0]["content"]
    return [http(200, chat(REPLIES[int(prompt.split()[1]) % 4]))]


@pytest.mark.slow
@pytest.mark.parametrize("attempts", [1, 2])
def test_the_pass_rate_is_that_of_the_leaderboard(space, attempts):
    write(space, 4, reference="yes")
    with serving(by_task) as server:
        ended = run(space, server.base, "--attempts", attempts)
    assert ended.code == 0
    header, _, values = ended.out.splitlines()[:3]
    shown = dict(zip(header.split(), values.split(), strict=False))
    assert list(shown)[:4] == ["model", "pass_rate", "cost_usd", "n_tasks"]
    ((rate, n_tasks),) = rows(space, "SELECT pass_rate, n_tasks FROM leaderboard WHERE is_main")
    assert (float(shown["pass_rate"]), int(shown["n_tasks"])) == (rate, n_tasks) == (0.5, 4)
    assert int(shown["n_empty"]) == attempts
    expected = {
        1: "m: 2 of 4 passed; 1 empty answer",
        2: "m: 4 of 8 attempts at 4 tasks passed; 2 empty answers",
    }
    assert expected[attempts] in ended.err.splitlines()
    assert f"m: {4 * attempts} of {4 * attempts} done, 0 failed, {attempts} empty, " in ended.err


@pytest.mark.slow
def test_a_terminal_shows_the_pass_rate_and_the_cost_first(space):
    write(space, 1, reference="yes")
    reader, terminal = os.openpty()
    with serving(http(200, chat("yes"))) as server:
        where = ("-m", "m", "--provider", "ollama_openai", "--base-url", server.base)
        ended = subprocess.run(
            [sys.executable, "-m", "evalstore", "--store", "store", "run", "mine.json", *where],
            env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80"},
            stdout=terminal,
            stderr=subprocess.PIPE,
            text=True,
            check=True,
        )
    os.close(terminal)
    first, *_ = os.read(reader, 9999).decode().splitlines()
    os.close(reader)
    assert first.split()[:3] == ["model", "pass_rate", "cost_usd"]
    # The command has no `--wide`.
    assert "(a pipe or file has all)" in " ".join(ended.stderr.split())


@pytest.mark.slow
def test_a_run_without_any_answer_fails_and_says_why(space):
    write(space, 3, reference="yes")
    ended = run(space, closed_port())
    assert ended.code == 1
    sentence = f"m: 0 of 3 answered; 3 calls failed: no server responds at {closed_port()}/v1: "
    assert f"{sentence}Connection refused" in ended.err.splitlines()
    run_id = ended.err.partition("run ")[2].partition(":")[0]
    assert ended.err.splitlines()[-1] == (
        "error: no call was answered; make the calls again with "
        f"`evalstore run --resume {run_id} --retry-failed`"
    )
    with serving(http(200, chat("yes"))) as server:
        again = ("--resume", run_id, "--retry-failed", "--base-url", server.base)
        ended = command(space / "store", "run", *again)
    assert ended.code == 0
    assert "m: 3 of 3 passed" in ended.err.splitlines()


@pytest.mark.slow
def test_failed_judgements_are_mentioned_with_their_reason(space):
    judge = {"type": "judge", "model": "judge", "provider": "ollama_openai", "prompt": "{answer}?"}
    write(space, 4, scorer=judge, reference="yes")

    def judged(request):
        prompt = request["body"]["messages"][0]["content"]
        said = {"passed": True, "reason": "fine"} if "yes" in prompt else "I cannot say"
        return [http(200, chat(json.dumps(said)))]

    with serving(by_task) as server, serving(judged) as judges:
        some = run(space, server.base, "--judge-base-url", judges.base)
        none = run(space, server.base, "--judge-base-url", closed_port())
    assert some.code == 0
    sentence = "m: 2 of 4 passed; 1 empty answer; 1 judgement failed: the reply is not an object"
    assert sentence in some.err
    assert none.code == 1
    refused = f"no server responds at {closed_port()}/v1: Connection refused"
    sentence = f"m: 0 of 4 judged; 1 empty answer; 3 judgements failed: {refused}"
    assert sentence in none.err.splitlines()
    assert "error: no answer was judged; judge the answers with `evalstore rescore`" in none.err


@pytest.mark.slow
def test_a_suite_without_a_scorer_counts_answers(space):
    write(space, 4)
    replies = iter([http(200, chat("yes")), *[http(401, "no\nway")] * 2, http(500, "")])
    with serving(lambda _: [next(replies)]) as server:
        ended = run(space, server.base, "--concurrency", 1)
    assert ended.code == 0
    sentence = "m: 1 of 4 answered; 3 calls failed: http_401: no way (and 1 other reason)"
    assert sentence in ended.err.splitlines()


@pytest.mark.slow
def test_a_run_of_empty_answers_fails_and_names_the_option_that_asks_again(space):
    write(space, 3, reference="yes")
    replies = iter([http(200, chat(""))] * 4 + [http(401, "no")] * 2)
    with serving(lambda _: [next(replies)]) as server:
        ended = run(space, server.base, "--run-id", "r")
        assert (ended.code, len(server.requests)) == (1, 3)
        said = "error: every answer was empty; make the calls again with `evalstore run --resume r"
        assert ended.err.splitlines()[-1] == f"{said} --retry-empty`"
        ended = command(space / "store", "run", "--resume", "r", "--retry-empty")
    assert len(server.requests) == 6
    assert "m: 0 of 3 answered; 1 empty answer; 2 calls failed: http_401: no" in ended.err
    assert ended.err.endswith("`evalstore run --resume r --retry-failed --retry-empty`\n")


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ('{"error": {"message": "out of memory", "code": 5}}', "out of memory"),
        ('{\n  "error": {\n    "message": "bad\\nkey"\n  }\n}', "bad key"),
        ('{"error": "model is loading"}', "model is loading"),
        ('{"object": "error", "message": "too long"}', "too long"),
        ('judge: http_500: {"detail": "later"}', "http_500: later"),
        ('{"error": {"code": 5}}', '{"error": {"code": 5}}'),
        ('{"a": ' * 2_000, ('{"a": ' * 2_000)[:200].strip() + "…"),
        ("<html>\n<h1>502 Bad Gateway</h1>", "<html> <h1>502 Bad Gateway</h1>"),
        ("Invalid response Traceback (most recent call last):\n x", "Invalid response"),
        ("", "exception"),
    ],
)
def test_the_reason_is_what_the_server_says(message, said):
    failed = {"is_answered": False, "failure_type": "exception", "n_results": 1}
    assert _Problem("m", "", message=message, **failed).reason == said


@pytest.mark.slow
def test_a_run_against_dead_addresses_stops_and_can_be_resumed(space):
    write(space, 30, reference="yes")
    ended = run(space, closed_port(), "-m", "m2", "--concurrency", 2)
    run_id = ended.err.partition("run ")[2].partition(":")[0]
    assert ended.code == 1
    ((n_made,),) = rows(space, "SELECT count(*) FROM results")
    assert n_made < 60
    assert ended.err.splitlines()[-1] == (
        "error: stopped: every model failed 5 calls in a row; "
        f"calls still to make: {60 - n_made}; resume with "
        f"`evalstore run --resume {run_id} --retry-failed`"
    )
    with serving(http(200, chat("yes"))) as server:
        again = ("--resume", run_id, "--retry-failed", "--base-url", server.base)
        ended = command(space / "store", "run", *again)
    assert ended.code == 0
    assert {"m: 30 of 30 passed", "m2: 30 of 30 passed"} <= set(ended.err.splitlines())


@pytest.mark.slow
def test_a_run_begins_with_how_many_calls_are_made_at_once(space):
    write(space, 2)
    (space / "models/other.yaml").write_text(
        f"name: other\nprovider: openai_responses\nbase_url: {closed_port()}\n"
    )
    models = ("-m", "m", "-m", "other", "--option", "seed", 1, "--max-tries", 1)
    with serving(http(200, chat("yes"))) as server:
        (space / "models/m.yaml").write_text(
            f"name: m\nprovider: ollama_openai\nbase_url: {server.base}\n"
        )
        ended = command(space / "store", "run", "mine.json", *models)
    line, *where = ended.err.splitlines()[:3]
    assert line.startswith("run ")
    assert [said.partition(" at ")[0] for said in where] == ["m is called", "other is called"]
    at_once = "1 at once to m (more with --concurrency); 2 at once to other"
    assert line.partition(": ")[2] == f"4 calls to make, {at_once}"


def test_the_help_states_the_number_of_simultaneous_calls():
    (option,) = [option for option in run_command.params if option.name == "concurrency"]
    for name, stated in (("litellm", "8;"), ("ollama_openai", "1;"), ("claude_code_cli", "2]")):
        label = "default" if name == "litellm" else name
        assert f"{label}: {stated}" in option.help
        assert make_provider(name).concurrency == int(stated[:-1])


@pytest.mark.slow
def test_an_empty_answer_is_drawn_again_on_request_only(space):
    write(space, 4, reference="yes")
    with serving(by_task) as server:
        err = run(space, server.base).err
    run_id = err.partition("run ")[2].partition(":")[0]
    draws = "SELECT task_id, n_draws FROM results ORDER BY task_id"

    def resumed(server, *options):
        more = ("--base-url", server.base, "--max-tries", 2, *options)
        ended = command(space / "store", "run", "--resume", run_id, *more)
        assert ended.code == 0
        return len(server.requests)

    with serving(by_task) as server:
        assert resumed(server, "--retry-failed") == 0
    assert [n for _, n in rows(space, draws)] == [1, 1, 1, 1]
    with serving(by_task) as server:
        assert resumed(server, "--retry-empty") == 1
    assert rows(space, draws)[2] == ("t2", 2)
    replies = iter([http(503, "", "Retry-After: 0"), http(200, chat("yes"))])
    with serving(lambda _: [next(replies)]) as server:
        assert resumed(server, "--retry-empty") == 2
    assert [n for _, n in rows(space, draws)] == [1, 1, 4, 1]
    new_store(space / "store").sync(rebuild=True)
    assert [n for _, n in rows(space, draws)] == [1, 1, 4, 1]


def test_empty_answers_are_drawn_again_in_resumed_runs_only(space):
    write(space, 1)
    ended = run(space, closed_port(), "--retry-empty")
    assert (ended.code, ended.err) == (2, "error: --retry-empty requires --resume RUN_ID\n")
