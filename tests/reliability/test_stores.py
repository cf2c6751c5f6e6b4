"""Stores that were moved, made by other versions, used by many at once, on odd disks and clocks."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from functools import partial

import pyarrow.parquet as pq
import pytest
from serving import chat, http, serving
from support import SECRET, bring_in, command, digests, files_in, log, new_store, suite, write_log

from tests.campaigns.killing import forked
from warehouse.hashing import file_sha256
from warehouse.lake.compaction import merge_small
from warehouse.lake.lake import Lake
from warehouse.schemas import SCHEMA_VERSION
from warehouse.store import Store

pytestmark = pytest.mark.filterwarnings("default")


def summary(store):
    return store.sql("SELECT run_id, n_results FROM runs ORDER BY ALL").fetchall()


@pytest.mark.parametrize("name", ["a=1", "[a] *", "it's ä\u202e"])
def test_moved_to_a_folder_of_any_name(mine, tmp_path, name):
    before = summary(mine)
    (tmp_path / name).mkdir()
    shutil.move(mine.path, tmp_path / name / "store")
    store = new_store(tmp_path / name / "store")
    assert store.sync().loaded == ()  # the warehouse knows no path
    bring_in(store, write_log(tmp_path / "n.yaml", log([7], date="2026-07-07")))
    grown = write_log(tmp_path / "2.yaml", log([2, 3, 4], date="2026-04-02"))
    bring_in(store, grown)
    assert len(summary(store)) == len(before) + 1
    merge_small(store.lake)
    store.sync(rebuild=True)
    assert len(summary(store)) == len(before) + 1
    ended = command(store.path, "forget", "secret", "--yes")
    assert (ended.code, ended.err) == (0, "forgot secret; rewrote 1 batches\n")
    assert len(summary(store)) == len(before)


def made_by_version_1(store):
    """Make of a store what version 1 would have written: other numbers, fewer columns."""
    store.warehouse.unlink()
    for name in store.lake.batch_names():
        folder = store.lake.path / name
        path = folder / "batch.json"
        document = json.loads(path.read_bytes())
        for key in ("parts", "merged_into", "rewritten_by"):
            del document[key]
        results = pq.ParquetFile(folder / "results.parquet").read()
        newer = [n for n in ("requested", "sent", "retries") if n in results.column_names]
        pq.write_table(results.drop_columns(newer), folder / "results.parquet")
        sha256 = file_sha256(folder / "results.parquet")
        document["files"]["results"]["sha256"] = sha256
        path.write_text(json.dumps({**document, "schema_version": 1, "version": "0.0.1"}))


def test_made_by_the_version_before(mine, tmp_path):
    before = digests(mine)
    made_by_version_1(mine)
    assert digests(mine) == before
    # It takes part in all that came since: growing, merging beside new batches, forgetting.
    bring_in(mine, write_log(tmp_path / "2.yaml", log([2, 3, 4], date="2026-04-02")))
    merge_small(mine.lake)
    assert command(mine.path, "forget", "secret", "--yes").code == 0
    assert sum(n for _, n in summary(mine)) == 6
    assert command(mine.path, "info", "--verify").code == 0


def test_a_warehouse_of_another_version_is_brought_up_to_date(mine, monkeypatch):
    before = summary(mine)
    monkeypatch.setattr("warehouse.sync.SCHEMA_VERSION", SCHEMA_VERSION + 1)
    assert mine.sync().rebuilt
    monkeypatch.undo()
    facts = json.loads(command(mine.path, "info", "--verify", "--format", "json").out)
    assert facts["warehouse"].startswith("built by another version")
    assert mine.sync().rebuilt
    assert summary(mine) == before


def test_a_clock_that_goes_backwards(store, tmp_path, monkeypatch):
    """Batches from a clock that went back are loaded, grow and settle as any others."""
    now = time.time_ns()
    for step, hours in enumerate((0, -20_000, 3)):
        monkeypatch.setattr("ulid.time.time_ns", lambda at=hours: now + at * 3600 * 10**9)
        numbers = list(range(1, step + 2))
        bring_in(store, write_log(tmp_path / "a.yaml", log(numbers, date="2026-04-01")))
        store.sync()
    assert len(store.lake.batch_names()) == 3
    assert [n for _, n in summary(store)] == [3]
    monkeypatch.undo()
    before = digests(store)
    merge_small(store.lake)
    store.sync(rebuild=True)
    assert digests(store) == before


_DEEDS = {
    "fcntl.flock", "open", "os.listdir", "os.mkdir", "os.remove", "os.rename", "os.rmdir",
    "os.scandir",
}  # fmt: skip


def dawdle(seed):
    """Let this process stop for a moment here and there before it touches a file or a lock.

    Where two processes are in each other's way for some microseconds alone, no machine shows it
    in years, and then a busy one does.
    """
    chance = random.Random(seed)

    def stop(event, _arguments):
        if event in _DEEDS and chance.random() < 0.1:
            time.sleep(chance.random() / 20)

    sys.addaudithook(stop)


def at_once(*works):
    """Do works in forked children at the same time; fail where one of them fails."""
    children = []
    for work in works:
        child = os.fork()
        if child == 0:
            signal.alarm(300)
            dawdle(len(children))
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - told by the exit code
                os.write(2, f"{type(error).__name__}: {error}\n".encode())
                os._exit(1)
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * len(children)


def new_logs(folder, n_logs):
    days = range(1, n_logs + 1)
    return [write_log(folder / f"m{n}.yaml", log([n], date=f"2026-06-{n:02}")) for n in days]


@pytest.mark.slow
def test_importers_merges_a_sync_and_forty_readers_at_once(mine, tmp_path):
    more = new_logs(tmp_path, 6)
    store = Store(mine.path, on_warning=lambda _: None, wait_seconds=60)
    n_before = len(summary(mine))

    def bring(paths):
        for path in paths:
            bring_in(store, path)

    def merge():
        for _ in range(3):
            merge_small(store.lake)

    def read():
        for _ in range(2):
            rows = dict(summary(store))
            assert len(rows) >= n_before
            assert rows["2026-04-02/models/kokeilu-1.yaml"] == 2

    works = [lambda: bring(more[::2]), lambda: bring(more[1::2]), lambda: bring(more), merge, merge]
    at_once(*works, store.sync, *[read] * 40)
    assert len(summary(mine)) == n_before + 6
    assert command(mine.path, "info", "--verify").code == 0


@pytest.mark.slow
def test_a_forget_while_others_import_and_read(mine, tmp_path):
    store = Store(mine.path, on_warning=lambda _: None, wait_seconds=60)
    more = new_logs(tmp_path, 4)

    def forget():
        assert command(store.path, "forget", "secret", "--yes").code == 0

    def bring():
        for path in more:
            bring_in(store, path)

    at_once(forget, bring, lambda: merge_small(store.lake), *[lambda: summary(store)] * 4)
    assert "secret" not in dict(summary(mine))
    for path in mine.path.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()


@pytest.mark.slow
def test_two_runners_of_one_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answers = [http(400, "{}")]
    with serving(lambda _request: answers) as server:
        where = ["--provider", "ollama_openai", "--base-url", server.base]
        command(tmp_path / "store", "run", suite(tmp_path, 4), "--model", "m", *where)
        store = new_store(tmp_path / "store")
        ((run_id,),) = store.sql("SELECT run_id FROM runs").fetchall()
        (tmp_path / "told").mkdir()
        server.requests.clear()
        answers[:] = [0.2, http(200, chat("yes"))]
        resume = ["run", "--resume", run_id, "--retry-failed"]

        def run():
            ended = command(tmp_path / "store", *resume, "--concurrency", 1)
            (tmp_path / "told" / f"{ended.code}-{os.getpid()}").write_text(ended.err)

        at_once(run, run, run)
        assert len(server.requests) == 4
    codes = sorted(path.name[0] for path in (tmp_path / "told").iterdir())
    assert codes.count("0") >= 1
    for path in (tmp_path / "told").glob("2-*"):
        assert "is being run by" in path.read_text()
    query = "SELECT count(*), count(DISTINCT task_id), bool_and(success) FROM results"
    assert store.sql(query).fetchall() == [(4, 4, True)]


@pytest.mark.slow
def test_all_commands_at_once(mine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    others = ["info", "info --verify", "runs", "compact", "sync --rebuild", "check"]
    with serving(lambda _request: [0.02, http(200, chat("yes"))]) as server:
        ask = ["run", suite(tmp_path, 4), "--provider", "ollama_openai", "--base-url", server.base]
        commands = [
            [*ask, "--model", "a"],
            [*ask, "--model", "b"],
            ["import", *new_logs(tmp_path, 3)],
            ["forget", "secret", "--yes"],
            ["sql", "FROM leaderboard"],
            *(line.split() for line in others),
        ]

        def given(arguments):
            ended = command(mine.path, *arguments)
            assert ended.code == 0, (arguments, ended)

        at_once(*(partial(given, arguments) for arguments in commands))
    assert len(summary(mine)) == 2 + 3 + 2
    assert command(mine.path, "info", "--verify").code == 0


# --- no room


def full(work, n_bytes):
    """Do some work while no file may grow beyond some bytes; it has to end as people are told."""
    ended = forked(work, full_at_bytes=n_bytes)
    assert not ended.error, ended.error
    assert not ended.is_killed


def told(store, *arguments, of):
    """Give a command that has to fail with a message and without a traceback."""

    def work():
        ended = command(store.path, *arguments)
        assert (ended.code, "Traceback" in ended.err) == (2, False), ended.err
        assert of in ended.err

    return work


@pytest.mark.parametrize("n_bytes", [0, 700])
def test_a_full_disk_at_merging_and_forgetting(mine, n_bytes):
    before, names = summary(mine), mine.lake.batch_names()
    full(told(mine, "compact", of="nothing was added"), n_bytes)
    full(told(mine, "forget", "secret", "--yes", of="small"), n_bytes)
    assert mine.lake.batch_names() == names
    assert list(mine.lake.staging.iterdir()) == []
    assert summary(mine) == before


@pytest.mark.parametrize("n_bytes", [0, 100])
def test_a_full_disk_at_the_export(mine, tmp_path, n_bytes):
    out = tmp_path / "out"
    full(told(mine, "export", "palindrome", "--to", out, of="cannot be written"), n_bytes)
    command(mine.path, "export", "palindrome", "--to", tmp_path / "whole")
    assert files_in(out).items() < files_in(tmp_path / "whole").items()
    assert not list(out.rglob(".*"))


@pytest.fixture
def tiny_disk(tmp_path):
    """A file system of 6 MiB of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(path):
    while True:
        with path.open("ab", buffering=0) as filler:
            filler.write(bytes(4096))


def test_a_disk_that_is_really_full(mine, tiny_disk, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(mine.path, tiny_disk / "store")
    store = new_store(tiny_disk / "store")
    new = write_log(tmp_path / "new.yaml", log(range(20), date="2026-09-09"))
    before = summary(store)
    with pytest.raises(OSError, match="No space"):
        fill(tiny_disk / "filler")
    told(store, "import", new, of="nothing was")()
    told(store, "sync", "--rebuild", of="safe in the lake")()
    told(store, "export", "palindrome", "--to", tiny_disk / "out", of="cannot be written")()
    told(store, "compact", of="nothing was")()
    with serving(http(200, chat("yes"))) as server:
        where = ["--model", "m", "--provider", "ollama_openai", "--base-url", server.base]
        told(store, "run", suite(tmp_path, 2), *where, of="cannot be written")()
        assert server.requests == []
    assert summary(store) == before
    (tiny_disk / "filler").unlink()
    assert command(store.path, "import", new).code == 0
    assert len(summary(store)) == len(before) + 1
    # There is no room for a second warehouse beside the first, which stays.
    told(store, "sync", "--rebuild", of="safe in the lake")()
    assert len(summary(store)) == len(before) + 1
    assert not list(store.path.glob("*.new*"))
    assert list(Lake(store.path).staging.iterdir()) == []
