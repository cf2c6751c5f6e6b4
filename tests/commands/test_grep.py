"""`evalstore grep`: which texts match, in which results, and what a terminal shows of them."""

import json
import re

import pytest
from support import add_rows, command, new_store

from tools.screens import shown_on_terminal

RUN = {"suite": "arena", "run_id": "r", "generation": "root", "content_id": "run"}


def _result(name, **fields):
    return {
        "suite": "arena",
        "run_id": "r",
        "generation": "root",
        "content_id": name,
        "seq": 1,
        "task_set": "core",
        "task_id": f"task-{name}",
        "objective_pass": True,
        **fields,
    }


def _message(result, seq, **fields):
    row = {"suite": "arena", "run_id": "r", "generation": "root", "content_id": f"{result}/{seq}"}
    return {**row, "result_id": result, "seq": seq, **fields}


def _step(result, seq, kind, **fields):
    row = {"suite": "arena", "run_id": "r", "generation": "root", "content_id": f"{result}#{seq}"}
    return {**row, "result_id": result, "seq": seq, "kind": kind, **fields}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A store with a chat, a trial with steps, and two answers to one prompt."""
    store = new_store(tmp_path_factory.mktemp("grep") / "store")
    prompt = "Say the word crab.\nNothing else."
    add_rows(
        store.lake,
        runs=[RUN],
        results=[
            _result("chat", model="gpt", prompt="find the crab", raw_output="a crab!"),
            _result("trial", system="crab 2 (gpt)", trial_id="t", objective_pass=False),
            _result("one", model="gpt", task_id="same", prompt=prompt, raw_output="Crab"),
            _result("two", model="opus", task_id="same", prompt=prompt, raw_output="No."),
        ],
        messages=[
            _message("chat", 1, role="user", text="find the crab"),
            _message("chat", 2, role="assistant", text="", tool_calls='[{"function": "crab"}]'),
            _message("chat", 3, role="tool", text="crab: not found\nnot a crab"),
            _message("chat", 4, role="assistant", text="a crab!"),
        ],
        steps=[
            _step("trial", 1, "tool", name="bash", arguments='{"cmd":"ls crab"}', text="crab.txt"),
            _step("trial", 2, "tool", name="bash", error="crab: denied"),
            _step("trial", 3, "model", reasoning="the crab is gone"),
        ],
    )
    store.sync()
    return store.path


def grep(path, *arguments):
    result = command(path, "grep", *arguments, "--format", "jsonl")
    return [json.loads(line) for line in result.out.splitlines()] if not result.code else result


def parts(rows):
    return sorted((row["result_id"], row["part"], row["seq"]) for row in rows)


def test_every_kind_of_text_is_searched_once(path):
    assert parts(grep(path, "crab")) == [
        ("chat", "message", 1),  # not again as the prompt
        ("chat", "message", 3),
        ("chat", "message", 4),  # nor as the answer
        ("chat", "tool call", 2),
        ("one", "prompt", None),
        ("trial", "error", 2),
        ("trial", "reasoning", 3),
        ("trial", "step", 1),
        ("trial", "tool call", 1),
    ]


@pytest.mark.slow
def test_results_of_one_id_in_two_runs_are_listed_apart(tmp_path):
    store = new_store(tmp_path / "store")
    runs = [{**RUN, "run_id": run_id} for run_id in ("r1", "r2")]
    answers = [_result("same", run_id=f"r{n}", model="gpt", raw_output="crab") for n in (1, 2)]
    add_rows(store.lake, runs=runs, results=answers)
    store.sync()
    assert [(row["run_id"], row["n_results"]) for row in grep(store.path, "crab")] == [
        ("r1", 1),
        ("r2", 1),
    ]


def test_a_prompt_sent_twice_in_a_result_is_of_one_result(tmp_path):
    store = new_store(tmp_path / "store")
    asked = [_message("chat", seq, role="user", text="find the crab") for seq in (1, 2)]
    add_rows(store.lake, runs=[RUN], results=[_result("chat", model="gpt")], messages=asked)
    store.sync()
    assert [row["n_results"] for row in grep(store.path, "crab")] == [1]


def test_a_prompt_is_listed_once_with_the_number_of_its_results(path):
    [row] = grep(path, "the word")
    assert (row["part"], row["task_id"], row["n_results"]) == ("prompt", "same", 2)
    assert all(row["n_results"] == 1 for row in grep(path, "denied"))


@pytest.mark.parametrize(
    ("options", "results"),
    [
        (["crab", "--model", "crab 2 (gpt)"], {"trial"}),
        (["crab", "--task", "same"], {"one"}),
        (["crab", "--part", "answer"], {"chat"}),
        (["zebra"], set()),
        (["-i", "crab", "--part", "answer"], {"chat", "one"}),
        (["crab", "--where", "passed = false"], {"trial"}),
        (["crab", "--where", "model = 'gpt' -- and so on"], {"chat", "one"}),
        (["crab", "--suite", "arena", "--task-set", "core"], {"chat", "one", "trial"}),
        (["^not"], {"chat"}),
        (["txt$"], {"trial"}),
        (["crab."], {"chat", "one", "trial"}),
        (["--fixed", "crab."], {"one", "trial"}),
        (["-F", "-i", "CRAB."], {"one", "trial"}),
        (["crab|No\\."], {"chat", "one", "trial", "two"}),
    ],
)
def test_options_choose_results_and_patterns(path, options, results):
    rows = grep(path, *options)
    if results:
        assert {row["result_id"] for row in rows} == results
    else:
        assert (rows.code, rows.out) == (1, "")
        assert f"nothing matches '{options[0]}'" in rows.err


def test_names_that_no_result_has_are_told(path):
    for options in (["--run", "other"], ["--model", "gptt"]):
        ended = grep(path, "crab", *options)
        assert (ended.code, f"{options[1]!r}; " in ended.err) == (2, True), ended.err


def test_an_excerpt_has_the_match_and_some_of_its_text(path):
    assert [row["excerpt"] for row in grep(path, "is", "--context", "3")] == ["…ab is go…"]
    [row] = grep(path, "not a", "--context", "0")
    assert row["excerpt"] == "…not a…"


@pytest.mark.parametrize(
    ("context", "excerpt"),
    [("2", "…e crab\nn…"), ("7", "…ät the crab\nnothin…"), ("14", "Äät the crab\nnothing else")],
)
def test_an_excerpt_marks_where_it_is_cut(store, context, excerpt):
    text = "Äät the crab\nnothing else"
    add_rows(store.lake, runs=[RUN], results=[_result("one", raw_output=text)])
    [row] = grep(store.path, "crab", "--context", context)
    assert row["excerpt"] == excerpt


def test_a_wrong_pattern_or_condition_is_explained(path):
    wrong = grep(path, "(crab")
    assert wrong.code == 2
    assert "'(crab' is not a regular expression: missing ); --fixed takes it as a text" in wrong.err
    assert 'column "colour" not found' in grep(path, "crab", "--where", "colour = 1").err
    assert (
        grep(path, "crab", "--where", "true) OR (SELECT 1 FROM read_text('/etc/passwd')").code == 2
    )


def test_the_first_matches_say_how_many_there_are(path):
    shown = command(path, "grep", "crab", "-n", "2", "--format", "jsonl")
    assert len(shown.out.splitlines()) == 2
    assert "the first 2 of 9 matches; --limit shows more" in shown.err


def test_a_terminal_shows_matches_below_their_results(path):
    lines = re.sub(
        r"\x1b\[[0-9;]*m", "", shown_on_terminal(path, ["grep", "crab"], 60)
    ).splitlines()
    assert "gpt  same  r (arena, passed)" in lines
    assert "  prompt of 2 results: Say the word crab. Nothing else." in lines
    assert "crab 2 (gpt)  task-trial  r (arena, failed)" in lines
    assert "  error 2 bash: crab: denied" in lines
    assert max(map(len, lines)) <= 60
