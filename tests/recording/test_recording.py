"""Recording from a user's own code: what `log` returned from is there, once, and no secrets."""

import errno
import math
import os
import subprocess
import sys
import threading
from contextlib import ExitStack
from fractions import Fraction

import numpy as np
import pytest
from support import ROOT, command, import_into, new_store, write_log

from warehouse.core.errors import BadInput, EvalstoreError, StoreBusy
from warehouse.lake.batch import Generation
from warehouse.lake.journal.journal import Entry, Journal, journal_paths
from warehouse.lake.journal.run_lock import run_lock, shared_run_lock
from warehouse.lake.lake import Lake

KEY = "sk-ant-abcdefghijklmnop1234"
RUNNER = Generation("mine", "own")
NAMES = {"suite": "mine", "model": "example/aurora-2"}


def rows(store, query, **parameters):
    return store.sql(query, parameters).fetchall()


def tasks(store):
    return [task for (task,) in rows(store, "SELECT task_id FROM results ORDER BY ALL")]


@pytest.mark.slow
def test_a_result_has_all_that_was_logged(store):
    names = {**NAMES, "task_set": "easy", "settings": {"temperature": 0, "b": 1}}
    with store.record(**names, config={"prompt": "v2"}) as run:
        run.log(
            task_id="fr",
            prompt="The capital of France?",
            output="Paris\n",
            scores={"f1": 0.5, "exact": True, "grade": "good"},
            passed=True,
            attempt=2,
            cost_usd=0.25,
            latency_ms=1500,
            input_tokens=7,
            output_tokens=2,
            extra={"b": [1, None], "a": "ä"},
        )
        run.log(task_id="de", failure="timeout")
    extra = '{"a":"ä","b":[1,null]}'
    columns = "prompt, raw_output, cost_usd, latency_ms, input_tokens"
    columns += ", output_tokens, attempt, extra, availability_status, success, failure_type"
    found = rows(store, f"SELECT {columns} FROM results ORDER BY task_id DESC")
    assert found == [
        ("The capital of France?", "Paris\n", 0.25, 1500.0, 7, 2, 2, extra, "ok", True, None),
        (None, None, None, None, None, None, 1, None, "error", False, "timeout"),
    ]
    assert rows(store, "SELECT passed, verdict_source FROM verdicts WHERE task_id = 'fr'") == [
        (True, "recorded")
    ]
    # The failed call did not pass.
    found = rows(store, "SELECT model, settings, n_tasks, pass_rate FROM leaderboard WHERE is_main")
    assert found == [("example/aurora-2", "b 1, temperature 0", 2, 0.5)]
    found = rows(store, "SELECT suite, run_id, origin, config, task_set FROM runs")
    assert found == [("mine", run.run_id, "recorded", '{"prompt":"v2"}', "easy")]
    (times,) = rows(
        store, "SELECT epoch_ms(ended_at) - epoch_ms(started_at) FROM results WHERE task_id = 'fr'"
    )
    assert times == (1500,)


@pytest.mark.slow
def test_scores_keep_what_they_are(store):
    scores = {
        "number": 3,
        "fraction": Fraction(1, 4),
        "numpy": np.float32(0.5),
        "count": np.int64(7),
        "yes": np.float64(1) > 0,
        "no": False,
        "text": "fair",
        "empty": "",
        "unknown": None,
        "nan": math.nan,
        "inf": -math.inf,
    }
    with store.record(**NAMES) as run:
        run.log(task_id="t", scores=scores, passed=np.float64(0.7) > 0.5)
    query = "SELECT metric, value, text, passed FROM lake.result_scores ORDER BY metric"
    assert rows(store, query) == [
        ("count", 7.0, None, None),
        ("empty", None, "", None),
        ("fraction", 0.25, None, None),
        ("inf", None, "-inf", None),
        ("nan", None, "nan", None),
        ("no", 0.0, None, False),
        ("number", 3.0, None, None),
        ("numpy", 0.5, None, None),
        ("text", None, "fair", None),
        ("unknown", None, None, None),
        ("yes", 1.0, None, True),
    ]
    (same,) = rows(store, "SELECT count(*) FROM result_scores SEMI JOIN results USING (result_id)")
    assert same == (12,)  # with the verdict


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"task_id": 7}, "task_id is 7: pass text"),
        ({"task_id": " "}, "task_id is empty"),
        ({"task_id": "x" * 10_001}, "task_id has 10,001 characters"),
        ({"prompt": ["a"]}, "prompt is of type list: pass text"),
        ({"output": "ab\ud800"}, "output is not valid Unicode: a lone surrogate at character 3"),
        ({"output": "ä" * (2**25 + 1)}, "output has 64.0 MiB"),
        ({"passed": 1}, "passed is 1: pass True, False or None"),
        ({"passed": "yes"}, "passed is text"),
        ({"attempt": 0}, "attempt is 0: pass the number of the attempt, from 1"),
        ({"attempt": True}, "attempt is True: pass a whole number"),
        ({"attempt": 1.5}, "attempt is 1.5: pass a whole number"),
        ({"attempt": 2**31}, "attempt is 2147483648"),
        ({"cost_usd": math.nan}, "cost_usd is nan: pass a finite number from 0"),
        ({"cost_usd": -1}, "cost_usd is -1: pass a finite number"),
        ({"cost_usd": True}, "cost_usd is True"),
        ({"cost_usd": "1"}, "cost_usd is text"),
        ({"cost_usd": 10**400}, "cost_usd is too large"),
        ({"latency_ms": 1e300}, "latency_ms is"),
        ({"input_tokens": 10**6000}, "input_tokens is a very large number"),
        ({"output_tokens": 0.5}, "output_tokens is 0.5"),
        ({"scores": [1]}, "scores is of type list: pass a dict"),
        ({"scores": {1: 1}}, "a name in scores is 1: pass text"),
        ({"scores": {"passed": 1}}, r"scores\['passed'\] is a verdict"),
        ({"scores": {"": 1}}, "a name in scores is empty"),
        ({"scores": {"f1": [1]}}, r"scores\['f1'\] is of type list: pass a number, a boolean"),
        ({"scores": {"f1": np.array([1, 2])}}, r"scores\['f1'\] is of type ndarray"),
        ({"scores": {"f1": "\udc00"}}, r"scores\['f1'\] is not valid Unicode"),
        ({"failure": "x" * 201}, "failure has 201 characters"),
        ({"failure": "timeout", "passed": True}, "passed is True, but failure"),
        ({"extra": {"a": {1}}}, r"extra cannot be written as JSON \(Object of type set"),
        ({"extra": {"a": math.nan}}, "extra cannot be written as JSON"),
        ({"extra": {"a": "\ud800"}}, "extra is not valid Unicode"),
        ({"extra": "a"}, "extra is text: pass a dict"),
    ],
)
def test_a_wrong_value_is_refused_by_the_name_of_its_field(refusing, fields, message):
    with pytest.raises(BadInput, match=f"^{message}"):
        refusing.log(**{"task_id": "t", **fields})


@pytest.fixture(scope="module")
def refusing(tmp_path_factory):
    """Return an open recording in which nothing is ever logged, which leaves no run."""
    store = new_store(tmp_path_factory.mktemp("refusing") / "store")
    with store.record(**NAMES) as run:
        yield run
    assert journal_paths(store.path) == []
    assert rows(store, "FROM runs") == []


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"suite": ""}, "suite is empty"),
        ({"suite": "palindrome"}, "suite 'palindrome' is built in"),
        ({"model": None}, "model is None: pass text"),
        ({"run_id": 7}, "run_id is 7: pass text"),
        ({"config": [1]}, "config is of type list: pass a dict"),
        ({"settings": {"a": object()}}, "settings cannot be written as JSON"),
    ],
)
def test_a_wrong_argument_is_refused_before_the_run_begins(store, fields, message):
    with pytest.raises(BadInput, match=f"^{message}"):
        store.record(**{**NAMES, **fields})


@pytest.mark.slow
def test_nothing_is_logged_outside_the_block(store):
    run = store.record(**NAMES)
    with pytest.raises(BadInput, match="outside the `with` block"):
        run.log(task_id="t")
    with run:
        run.log(task_id="t")
        with pytest.raises(BadInput, match="is open already"):
            run.__enter__()
    with pytest.raises(BadInput, match="outside the `with` block"):
        run.log(task_id="u")
    with run:
        run.log(task_id="u")
    assert tasks(store) == ["t", "u"]
    assert len(rows(store, "FROM runs")) == 1


@pytest.mark.slow
def test_the_same_attempt_is_one_row_and_never_two(store):
    with store.record(**NAMES, run_id="r") as run:
        for _ in range(2):
            run.log(task_id="t", output="a", scores={"x": 1, "y": 2})
        run.log(task_id="t", output="a", scores={"y": 2, "x": 1})
        with pytest.raises(BadInput, match="'r' has another result for task 't', attempt 1"):
            run.log(task_id="t", output="a", scores={"x": 1, "y": 3})
        run.log(task_id="t", output="b", attempt=2)
    # Another process goes on: with a row of the store's, in a batch.
    with store.record(**NAMES, run_id="r") as run:
        known = [run.has("t"), run.has("t", 2), run.has("t", 3), run.has("u")]
        assert known == [True, True, False, False]
        run.log(task_id="t", output="b", attempt=2)
        with pytest.raises(BadInput, match="has another result for task 't', attempt 2"):
            run.log(task_id="t", output="c", attempt=2)
        run.log(task_id="u")
    # The same task of another model or set is another one.
    for other in ({"model": "m"}, {"task_set": "hard"}):
        with store.record(**{**NAMES, **other}, run_id="r") as run:
            assert not run.has("t")
            run.log(task_id="t", output="a")
    found = rows(store, "SELECT task_id, attempt, raw_output FROM results ORDER BY seq, task_id")
    assert found == [("t", 1, "a"), ("t", 2, "b"), ("u", 1, None), ("t", 1, "a"), ("t", 1, "a")]


@pytest.mark.slow
def test_a_run_goes_on_while_another_process_records_it(store):
    with store.record(**NAMES, run_id="r") as first:
        first.log(task_id="t", output="a")
        with store.record(**NAMES, run_id="r") as second:
            assert second.has("t")
            second.log(task_id="u")
        # Not known to the first one: the same content, and later other content.
        first.log(task_id="u")
        assert tasks(store) == ["u"]
    assert tasks(store) == ["t", "u"]


@pytest.mark.slow
def test_processes_that_contradict_each_other_are_found(store):
    with store.record(**NAMES, run_id="r") as first, store.record(**NAMES, run_id="r") as second:
        first.log(task_id="t", output="a")
        second.log(task_id="t", output="b")
        with (
            pytest.raises(BadInput, match="different results for task 't', attempt 1"),
            store.record(**NAMES, run_id="r"),
        ):
            pass
    for _ in range(2):
        with (
            pytest.raises(BadInput, match="different results for task 't', attempt 1"),
            store.record(**NAMES, run_id="r"),
        ):
            pass
    # Nothing of either is lost, and the store says so.
    assert tasks(store) == ["t", "t"]
    found = rows(
        store, "SELECT run_id, task_id, attempt, n_results FROM checks.conflicting_results"
    )
    assert found == [("r", "t", 1, 2)]


@pytest.mark.campaign
def test_a_check_passes_unless_processes_contradict_each_other(store):
    with store.record(**NAMES, run_id="r") as first, store.record(**NAMES, run_id="r") as second:
        first.log(task_id="t", output="a", passed=True, cost_usd=1, latency_ms=1)
        first.log(task_id="f", failure="timeout")
        assert command(store.path, "check").code == 0
        second.log(task_id="t", output="b")
    checked = command(store.path, "check")
    assert checked.code == 1
    assert "conflicting_results" in checked.out + checked.err


@pytest.mark.slow
def test_other_runs_are_not_recorded_into(store, tmp_path):
    import_into(store, write_log(tmp_path / "a.yaml"), run_as="r")
    with store.record(**NAMES, run_id="r", config={"a": 1}) as run:  # in another suite
        run.log(task_id="t")
    for config in ({"a": 1}, None):
        with store.record(**NAMES, run_id="r", config=config):
            pass
    with (
        pytest.raises(
            BadInput, match=r"'r' has another config, \{\"a\":1\}: choose another run_id"
        ),
        store.record(**NAMES, run_id="r", config={"a": 2}),
    ):
        pass
    store.sync()
    with Journal(store.path, RUNNER) as journal:
        journal.append([Entry("runs", {"content_id": "c", "origin": "runner"})])
    with (
        pytest.raises(BadInput, match="'own' of suite 'mine' was not recorded"),
        store.record(**NAMES, run_id="own"),
    ):
        pass


@pytest.mark.slow
def test_a_run_is_locked_while_it_is_recorded(store):
    with store.record(**NAMES, run_id="r") as run:
        run.log(task_id="t")
        with pytest.raises(StoreBusy, match=str(os.getpid())), run_lock(store.path, "mine", "r"):
            pass
        with store.record(**NAMES, run_id="r"):
            pass
        # The first of two to end leaves the lock to the other.
        with pytest.raises(StoreBusy), run_lock(store.path, "mine", "r"):
            pass
    assert list((store.path / "journals").glob("*.lock")) == []
    with run_lock(store.path, "mine", "r"):
        with pytest.raises(StoreBusy), store.record(**NAMES, run_id="r"):
            pass
        with pytest.raises(StoreBusy):
            shared_run_lock(store.path, "mine", "r")
    assert command(store.path, "forget", "r", "--yes").code == 0
    assert tasks(store) == []


@pytest.mark.slow
def test_a_block_that_fails_keeps_its_results_and_says_so(store):
    with pytest.raises(ZeroDivisionError), store.record(**NAMES, run_id="r") as run:
        fail_after(run)
    query = "SELECT ended_at IS NULL, extra FROM lake.runs ORDER BY ALL"
    assert tasks(store) == ["t"]
    assert rows(store, query) == [(True, '{"interrupted_by":"ZeroDivisionError"}')]
    with store.record(**NAMES, run_id="r") as run:
        run.log(task_id="u")
    assert rows(store, query)[0] == (False, None)


def fail_after(run):
    run.log(task_id="t")
    raise ZeroDivisionError


@pytest.mark.slow
def test_no_secret_is_recorded(store, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "planted-1234")
    text = f'{KEY} "planted-1234"'
    names = {"suite": "mine", "model": "m", "config": {"a": text}, "settings": {"b": text}}
    for _ in range(2):
        with store.record(**names, run_id="r") as run:
            run.log(task_id=f"t {KEY}", prompt=text, output=text * 99, scores={text: text},
                    failure=text, extra={"c": text})  # fmt: skip
            assert run.has(f"t {KEY}")
            (path,) = journal_paths(store.path)
            data = path.read_bytes()
            assert b"planted" not in data
            assert KEY.encode() not in data
    assert tasks(store) == ["t (redacted)"]
    assert rows(store, "SELECT metric FROM lake.result_scores") == [('(redacted) "(redacted)"',)]


@pytest.mark.slow
def test_eight_threads_log_at_once(store):
    with store.record(**NAMES) as run:

        def work(n):
            for place in range(25):
                run.log(task_id=f"{n}.{place}", output="x" * 100)
                run.log(task_id="shared", attempt=place + 1)

        threads = [threading.Thread(target=work, args=[n]) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    query = "SELECT count(*), count(DISTINCT seq), min(seq), max(seq) FROM results"
    assert rows(store, query) == [(8 * 25 + 25,) * 2 + (1, 8 * 25 + 25)]


PROCESS = """
import sys, threading
from pathlib import Path
from warehouse.app.store import Store

def work(run, n):
    for place in range(40):
        run.log(task_id=f"{sys.argv[2]} {n}.{place}", output="x" * 6000, scores={"a": n})
        run.log(task_id=f"shared {place}", output="y", scores={"b": 1})

with Store(Path(sys.argv[1])).record(suite="mine", model="m", run_id="r") as run:
    print("open", flush=True)
    sys.stdin.readline()
    threads = [threading.Thread(target=work, args=[run, n]) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


@pytest.mark.slow
def test_two_processes_with_eight_threads_record_one_run(store):
    command = [sys.executable, "-c", PROCESS, store.path]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with ExitStack() as stack:
        both = [
            stack.enter_context(subprocess.Popen([*command, name], cwd=ROOT, **pipes))
            for name in "ab"
        ]
        assert [process.stdout.readline() for process in both] == ["open\n"] * 2
        for process in both:  # now that both have begun
            process.stdin.write("\n")
            process.stdin.flush()
        assert [process.wait() for process in both] == [0, 0]
    counts = "count(*), count(DISTINCT task_id), count(DISTINCT result_id)"
    n = 2 * 8 * 40 + 40
    assert rows(store, f"SELECT {counts} FROM results") == [(n, n, n)]
    query = "SELECT count(*) FROM lake.result_scores"
    assert rows(store, query) == [(n,)]
    assert rows(store, "SELECT count(*) FROM lake.batches") == [(2,)]
    assert rows(store, "FROM checks.conflicting_results") == []


def fork(work):
    """Do the work in a forked child; return whether it succeeded."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:  # noqa: BLE001 - reported to the parent
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_forked_process_has_a_journal_of_its_own(store):
    with store.record(**NAMES, run_id="r") as run:
        run.log(task_id="t")

        def child():
            run.log(task_id="t")  # known from before the fork
            run.log(task_id="child")
            assert len(journal_paths(store.path)) == 2

        assert fork(child)
        run.log(task_id="u")
        assert tasks(store) == ["child"]
    assert tasks(store) == ["child", "t", "u"]
    assert len(Lake(store.path).batch_names()) == 2


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_forked_process_holds_nothing_that_is_its_parents(store):
    reading, writing = os.pipe()
    with store.record(**NAMES, run_id="r") as run:
        run.log(task_id="t")
        child = os.fork()
        if child == 0:
            os.read(reading, 1)  # until the parent is done
            os._exit(0)
    try:
        assert tasks(store) == ["t"]
        with run_lock(store.path, "mine", "r"):
            pass
    finally:
        os.write(writing, b"x")
        os.waitpid(child, 0)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_fork_in_the_middle_of_a_log_does_not_block_the_child(store):
    with store.record(**NAMES) as run:
        is_done = threading.Event()

        def work():
            n = 0
            while not is_done.is_set():
                run.log(task_id=f"t{(n := n + 1)}", output="x" * 1000)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            assert all(fork(lambda: run.log(task_id=f"child {os.getpid()}")) for _ in range(10))
        finally:
            is_done.set()
            thread.join()
    assert sum(task.startswith("child") for task in tasks(store)) == 10


@pytest.mark.slow
def test_a_full_disk_is_said_and_costs_one_result(store, monkeypatch):
    with store.record(**NAMES) as run:
        run.log(task_id="t")
        write = Journal._write
        monkeypatch.setattr(Journal, "_write", full)
        with pytest.raises(EvalstoreError, match="No space left on device; this result was not"):
            run.log(task_id="u")
        assert not run.has("u")
        monkeypatch.setattr(Journal, "_write", write)
        run.log(task_id="u")
    assert tasks(store) == ["t", "u"]


def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
