"""`evalstore run --adaptive`: what it asks, when it stops, how it is resumed, what it counts as."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest
from serving import chat, http, serving
from support import ROOT, command, new_store

from exports.site.pages import run as run_pages
from exports.site.site import opened_site
from tests.items.banks import fill, task_id

pytestmark = pytest.mark.filterwarnings("default")
N_TASKS = 200


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A store with 30 models on 200 tasks, and the answers of another."""
    folder = tmp_path_factory.mktemp("filled")
    store = new_store(folder / "store")
    passed = fill(store, folder, n_models=30, n_tasks=N_TASKS)
    store.sync()
    lines = [{"task": task_id(n), "text": "yes" if passed[n] else "no"} for n in range(N_TASKS)]
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return folder


@pytest.fixture
def space(filled, tmp_path, monkeypatch):
    """A copy of it, in which commands run."""
    folder = shutil.copytree(filled, tmp_path / "space")
    monkeypatch.chdir(folder)
    return folder


def full_score(space):
    lines = (space / "answers.jsonl").read_text().splitlines()
    return sum('"yes"' in line for line in lines) / len(lines)


def adaptive(space, *arguments, code=0):
    replay = ("--provider", "replay", "--answers", "answers.jsonl", "--model", "new/gnu-1")
    ended = command(
        space / "store", "run", "mine.json", *replay, "--adaptive", "--run-id", "a", *arguments
    )
    assert ended.code == code, ended.err
    return ended.err


def asked(space, run="a"):
    """Return the tasks that a run was asked, in order of the calls."""
    query = f"SELECT task_id FROM results WHERE run_id = '{run}' ORDER BY started_at, seq"
    return [task for (task,) in new_store(space / "store").sql(query).fetchall()]


@pytest.mark.slow
def test_it_stops_at_the_error_and_prints_the_estimate(space):
    said = adaptive(space, "--error", 0.06)
    n_asked = len(asked(space))
    assert 20 < n_asked < N_TASKS * 0.8
    number = r"([\d.]+)"
    estimate = (
        rf"full score {number} % \(90 % interval {number} to {number} %\), by {number} of 200"
    )
    found = re.search(estimate, said)
    score, low, high, n_said = map(float, found.groups())
    assert n_said == n_asked
    assert high - low <= 12.1
    assert low <= 100 * full_score(space) <= high
    assert low < score < high
    assert "no score" in said
    assert "not yet" not in said


def estimated(space, run, *arguments):
    """Return the row of `evalstore subset --estimate`, and what it says."""
    words = ("subset", "mine", "--estimate", run, *arguments)
    [row] = json.loads(command(space / "store", *words, "--format", "json").out)
    return row, command(space / "store", *words).out


@pytest.mark.slow
def test_the_stored_run_is_estimated_as_it_stopped(space):
    said = adaptive(space, "--error", 0.06)
    [told] = re.findall(r"gnu-1: (estimated .* of 200 tasks)", said)
    row, sentences = estimated(space, "a")
    assert told in sentences
    assert row["order"] == "adaptive"
    assert set(row["task_ids"]) == set(asked(space))
    assert len(row["calibrated_on"]) == 30
    assert "30 stored models: ant-0, " in sentences
    # What is stored later does not change it.
    fill(new_store(space / "store"), space, n_models=3, n_tasks=N_TASKS, suite="other")
    assert estimated(space, "a")[0] == row


@pytest.mark.slow
def test_a_run_of_chosen_tasks_is_estimated_from_other_models_only(space):
    run = ("run", "mine.json", "--provider", "replay", "--answers", "answers.jsonl")
    run += ("--model", "new/gnu-1", "--run-id")
    chosen = ",".join(task_id(n) for n in range(0, N_TASKS, 5))
    assert command(space / "store", *run, "part", "--tasks", chosen).code == 0
    row, sentences = estimated(space, "part")
    assert row["full_score_low"] <= full_score(space) <= row["full_score_high"]
    assert row["full_score_high"] - row["full_score_low"] < 0.3
    assert (row["order"], row["n_answered"], row["n_tasks"]) == ("chosen before", 40, N_TASKS)
    assert "by 40 of 200 tasks" in sentences
    # What a model answered itself is no evidence of how hard the tasks are for others.
    whole, _ = estimated(space, "r0")
    assert len(whole["calibrated_on"]) == 29
    assert "ant-0" not in whole["calibrated_on"]
    query = "SELECT avg(objective_pass::INT) FROM lake.results WHERE run_id = 'r0'"
    [(score,)] = new_store(space / "store").sql(query).fetchall()
    ends = ("full_score", "full_score_low", "full_score_high")
    assert [whole[name] for name in ends] == pytest.approx([score] * 3, abs=1e-4)
    for words, message in (
        (("--estimate", "prt"), "mine has no run 'prt'; did you mean 'part'"),
        (("--estimate", "part", "--tasks", 3), "Give either --tasks or --error, or --estimate"),
    ):
        assert message in command(space / "store", "subset", "mine", *words).err


@pytest.mark.slow
def test_a_smaller_error_takes_more_tasks(space):
    adaptive(space, "--error", 0.1)
    wide = asked(space)
    adaptive(space, "--error", 0.05, "--run-id", "b")
    assert set(wide) < set(asked(space, "b"))


@pytest.mark.slow
def test_it_is_no_full_run_on_boards(space):
    store = new_store(space / "store")
    before = store.sql("SELECT model, pass_rate FROM leaderboard ORDER BY ALL").fetchall()
    real = ("run", "mine.json", "--provider", "ollama_openai", "--model", "gnu-1", "--adaptive")
    with serving(http(200, chat("yes"))) as server:
        ended = command(space / "store", *real, "--base-url", server.base, "--run-id", "a")
    assert ended.code == 0, ended.err
    n_asked = len(asked(space))
    assert n_asked < N_TASKS
    board = "SELECT model, pass_rate FROM leaderboard WHERE is_comparable ORDER BY ALL"
    assert store.sql(board).fetchall() == before
    query = "SELECT n_tasks, n_tasks_in_set, is_comparable FROM leaderboard WHERE model = 'gnu-1'"
    assert store.sql(query).fetchall() == [(n_asked, N_TASKS, False)]
    query = (
        "SELECT pass_rate, pass_rate_low, cost_per_passed_usd, minutes_per_passed, remark "
        "FROM leaderboard WHERE model = 'gnu-1'"
    )
    [(*figures, remark)] = store.sql(query).fetchall()
    assert figures == [None] * 4
    assert "no score" in remark
    for view in ("model_history", "pass_rates", "run_overview"):
        query = f"SELECT pass_rate, remark FROM {view} WHERE run_id = 'a'"
        assert store.sql(query).fetchall() == [(None, remark)]
    with opened_site(store, [run_pages.PAGE_TYPE], samples="none") as site:
        pages = {page.path: page.data.decode() for page in site.pages(run_pages.PAGE_TYPE)}
    [page] = [text for path, text in pages.items() if '<h1 dir="auto">a</h1>' in text]
    assert f"No pass rate: {remark}." in page
    assert '<dt>passed</dt><dd dir="auto">no score</dd>' in page
    assert re.search(r">passed</\w+>\s*<\w+[^>]*>unknown<", page)
    assert "no score</td>" in pages["runs/index.html"]
    assert "no figure</td>" in page
    assert "pass_rate" not in ended.out
    assert "n_passed" not in ended.out
    assert f"{n_asked} of {n_asked} answered" in ended.err


@pytest.mark.slow
def test_resume_goes_on_with_the_same_order(space):
    adaptive(space, "--error", 0.06)
    whole = asked(space)
    script = (
        "import os, sys\n"
        "import runners.run as run\n"
        "row, count = run.Run._row, [0]\n"
        "def dying(self, *rest):\n"
        "    count[0] += 1\n"
        "    if count[0] > 12:\n"
        "        os.kill(os.getpid(), 9)\n"
        "    return row(self, *rest)\n"
        "run.Run._row = dying\n"
        "import evalstore\n"
        "evalstore.main(sys.argv[1:])\n"
    )
    words = ["run", "mine.json", "--provider", "replay", "--answers", "answers.jsonl"]
    words += ["--model", "new/gnu-1", "--adaptive", "--error", "0.06", "--run-id", "b"]
    killed = subprocess.run(
        [sys.executable, "-c", script, "--store", "store", *words],
        cwd=space, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=False,
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    resumed = command(space / "store", "run", "--resume", "b", "--answers", "answers.jsonl")
    assert resumed.code == 0, resumed.err
    again = asked(space, "b")
    assert len(again) == len(set(again))
    # Calls of a round start at once, in any order.
    rounds = [(set(again[at : at + 8]), set(whole[at : at + 8])) for at in (0, 8, 16)]
    assert all(ours == theirs for ours, theirs in rounds)
    assert len(set(again) ^ set(whole)) <= 16
    ended = command(space / "store", "run", "--resume", "b", "--answers", "answers.jsonl")
    assert "0 calls" in ended.err
    assert "estimated full score" in ended.err
    assert asked(space, "b") == again


@pytest.mark.slow
def test_failed_calls_say_nothing_of_the_model(space):
    lines = (space / "answers.jsonl").read_text().splitlines()
    kept = [line for n, line in enumerate(lines) if n % 7]
    (space / "answers.jsonl").write_text("\n".join(kept))
    said = adaptive(space, "--error", 0.08)
    n_judged = len([task for task in asked(space) if int(task[1:]) % 7])
    assert f"by {n_judged} of 200 tasks" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--attempts", 2), "--attempts cannot be used with --adaptive"),
        (("--shard", "1/2"), "--shard cannot be used with --adaptive"),
    ],
)
def test_what_does_not_fit_is_refused(space, arguments, message):
    assert message in adaptive(space, *arguments, code=2)


def test_error_needs_adaptive(space):
    ended = command(space / "store", "run", "mine.json", "--model", "m", "--error", 0.1)
    assert "--error requires --adaptive" in ended.err


@pytest.mark.slow
def test_few_tasks_and_unknown_ones_are_said(space):
    chosen = ",".join(task_id(n) for n in range(100))
    assert "below 200 tasks it saves little" in adaptive(space, "--tasks", chosen)
    tasks = json.loads((space / "mine.json").read_text())
    tasks["tasks"].append({"id": "new", "prompt": "another", "reference": "yes"})
    (space / "mine.json").write_text(json.dumps(tasks))
    said = adaptive(space, "--run-id", "b", code=2)
    assert "no stored model was asked 1 of the 201 tasks, such as new" in said


@pytest.mark.slow
def test_few_models_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fill(new_store(tmp_path / "store"), tmp_path, n_models=29, n_tasks=20)
    (tmp_path / "answers.jsonl").write_text("")
    assert "29 models were asked" in adaptive(tmp_path, code=2)
