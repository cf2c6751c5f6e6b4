"""Kills at every file-system operation and size of a file: nothing is lost or duplicated."""

import shutil
from collections import Counter
from datetime import UTC, datetime

import pytest
from serving import chat, http, serving
from support import (
    EXAMPLES,
    ROOT,
    SECRET,
    command,
    digests,
    files_in,
    import_into,
    log,
    new_store,
    suite,
    task,
    traces,
    write_log,
)

from exports.palindrome.log_files import Selection, export_palindrome
from exports.posters.publication import PUBLISHED, publish
from exports.posters.report import gather
from ingest.stores.copy import copy_store
from tests.campaigns.killing import forked, kill_at_each_operation
from warehouse.core.schemas import BY_NAME, RESULTS
from warehouse.engine import connection
from warehouse.engine.scoring.registry import UDFS
from warehouse.lake.batch import Generation
from warehouse.lake.compaction import merge_small, rows_of
from warehouse.lake.forgetting import forget
from warehouse.lake.journal.journal import Entry, Journal, journal_paths
from warehouse.lake.journal.reading import read_journal
from warehouse.lake.journal.recovery import recover_journals
from warehouse.lake.lake import Lake

assert UDFS  # imported here, so that the children need not
pytestmark = pytest.mark.filterwarnings("default")
RUN = ("palindrome", "secret")


def content(store):
    """Return every row of the current batches, with the batch that added it."""
    return Counter(
        (name, repr(row))
        for batch in store.lake.folders()
        for name in batch.files
        for row in rows_of(store.lake, batch, BY_NAME[name]).to_pylist()
    )


@pytest.mark.campaign
def test_an_import_of_a_store(store, tmp_path):
    """Killed at each operation, with a batch that both have and a run that grows."""
    theirs = new_store(tmp_path / "theirs")
    import_into(store, write_log(tmp_path / "a.yaml", tasks=[task(1)]))
    copy_store(theirs.lake, store.path)
    import_into(theirs, write_log(tmp_path / "a.yaml", tasks=[task(1), task(2)]))
    import_into(theirs, write_log(tmp_path / "b.yaml", model="models/b.yaml"))
    kills = 0
    for _ in kill_at_each_operation(lambda: copy_store(store.lake, theirs.path)):
        kills += 1
        assert len(store.lake.folders()) in {1, 2}
    assert kills > 5
    assert content(store) == content(theirs)
    assert digests(store) == digests(theirs)


@pytest.mark.slow
def test_an_import(store, tmp_path):
    logs = tmp_path / "logs"
    write_log(logs / "a.yaml")
    kills = 0
    for _ in kill_at_each_operation(lambda: import_into(store, logs)):
        kills += 1
        assert len(store.lake.folders()) <= 1
    assert kills > 12
    assert len(store.lake.folders()) == 1
    assert store.sql("SELECT count(*) FROM results").fetchall() == [(2,)]
    import_into(store, EXAMPLES / "tasks")  # removes what the killed ones left
    assert list(store.lake.staging.iterdir()) == []


@pytest.mark.campaign
def test_a_compact(small_store):
    before, views = content(small_store), digests(small_store, provenance=())
    kills = 0
    for _ in kill_at_each_operation(lambda: merge_small(small_store.lake)):
        kills += 1
        assert content(small_store) == before
    assert kills > 30
    assert content(small_store) == before
    assert len(small_store.lake.batch_names()) == 1
    assert list(small_store.lake.staging.iterdir()) == []
    assert digests(small_store, provenance=()) == views


@pytest.mark.slow
def test_a_forget(small_store, tmp_path):
    merge_small(small_store.lake)
    import_into(small_store, write_log(tmp_path / "more.yaml", log(tasks=[task(8)])), run_as=RUN[1])
    whole = content(small_store)
    kept = Counter({row: n for row, n in whole.items() if f"'{RUN[1]}'" not in row[1]})
    kills = 0
    for _ in kill_at_each_operation(lambda: forget(small_store.lake, RUN)):
        kills += 1
        left = content(small_store)
        assert {row for row in kept if row[0] in {"runs", "results"}} <= left.keys() <= whole.keys()
    assert f"'{RUN[1]}'" not in str(content(small_store))
    assert kills > 10
    small_store.sync()
    assert not traces(small_store, SECRET)
    assert small_store.sql("SELECT run_id FROM runs WHERE run_id = 'secret'").fetchall() == []
    assert small_store.sql("SELECT count(*) FROM results").fetchall() == [(5,)]


@pytest.mark.slow
def test_a_sync_at_every_operation(small_store, tmp_path):
    import_into(small_store, write_log(tmp_path / "9.yaml", log([9], date="2026-09-09")))
    kills = sum(1 for _ in kill_at_each_operation(small_store.sync))
    assert kills >= 2
    small_store.warehouse.unlink()
    kills = sum(1 for _ in kill_at_each_operation(small_store.sync))
    assert kills > 3
    assert small_store.sql("SELECT count(*) FROM results").fetchall() == [(7,)]


@pytest.mark.slow
@pytest.mark.parametrize("is_there", [True, False])
def test_a_sync_at_any_size_of_its_file(small_store, tmp_path, monkeypatch, is_there):
    """Kill DuckDB's own writes where the file, or its log, would exceed some size."""
    monkeypatch.setattr(connection, "_LOG_BYTES", 0)  # so that a small sync writes to the file
    import_into(small_store, write_log(tmp_path / "9.yaml", log([9], date="2026-09-09")))
    expected = [("2026-04-01", 3), ("2026-04-01", 1), ("2026-04-02", 2), ("2026-09-09", 1)]
    before = small_store.warehouse.read_bytes()
    n_kills = 0
    for n_bytes in (9_000, 1_000_000, len(before)):
        for path in small_store.path.glob("warehouse*"):
            path.unlink()
        if is_there:
            small_store.warehouse.write_bytes(before)
        ended = forked(small_store.sync, at_bytes=n_bytes)
        assert not ended.error
        n_kills += ended.is_killed
        rows = small_store.sql("SELECT recorded_date, n_results FROM runs ORDER BY ALL").fetchall()
        assert rows == sorted(expected)
    assert n_kills >= 2
    assert not list(small_store.path.glob("*.new*"))


@pytest.mark.slow
def test_an_export(small_store, tmp_path):
    def export(folder):
        export_palindrome(small_store, folder, Selection())

    export(tmp_path / "whole")
    whole = files_in(tmp_path / "whole")
    out = tmp_path / "out"
    kills = 0
    for _ in kill_at_each_operation(lambda: export(out)):
        kills += 1
        assert_whole_or_none(out, whole)
    assert kills > len(whole)
    assert files_in(out) == whole
    assert len(list(out.rglob("*.yaml"))) == len([p for p in out.rglob("*") if p.is_file()])


def assert_whole_or_none(folder, whole):
    assert files_in(folder).items() <= whole.items()


@pytest.fixture(scope="module")
def posters(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("posters") / "store")
    import_into(store, ROOT / "examples" / "posters" / "benchmark")
    store.sync()
    return store


@pytest.mark.slow
def test_a_publish(posters, tmp_path, monkeypatch):
    report, now = gather(posters, "20260405-090000-first-try"), datetime(2026, 5, 1, tzinfo=UTC)
    drawn = report.files()
    # The chart library uses threads, which do not survive a fork.
    monkeypatch.setattr(type(report), "files", lambda _report: dict(drawn))
    whole = files_in(publish(report, tmp_path / "whole", "first", now=now).parent)
    root = tmp_path / "repository"
    (root / PUBLISHED / ".20260101-000000-killed-silver.part").mkdir(parents=True)
    kills = 0
    for _ in kill_at_each_operation(lambda: publish(report, root, "first", now=now)):
        kills += 1
        shown = files_in(root / PUBLISHED)
        assert shown in ({}, whole)
        shutil.rmtree(root / PUBLISHED / report_folder(whole), ignore_errors=True)
    assert kills > len(whole)
    assert files_in(root / PUBLISHED) == whole
    assert [path.name for path in (root / PUBLISHED).iterdir()] == [report_folder(whole)]


def report_folder(files):
    return next(iter(files)).parts[0]


@pytest.mark.campaign
def test_a_run(tmp_path, monkeypatch):
    """Kill a run one operation later each time and resume it: no call is repeated."""
    monkeypatch.chdir(tmp_path)
    with serving(http(200, chat("yes"))) as server:
        where = ["--provider", "ollama_openai", "--base-url", server.base, "--concurrency", 1]
        new = ["run", suite(tmp_path, 2), "--model", "m", *where]
        command(tmp_path / "warm", *new)
        # The final table is a sync and a query, which have their own tests.
        monkeypatch.setattr("runners.command._report", lambda *_: None)
        operation = n_runs = 0
        is_killed = True
        while is_killed:
            store, arguments, n_kills = Lake(tmp_path / f"store{n_runs}"), new, 0
            server.requests.clear()
            while killed(store, arguments, operation := operation + 1):
                n_kills += 1
                arguments = ["run", "--resume", started[0]] if (started := runs_in(store)) else new
            rows = [row for batch in store.current() for row in results_in(store, batch)]
            assert sorted(row["task_id"] for row in rows if row["success"]) == ["t0", "t1"]
            # Each kill may have cost the one call in flight.
            assert 2 <= len(server.requests) <= 2 + n_kills
            n_runs += 1
            is_killed = n_kills > 0
    assert operation > 40


def killed(lake, arguments, operation):
    def work():
        ended = command(lake.store_path, *arguments)
        assert ended.code == 0, ended.err

    ended = forked(work, at_operation=operation)
    assert not ended.error, ended.error
    return ended.is_killed


def runs_in(lake):
    assert recover_journals(lake) == []
    return [g.run_id for batch in lake.current() for g in batch.generations]


def results_in(lake, batch):
    return rows_of(lake, batch, RESULTS).to_pylist() if "results" in batch.files else []


@pytest.mark.slow
def test_a_journal_at_every_byte(tmp_path):
    """Interrupt a write at any byte: earlier lines are complete, the last one does not count."""
    run = Generation("mine", "r1")

    def write():
        with Journal(tmp_path, run) as journal:
            for n in range(3):
                fields = {"content_id": f"c{n}", "seq": n, "prompt": "p"}
                journal.append([Entry("results", fields)])

    write()
    (path,) = journal_paths(tmp_path)
    whole = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == 10]
    for n_bytes in range(0, len(whole), 31):
        path.unlink()
        for stop in ("at_bytes", "full_at_bytes"):
            ended = forked(write, **{stop: n_bytes})
            assert ended.is_killed == (stop == "at_bytes")
            assert bool(ended.error) == (stop == "full_at_bytes")
            for path in journal_paths(tmp_path):
                with path.open("rb") as file:
                    read = read_journal(file)
                n_whole = sum(end <= n_bytes for end in ends)
                assert (read.run is not None) == (n_whole > 0)
                assert len(read.entries) == max(n_whole - 1, 0)
                assert read.bad_lines == ()
                path.unlink()
        path.touch()
