"""Stores that were moved, made by other versions, or used concurrently; odd disks and clocks."""

import json
import os
import shutil
import subprocess
import time
from functools import partial

import pyarrow.parquet as pq
import pytest
from serving import chat, http, serving
from support import (
    SECRET,
    command,
    digests,
    files_in,
    import_into,
    log,
    new_store,
    suite,
    write_log,
)

from tests.campaigns.at_once import run_concurrently
from tests.campaigns.killing import forked
from warehouse.app.store import Store
from warehouse.core.hashing import file_sha256
from warehouse.core.schemas import LAKE_FORMAT
from warehouse.lake.compaction import merge_small
from warehouse.lake.lake import Lake

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    """Let commands wait for each other for as long as it takes on a busy machine."""
    monkeypatch.setitem(Store.__init__.__kwdefaults__, "wait_seconds", 300)


def summary(store):
    return store.sql("SELECT run_id, n_results FROM runs ORDER BY ALL").fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a=1", "[a] *", "it's ä\u202e"])
def test_a_store_moved_to_a_folder_of_any_name(small_store, tmp_path, name):
    before = summary(small_store)
    (tmp_path / name).mkdir()
    shutil.move(small_store.path, tmp_path / name / "store")
    store = new_store(tmp_path / name / "store")
    assert store.sync().loaded == ()  # the warehouse contains no path
    import_into(store, write_log(tmp_path / "n.yaml", log([7], date="2026-07-07")))
    grown = write_log(tmp_path / "2.yaml", log([2, 3, 4], date="2026-04-02"))
    import_into(store, grown)
    assert len(summary(store)) == len(before) + 1
    merge_small(store.lake)
    store.sync(rebuild=True)
    assert len(summary(store)) == len(before) + 1
    ended = command(store.path, "forget", "secret", "--yes")
    assert (ended.code, ended.err) == (0, "forgot secret; rewrote 1 batch\n")
    assert len(summary(store)) == len(before)


def made_by_version_1(store):
    """Turn a store into one written by version 1: other version numbers, fewer columns."""
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


def lake_format(store):
    """Return the format that `info` states."""
    return json.loads(command(store.path, "info", "--format", "json").out)["lake_format"]


@pytest.mark.slow
def test_a_store_made_by_the_previous_version(small_store, tmp_path):
    before = digests(small_store)
    made_by_version_1(small_store)
    assert digests(small_store) == before
    assert lake_format(small_store) == 1
    # Everything added since works: growing, merging with new batches, forgetting.
    import_into(small_store, write_log(tmp_path / "2.yaml", log([2, 3, 4], date="2026-04-02")))
    merge_small(small_store.lake)
    assert command(small_store.path, "forget", "secret", "--yes").code == 0
    assert sum(n for _, n in summary(small_store)) == 6
    assert lake_format(small_store) == LAKE_FORMAT
    assert command(small_store.path, "info", "--verify").code == 0


@pytest.mark.slow
def test_a_warehouse_of_another_version_is_brought_up_to_date(small_store, monkeypatch):
    before = summary(small_store)
    monkeypatch.setattr("warehouse.engine.tables.loading.LAKE_FORMAT", LAKE_FORMAT + 1)
    monkeypatch.setattr("warehouse.engine.views.template._code_digest", lambda: "other code")
    assert small_store.sync().rebuilt
    monkeypatch.undo()
    facts = json.loads(command(small_store.path, "info", "--verify", "--format", "json").out)
    assert facts["warehouse"].startswith("built by another version")
    assert small_store.sync().rebuilt
    assert summary(small_store) == before


@pytest.mark.slow
def test_a_clock_that_goes_backwards(store, tmp_path, monkeypatch):
    """Batches written after the clock went back are loaded, grow and resolve like any others."""
    now = time.time_ns()
    for step, hours in enumerate((0, -20_000, 3)):
        monkeypatch.setattr("ulid.time.time_ns", lambda at=hours: now + at * 3600 * 10**9)
        numbers = list(range(1, step + 2))
        import_into(store, write_log(tmp_path / "a.yaml", log(numbers, date="2026-04-01")))
        store.sync()
    assert len(store.lake.batch_names()) == 3
    assert [n for _, n in summary(store)] == [3]
    monkeypatch.undo()
    before = digests(store)
    merge_small(store.lake)
    store.sync(rebuild=True)
    assert digests(store) == before


def new_logs(folder, n_logs):
    days = range(1, n_logs + 1)
    return [write_log(folder / f"m{n}.yaml", log([n], date=f"2026-06-{n:02}")) for n in days]


@pytest.mark.campaign
def test_imports_compacts_a_sync_and_forty_readers_at_once(small_store, tmp_path):
    more = new_logs(tmp_path, 6)
    store = Store(small_store.path, on_warning=lambda _: None, wait_seconds=300)
    n_before = len(summary(small_store))

    def bring(paths):
        for path in paths:
            import_into(store, path)

    def merge():
        for _ in range(3):
            merge_small(store.lake)

    def read():
        for _ in range(2):
            rows = dict(summary(store))
            assert len(rows) >= n_before
            assert rows["2026-04-02/models/kokeilu-1.yaml"] == 2

    works = [lambda: bring(more[::2]), lambda: bring(more[1::2]), lambda: bring(more), merge, merge]
    run_concurrently(*works, store.sync, *[read] * 40)
    assert len(summary(small_store)) == n_before + 6
    assert command(small_store.path, "info", "--verify").code == 0


@pytest.mark.slow
def test_a_forget_while_others_import_and_read(small_store, tmp_path):
    store = Store(small_store.path, on_warning=lambda _: None, wait_seconds=300)
    more = new_logs(tmp_path, 4)

    def forget():
        assert command(store.path, "forget", "secret", "--yes").code == 0

    def bring():
        for path in more:
            import_into(store, path)

    run_concurrently(forget, bring, lambda: merge_small(store.lake), *[lambda: summary(store)] * 4)
    assert "secret" not in dict(summary(small_store))
    for path in small_store.path.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()


@pytest.mark.slow
def test_two_processes_resume_one_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answers = [http(400, "{}")]
    with serving(lambda _request: answers) as server:
        where = ["--provider", "ollama_openai", "--base-url", server.base]
        command(tmp_path / "store", "run", suite(tmp_path, 4), "--model", "m", *where)
        store = new_store(tmp_path / "store")
        ((run_id,),) = store.sql("SELECT run_id FROM runs").fetchall()
        (tmp_path / "ended").mkdir()
        server.requests.clear()
        answers[:] = [0.2, http(200, chat("yes"))]
        resume = ["run", "--resume", run_id, "--retry-failed"]

        def run():
            ended = command(tmp_path / "store", *resume, "--concurrency", 1)
            (tmp_path / "ended" / f"{ended.code}-{os.getpid()}").write_text(ended.err)

        run_concurrently(run, run, run)
        assert len(server.requests) == 4
    codes = sorted(path.name[0] for path in (tmp_path / "ended").iterdir())
    assert codes.count("0") >= 1
    for path in (tmp_path / "ended").glob("2-*"):
        assert "is being run by" in path.read_text()
    query = "SELECT count(*), count(DISTINCT task_id), bool_and(success) FROM results"
    assert store.sql(query).fetchall() == [(4, 4, True)]


@pytest.mark.campaign
def test_all_commands_at_once(small_store, tmp_path, monkeypatch):
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
            ended = command(small_store.path, *arguments)
            assert ended.code == 0, (arguments, ended)

        run_concurrently(*(partial(given, arguments) for arguments in commands))
    assert len(summary(small_store)) == 2 + 3 + 2
    assert command(small_store.path, "info", "--verify").code == 0


# --- full disks


def full(work, n_bytes):
    """Do some work while no file may exceed a size; it must handle the error."""
    ended = forked(work, full_at_bytes=n_bytes)
    assert not ended.error, ended.error
    assert not ended.is_killed


def fails_with(store, *arguments, message):
    """Return work that runs a command and expects it to fail with a message, not a traceback."""

    def work():
        ended = command(store.path, *arguments)
        assert (ended.code, "Traceback" in ended.err) == (2, False), ended.err
        assert message in ended.err

    return work


@pytest.mark.slow
@pytest.mark.parametrize("n_bytes", [0, 700])
def test_a_full_disk_at_merging_and_forgetting(small_store, n_bytes):
    before, names = summary(small_store), small_store.lake.batch_names()
    full(fails_with(small_store, "compact", message="nothing was added"), n_bytes)
    full(fails_with(small_store, "forget", "secret", "--yes", message="small"), n_bytes)
    assert small_store.lake.batch_names() == names
    assert list(small_store.lake.staging.iterdir()) == []
    assert summary(small_store) == before


@pytest.mark.slow
@pytest.mark.parametrize("n_bytes", [0, 100])
def test_a_full_disk_at_the_export(small_store, tmp_path, n_bytes):
    out = tmp_path / "out"
    full(
        fails_with(small_store, "export", "palindrome", "--to", out, message="cannot be written"),
        n_bytes,
    )
    command(small_store.path, "export", "palindrome", "--to", tmp_path / "whole")
    assert files_in(out).items() < files_in(tmp_path / "whole").items()
    assert not list(out.rglob(".*"))


@pytest.fixture
def tiny_disk(tmp_path):
    """Return a separate file system of 10 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=10m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small file system")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(path):
    while True:
        with path.open("ab", buffering=0) as filler:
            filler.write(bytes(4096))


@pytest.mark.campaign
def test_a_small_file_system_that_fills_up(small_store, tiny_disk, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(small_store.path, tiny_disk / "store")
    store = new_store(tiny_disk / "store")
    new = write_log(tmp_path / "new.yaml", log(range(20), date="2026-09-09"))
    before = summary(store)
    with pytest.raises(OSError, match="No space"):
        fill(tiny_disk / "filler")
    fails_with(store, "import", new, message="nothing was")()
    fails_with(store, "sync", "--rebuild", message="safe in the lake")()
    fails_with(
        store, "export", "palindrome", "--to", tiny_disk / "out", message="cannot be written"
    )()
    fails_with(store, "compact", message="nothing was")()
    with serving(http(200, chat("yes"))) as server:
        where = ["--model", "m", "--provider", "ollama_openai", "--base-url", server.base]
        fails_with(store, "run", suite(tmp_path, 2), *where, message="cannot be written")()
        assert server.requests == []
    assert summary(store) == before
    (tiny_disk / "filler").unlink()
    assert command(store.path, "import", new).code == 0
    assert len(summary(store)) == len(before) + 1
    # There is not enough space for a second warehouse, so the first one stays.
    with pytest.raises(OSError, match="No space"):
        fill(tiny_disk / "filler")
    os.truncate(tiny_disk / "filler", (tiny_disk / "filler").stat().st_size - 2**20)
    fails_with(store, "sync", "--rebuild", message="safe in the lake")()
    assert len(summary(store)) == len(before) + 1
    assert not list(store.path.glob("*.new*"))
    assert list(Lake(store.path).staging.iterdir()) == []
