"""Runs in progress: what is shown is what is in their journals."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest
from serving import chat, http, serving
from support import ROOT, new_store

from exports.view.live.watch import Watch
from exports.view.live.words import run_words
from warehouse.core.formats.json_text import json_text
from warehouse.lake.batch import Generation
from warehouse.lake.journal.journal import Entry, Journal, journal_paths
from warehouse.lake.journal.reading import read_journal

RUN = Generation("mine", "r1")


def fact(run, name):
    return dict(run["facts"]).get(name)


def header(n_tasks, *, attempts=1, models=1, clusters=None, **more):
    tasks = [{"task_id": f"t{n}", "cluster": (clusters or {}).get(n)} for n in range(n_tasks)]
    plan = {"models": [{}] * models, "attempts": attempts, "tasks": tasks, **more}
    return Entry("runs", {"content_id": "run", "origin": "runner", "plan": json_text(plan)})


def result(n, *, passed=True, failure=None, **fields):
    row = {
        "content_id": f"c{n}", "seq": 1, "model": "m", "provider": "p", "task_set": "s",
        "task_id": f"t{n}", "attempt": 1, "availability_status": "error" if failure else "ok",
        "success": failure is None, "failure_type": failure, "raw_output": "text",
        "objective_pass": None if failure else passed, "ended_at": now(),
    }  # fmt: skip
    return Entry("results", row | fields)


def now(seconds=0):
    return datetime.now(UTC).replace(tzinfo=None) + timedelta(seconds=seconds)


@pytest.fixture
def watch(store):
    made = Watch(store.path)
    yield made
    made.close()


def only_run(watch):
    [run] = watch.poll()["runs"]
    return run


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_the_figures_are_those_that_the_store_has_when_the_run_is_in_it(store, watch, seed):
    """With repeated attempts, clusters, failures, missing verdicts, models, repeated calls."""
    draw = random.Random(seed)
    n_tasks, attempts = draw.choice([1, 7, 30]), draw.choice([1, 1, 3])
    clusters = {n: f"k{n // 3}" for n in range(n_tasks) if draw.random() < 0.8}
    clusters = draw.choice([{}, clusters])
    tasks = [
        {
            "content_id": f"task {n}", "suite": "mine", "task_set": "s", "task_set_hash": "h",
            "seq": n + 1, "task_id": f"t{n}", "task_hash": f"h{n}", "cluster": clusters.get(n),
        }
        for n in range(n_tasks)
    ]  # fmt: skip
    results = []
    for model, attempt, n in (
        (model, attempt, n) for model in "ab" for attempt in range(attempts) for n in range(n_tasks)
    ):
        failure = draw.choice([None] * 6 + ["http_500"])
        passed = draw.choice([True, True, False, None if seed % 3 else False])
        results.append(
            result(
                f"{model}{attempt}-{n}", passed=passed, failure=failure, seq=len(results) + 1,
                model=model, task_id=f"t{n}", task_hash=f"h{n}", attempt=attempt + 1,
                cost_usd=draw.choice([0.001, 0.25]),
            )
        )  # fmt: skip
        if failure and draw.random() < 0.5:
            again = f"again {model}{attempt}-{n}"
            row = {"content_id": again, "stands_in_for": results[-1].row["content_id"]}
            more = {"seq": len(results) + 1, "success": True, "availability_status": "ok"}
            more |= {"failure_type": None, "objective_pass": True}
            results.append(Entry("results", {**results[-1].row, **row, **more}))
    with Journal(store.path, RUN) as journal:
        heading = header(n_tasks, attempts=attempts, models=2, clusters=clusters)
        journal.append([heading, *(Entry("tasks", task) for task in tasks)])
        for entry in results:
            journal.append([entry])
        watch.poll()
        [run] = watch._runs.values()
        shown = {row["model"]: row for row in run.figures()["models"]}
        totals = run.figures()
    rates = store.sql(
        "SELECT model, pass_rate, pass_rate_low, pass_rate_high, n_rated, n_results, n_unanswered "
        "FROM scores.entry_rates ORDER BY model"
    ).fetchall()
    for model, rate, low, high, n_rated, n_results, n_unanswered in rates:
        row = shown[model]
        assert (row["n_results"], row["n_results"] - row["n_answered"]) == (n_results, n_unanswered)
        figures = row["pass_rate"], row["pass_rate_low"], row["pass_rate_high"]
        assert figures == pytest.approx((rate, low, high), abs=1e-12)
        if rate is not None:
            assert row["n_rated"] == n_rated
    [(n_results, cost)] = store.sql("SELECT n_results, total_cost_usd FROM run_overview").fetchall()
    assert totals["n_done"] == n_results
    assert totals["n_planned"] == 2 * attempts * n_tasks
    assert totals["cost_usd"] == pytest.approx(cost)


def test_a_torn_line_is_waited_for_and_a_damaged_one_is_counted(store, watch):
    with Journal(store.path, RUN) as journal:
        journal.append([header(9), result(1)])
        line = journal.path.read_bytes().splitlines(keepends=True)[-1].replace(b"c1", b"c2")
        with journal.path.open("ab", buffering=0) as file:
            file.write(line[:40])
            assert (only_run(watch)["done"], fact(only_run(watch), "damaged lines")) == (1, None)
            file.write(line[40:] + b'{"table": "results"}\nnot JSON\n')
        run = only_run(watch)
        assert (run["done"], fact(run, "damaged lines")) == (2, "2")


def test_a_journal_that_was_cut_is_read_again(store, watch):
    with Journal(store.path, RUN) as journal:
        journal.append([header(9), result(1)])
        size = journal.path.stat().st_size
        journal.append([result(2)])
        assert only_run(watch)["done"] == 2
        os.truncate(journal.path, size)
        watch.poll()
        assert only_run(watch)["done"] == 1


@pytest.mark.slow
def test_shards_are_one_run(store, watch):
    with Journal(store.path, RUN) as first:
        first.append([header(6), result(0), result(1)])
        with Journal(store.path, RUN) as second:
            second.append([header(6), result(2, failure="http_429")])
            run = only_run(watch)
            assert fact(run, "done") == "3 of 6"
            assert fact(run, "processes") == "2"
            assert run["failures"] == [["1", "error: http_429", "text"]]
        new_store(store.path).sync()  # the second becomes a batch
        first.append([result(3)])
        run = only_run(watch)
        assert (run["state"], fact(run, "done")) == ("running", "4 of 6")
        assert fact(run, "processes") is None


def test_earlier_results_count_and_repeated_calls_count_once(store):
    with Journal(store.path, RUN) as journal:
        journal.append([header(3), result(0), result(1, failure="http_500")])
    store.sync()
    watch = Watch(store.path)
    with Journal(store.path, RUN) as journal:
        journal.append([header(3), result(7, stands_in_for="c1", task_id="t1")])
        run = only_run(watch)
        assert fact(run, "done") == "2 of 3"
        assert fact(run, "without an answer") == "0"
        assert fact(run, "done before") == "1"
        assert fact(run, "resumed")
        assert fact(run, "started") is None
    watch.close()


@pytest.mark.parametrize(
    ("results", "silent_seconds", "words"),
    [
        ([], 60, ""),
        ([], 150, "No new result for 2.5 min: nothing to compare it with yet."),
        ([result(n, ended_at=now(n - 40)) for n in range(5)], 12, ""),
        (
            [result(n, ended_at=now(n - 40)) for n in range(5)],
            40,
            "No new result for 40.0 s; the longest pause before was 1.0 s.",
        ),
        ([result(n, ended_at=now(100 * n - 400)) for n in range(4)], 100, ""),  # its own pace
        ([result(n, ended_at=now(n - 40), duration_seconds=30.0) for n in range(5)], 40, ""),
        ([result(n, failure="http_500") for n in range(2)], 0, ""),
        (
            [result(n, failure="http_500") for n in range(3)],
            0,
            "All 3 calls so far have no answer: error: http_500.",
        ),
        (
            [result(0, ended_at=now(-9)), *(result(n, failure="x") for n in range(1, 22))],
            0,
            "The last 21 calls have no answer.",
        ),
        (
            [result(0, failure="x", ended_at=now(-9)), *(result(n) for n in range(1, 22))],
            0,
            "",
        ),
    ],
)  # fmt: skip
def test_a_run_that_needs_somebody_says_why(store, watch, results, silent_seconds, words):
    with Journal(store.path, RUN) as journal:
        journal.append([header(60), *results])
        os.utime(journal.path, (time.time() - silent_seconds,) * 2)
        run = only_run(watch)
        assert run["says"] == words
        assert run["state"] == ("amber" if words else "running")


def test_without_a_verdict_the_pass_rate_is_unknown(store, watch):
    with Journal(store.path, RUN) as journal:
        journal.append([header(9), result(1, passed=None), result(2, failure="x")])
        run = only_run(watch)
        assert fact(run, "passed so far") == "unknown: no verdict yet"
        assert run["models"][0]["mark"] is None


@pytest.mark.slow
def test_an_adaptive_run_has_no_pass_rate_and_may_end_before_all_calls(store, watch):
    results = [result(n, ended_at=now(n - 40)) for n in range(40)]
    with Journal(store.path, RUN) as journal:
        journal.append([header(100, adaptive={"slope": 1}), *results])
        run = only_run(watch)
        assert fact(run, "done") == "40 of at most 100"
        assert fact(run, "passed") == "no score: the tasks are chosen by the answers"
        assert fact(run, "time left at this pace").startswith("at most ")
        [model] = run["models"]
        assert (model["passed"], model["interval"], model["mark"]) == ("no score", "", None)
    store.sync()
    run = only_run(watch)
    assert (run["state"], run["label"]) == ("partial", "ended")
    resume = "`evalstore run --resume r1` goes on unless the full scores are known."
    assert run["says"] == f"The store has its 40 results. {resume}"


def test_pace_and_time_left(store, watch):
    with Journal(store.path, RUN) as journal:
        journal.append([header(100), *(result(n, ended_at=now(n - 40)) for n in range(40))])
        run = only_run(watch)
        [live] = watch._runs.values()
        row = {**live.figures(), "per_second": 2.0}
    assert fact(run, "time left at this pace").endswith(("s", "ms"))
    live.figures = lambda: row
    assert fact(run_words(live), "time left at this pace") == "30.0 s"


def test_what_people_say_is_no_run(store, watch):
    rating = {"content_id": "x", "rater": "a", "criterion": "c", "status": "ok"}
    rating |= {"rater_kind": "human", "task_id": "t", "result_id": "r"}
    with Journal(store.path, Generation("ratings", "people")) as journal:
        journal.append([Entry("ratings", rating)])
        assert watch.poll()["runs"] == []


@pytest.mark.slow
def test_a_recording_ends_when_it_says_so(store, watch, monkeypatch):
    monkeypatch.setattr("warehouse.analysis.live.run._UNLOCKED_SECONDS", 0)
    monkeypatch.setattr("warehouse.analysis.live.run._CHECK_SECONDS", 0)
    with store.record(suite="own", model="m") as recording:
        recording.log(task_id="a", passed=True, output="x")
        recording.log(task_id="b", passed=False, output="y")
        run = only_run(watch)
        assert (run["state"], run["planned"], run["done"]) == ("running", None, 2)
        assert run["page"] == ""
    watch.poll()
    run = only_run(watch)
    assert (run["state"], run["says"]) == (
        "ended", "The next command adds its 2 results to the store."
    )  # fmt: skip
    store.sync()
    assert only_run(watch)["state"] == "complete"
    assert only_run(watch)["page"].startswith("runs/")


def test_an_import_in_progress_is_told(store, watch):
    with store.lake.write("import") as writer:
        [text] = watch.poll()["writing"]
        assert text.startswith("An import has been writing since ")
        assert writer.name not in text
    assert watch.poll()["writing"] == []


@pytest.mark.parametrize(("suite", "command"), [("mine", "run"), ("ratings", "judge")])
def test_a_run_that_ended_early_says_how_to_go_on(store, watch, suite, command):
    with Journal(store.path, Generation(suite, "my run")) as journal:
        journal.append([header(3), result(1)])
        watch.poll()
    store.recover_journals()
    run = only_run(watch)
    resume = f"`evalstore {command} --resume 'my run'` makes the rest."
    assert (run["state"], run["says"]) == ("partial", f"The store has its 1 result. {resume}")
    assert run["page"].startswith("runs/")


@pytest.mark.slow
def test_only_so_many_ended_runs_are_kept(store, watch, monkeypatch):
    monkeypatch.setattr("exports.view.live.watch._MOST_RUNS", 3)
    for n in range(6):
        with Journal(store.path, Generation("mine", f"r{n}")) as journal:
            journal.append([header(1), result(n)])
            watch.poll()
        store.sync()
    names = [run["run_id"] for run in watch.poll()["runs"]]
    assert names == ["r5", "r4", "r3"]
    assert len(watch._runs) == 3


def n_results(store):
    total = 0
    for path in journal_paths(store.path):
        try:
            with path.open("rb") as file:
                total += sum(e.table == "results" for e in read_journal(file).entries)
        except FileNotFoundError:
            continue
    return total


@pytest.mark.slow
def test_a_run_killed_and_resumed_is_counted_at_each_moment(store, watch, tmp_path):
    tasks = [{"id": f"t{n}", "prompt": f"question {n}", "reference": "yes"} for n in range(60)]
    (tmp_path / "mine.json").write_text(json.dumps({"suite": "mine", "tasks": tasks}))
    responses = iter(range(1000))

    def answer(_request):
        n = next(responses)
        yield 0.1 + n % 5 * 0.05
        yield (
            http(400, {"error": "no"}) if n % 9 == 4 else http(200, chat("yes" if n % 3 else "no"))
        )

    def start(*arguments):
        command = [sys.executable, "-m", "evalstore", "--store", str(store.path), "run"]
        command += [*arguments, "--concurrency", "4"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.Popen(
            command,
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def follow(process, until, killed=None, n_before=0):
        """Return what was shown; each time it is between the journal before and after."""
        seen = []
        while process.poll() is None and not (seen and until(seen[-1])):
            time.sleep(0.05)
            n_kept = n_before if killed and not killed.exists() else 0
            before = n_results(store)
            runs = watch.poll()["runs"]
            after = n_results(store)
            if runs and before <= after:  # else the journal has become a batch
                assert before <= runs[0]["done"] - n_kept <= after or not after
                assert runs[0]["planned"] == 60
                seen.append(runs[0])
        return seen

    with serving(answer) as server:
        at = ("--provider", "ollama_openai", "--base-url", server.base, "-m", "m")
        process = start("mine.json", *at, "--run-id", "nightly")
        seen = follow(process, lambda run: run["done"] >= 20)
        process.send_signal(signal.SIGKILL)
        process.wait()
        n_killed = n_results(store)
        [killed] = journal_paths(store.path)
        assert seen[-1]["done"] >= 20
        deadline = time.monotonic() + 60
        while only_run(watch)["state"] != "interrupted":
            assert time.monotonic() < deadline
            time.sleep(0.2)
        run = only_run(watch)
        assert run["done"] == n_killed
        assert run["says"] == (
            f"Its process died; the next command keeps its {n_killed} results. "
            "`evalstore run --resume nightly` makes the rest."
        )
        process = start("--resume", "nightly")
        seen = follow(process, lambda _: False, killed, n_killed)
        assert str(n_killed) in {fact(run, "done before") for run in seen}
        assert process.wait() == 0
    run = only_run(watch)
    assert (run["state"], run["done"], run["says"]) == ("complete", 60, "All calls are made.")
    [(passed, n, n_failed)] = (
        new_store(store.path)
        .sql("SELECT pass_rate, n_results, n_unanswered FROM run_overview")
        .fetchall()
    )
    assert (n, str(n_failed)) == (60, fact(run, "without an answer"))
    assert fact(run, "passed").startswith(f"{100 * passed:.1f} %")
