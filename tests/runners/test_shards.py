"""`evalstore run --shard`: one run, made by many processes."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter

import pytest
from serving import chat, http, serving
from support import PATIENT, ROOT, command, new_store

from runners.models.model import Model
from runners.plan import Plan, Task, cells_of
from runners.shard import Shard
from warehouse.core.errors import BadInput

pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.parametrize("text", ["0/3", "4/3", "1/0", "3", "a/b", "1/-2", "1.0/2", "1//2", ""])
def test_what_is_not_a_shard_is_refused(text):
    with pytest.raises(BadInput, match="K/N"):
        Shard.parse(text)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 50])
def test_shards_are_disjoint_and_cover_the_plan(count):
    plan = Plan(
        suite="s", family="own", run_date="2026-01-01", task_set="t", attempts=2,
        models=(Model(name="a", provider="replay"), Model(name="b", provider="replay")),
        tasks=tuple(Task(f"t{n}", "q") for n in range(5)),
    )  # fmt: skip
    shards = [Shard(number, count) for number in range(1, count + 1)]
    held = [[cell.seq for cell in cells_of(plan) if shard.holds(cell)] for shard in shards]
    assert sorted(seq for part in held for seq in part) == list(range(1, 21))
    assert max(map(len, held)) - min(map(len, held)) <= 1
    assert [shard.share_of(plan) for shard in shards] == [len(part) / 20 for part in held]


@pytest.fixture
def space(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tasks = [{"id": f"t{n}", "prompt": f"question {n}", "reference": "yes"} for n in range(40)]
    (tmp_path / "mine.json").write_text(json.dumps({"suite": "mine", "tasks": tasks}))
    new_store(tmp_path / "store")
    return tmp_path


def arguments(server, shard, *more):
    where = ("--provider", "ollama_openai", "--base-url", server.base, "-m", "m")
    part = ("--shard", shard) if shard else ()
    return ("run", "mine.json", *where, "--run-id", "nightly", *part, *more)


def asked(server):
    return Counter(request["body"]["messages"][0]["content"] for request in server.requests)


@pytest.mark.slow
@pytest.mark.usefixtures("space")
def test_shards_are_parts_of_one_run():
    with serving(http(200, chat("yes"))) as server:
        for number, n_calls in ((2, 13), (1, 27), (1, 27), (3, 40)):
            ended = command("store", *arguments(server, f"{number}/3"))
            assert ended.code == 0, ended.err
            assert len(server.requests) == n_calls
    assert set(asked(server).values()) == {1}
    store = new_store("store")
    assert store.sql(
        "SELECT run_id, n_results, n_tasks, n_passed FROM run_overview"
    ).fetchall() == [("nightly", 40, 40, 40)]
    # The whole run is complete.
    ended = command("store", "run", "--resume", "nightly")
    assert (ended.code, len(server.requests)) == (0, 40), ended.err


@pytest.mark.slow
@pytest.mark.usefixtures("space")
def test_a_shard_with_another_plan_is_refused():
    with serving(http(200, chat("yes"))) as server:
        assert command("store", *arguments(server, "1/3")).code == 0
        # Another address of the same model is not another plan.
        with serving(http(200, chat("yes"))) as other:
            assert command("store", *arguments(other, "2/3")).code == 0
        n_calls = len(server.requests)
        ended = command("store", *arguments(server, "3/3", "--attempts", 2))
        assert (ended.code, len(server.requests)) == (2, n_calls)
    assert "run nightly: its shards have different plans (attempts differ)" in ended.err


@pytest.mark.slow
@pytest.mark.usefixtures("space")
def test_an_id_is_used_once():
    with serving(http(200, chat("yes"))) as server:
        first, again = (command("store", *arguments(server, None, "--limit", 2)) for _ in "12")
    assert (first.code, again.code, len(server.requests)) == (0, 2, 2)
    assert "evalstore run --resume nightly" in again.err


@pytest.mark.usefixtures("space")
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--shard", "1/2"), "--shard requires --run-id"),
        (("--run-id", "../x"), "--run-id '../x'"),
        (("--run-id", ""), "--run-id ''"),
        (("--run-id", "x", "--resume", "y"), "--run-id cannot be changed with --resume"),
    ],
)
def test_options_that_make_no_run_are_refused(options, reason):
    ended = command("store", "run", "mine.json", *options)
    assert ended.code == 2
    assert reason in ended.err


@pytest.mark.slow
def test_each_shard_has_its_share_of_the_budget(space):
    (space / "models").mkdir()
    (space / "models" / "m.yaml").write_text(
        "name: m\nprovider: ollama_openai\nparameters: {max_tokens: 7}\n"
        "price: {input: 0.0, output: 0.0001}\n"
    )
    with serving(http(200, chat("yes"))) as server:
        # Ten calls of seven tokens for each of the two shards, and a little.
        limit = ("--max-cost-usd", 2 * 10.5 * 0.0007, "--concurrency", 1)
        for number, n_calls in ((1, 10), (2, 20)):
            ended = command("store", *arguments(server, f"{number}/2", *limit))
            assert (ended.code, len(server.requests)) == (4, n_calls), ended.err
            assert f"evalstore run --resume nightly --shard {number}/2" in ended.err
        # What a shard has spent counts when it is resumed.
        resumed = ("run", "--resume", "nightly", "--shard", "1/2", *limit)
        assert (command("store", *resumed).code, len(server.requests)) == (4, 20)


def start(space, words):
    return subprocess.Popen(
        [sys.executable, *PATIENT, *map(str, words)],
        cwd=space,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.campaign
def test_many_processes_ask_everything_once(space):
    """Sixteen shards run while the store is compacted and read; three are killed and repeated."""
    with serving(http(200, chat("yes"))) as server:
        shards = [arguments(server, f"{number}/16", "--concurrency", 1) for number in range(1, 17)]
        processes = [start(space, words) for words in shards]
        while len(server.requests) < 3 and any(p.poll() is None for p in processes):
            pass
        for process in processes[:3]:
            process.send_signal(signal.SIGKILL)
        others = [start(space, (name,)) for name in ("compact", "sync", "compact")]
        ended = [process.communicate() for process in (*processes, *others)]
        killed = [n for n, process in enumerate(processes) if process.returncode == -signal.SIGKILL]
        for n, (process, (_, err)) in enumerate(zip((*processes, *others), ended, strict=True)):
            assert n in killed or process.returncode == 0, err
        known = {p for (p,) in new_store("store").sql("SELECT prompt FROM results").fetchall()}
        before = len(server.requests)
        for n in killed:
            process = start(space, shards[n])
            process.communicate()
            assert process.returncode == 0
    assert not known & {r["body"]["messages"][0]["content"] for r in server.requests[before:]}
    store = new_store("store")
    counts = store.sql("SELECT count(*), count(DISTINCT task_id) FROM results").fetchall()
    assert counts == [(40, 40)]
    # Only what was in flight at a kill may have been asked twice.
    assert sum(asked(server).values()) <= 40 + len(killed)
    assert store.sql("SELECT run_id, n_passed FROM run_overview").fetchall() == [("nightly", 40)]
