"""Killed at every deed, or with a full disk at any size of a file: nothing is lost or doubled."""

import shutil
from collections import Counter
from datetime import UTC, datetime

import pytest
from serving import chat, http, serving
from support import (
    EXAMPLES,
    ROOT,
    SECRET,
    bring_in,
    command,
    digests,
    files_in,
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
from tests.campaigns.killing import forked, killed_at_each_deed
from warehouse.journal.journal import Entry, Journal, journal_paths, read_journal
from warehouse.journal.recovery import recover_journals
from warehouse.lake.batch import Generation
from warehouse.lake.compaction import merge_small, rows_of
from warehouse.lake.forgetting import forget
from warehouse.lake.lake import Lake
from warehouse.schemas import BY_NAME, RESULTS
from warehouse.scoring.registry import UDFS

assert UDFS  # the children must not import them anew
pytestmark = pytest.mark.filterwarnings("default")
RUN = ("palindrome", "secret")


def content(store):
    """Every row of the batches that count, and which batch it came in with."""
    return Counter(
        (name, repr(row))
        for batch in store.lake.folders()
        for name in batch.files
        for row in rows_of(store.lake, batch, BY_NAME[name]).to_pylist()
    )


def test_an_import(store, tmp_path):
    logs = tmp_path / "logs"
    write_log(logs / "a.yaml")
    kills = 0
    for _ in killed_at_each_deed(lambda: bring_in(store, logs)):
        kills += 1
        assert len(store.lake.folders()) <= 1
    assert kills > 12
    assert len(store.lake.folders()) == 1
    assert store.sql("SELECT count(*) FROM results").fetchall() == [(2,)]
    bring_in(store, EXAMPLES / "tasks")  # what the killed ones left is swept
    assert list(store.lake.staging.iterdir()) == []


@pytest.mark.slow
def test_a_compact(mine):
    before, views = content(mine), digests(mine, provenance=())
    kills = 0
    for _ in killed_at_each_deed(lambda: merge_small(mine.lake)):
        kills += 1
        assert content(mine) == before
    assert kills > 30
    assert content(mine) == before
    assert len(mine.lake.batch_names()) == 1
    assert list(mine.lake.staging.iterdir()) == []
    assert digests(mine, provenance=()) == views


@pytest.mark.slow
def test_a_forget(mine, tmp_path):
    merge_small(mine.lake)
    bring_in(mine, write_log(tmp_path / "more.yaml", log(tasks=[task(8)])), run_as=RUN[1])
    whole = content(mine)
    kept = Counter({row: n for row, n in whole.items() if f"'{RUN[1]}'" not in row[1]})
    kills = 0
    for _ in killed_at_each_deed(lambda: forget(mine.lake, RUN)):
        kills += 1
        left = content(mine)
        assert {row for row in kept if row[0] in {"runs", "results"}} <= left.keys() <= whole.keys()
    assert f"'{RUN[1]}'" not in str(content(mine))
    assert kills > 10
    mine.sync()
    assert not traces(mine, SECRET)
    assert mine.sql("SELECT run_id FROM runs WHERE run_id = 'secret'").fetchall() == []
    assert mine.sql("SELECT count(*) FROM results").fetchall() == [(5,)]


@pytest.mark.slow
def test_a_sync_at_every_deed(mine, tmp_path):
    bring_in(mine, write_log(tmp_path / "9.yaml", log([9], date="2026-09-09")))
    kills = sum(1 for _ in killed_at_each_deed(mine.sync))
    assert kills >= 2
    mine.warehouse.unlink()
    kills = sum(1 for _ in killed_at_each_deed(mine.sync))
    assert kills > 3
    assert mine.sql("SELECT count(*) FROM results").fetchall() == [(7,)]


@pytest.mark.slow
@pytest.mark.parametrize("is_there", [True, False])
def test_a_sync_at_any_size_of_its_file(mine, tmp_path, is_there):
    """DuckDB's own writes: killed where the file, or its log, would grow beyond some size."""
    bring_in(mine, write_log(tmp_path / "9.yaml", log([9], date="2026-09-09")))
    expected = [("2026-04-01", 3), ("2026-04-01", 1), ("2026-04-02", 2), ("2026-09-09", 1)]
    before = mine.warehouse.read_bytes()
    n_kills = 0
    for n_bytes in (9_000, 1_000_000, len(before)):
        for path in mine.path.glob("warehouse*"):
            path.unlink()
        if is_there:
            mine.warehouse.write_bytes(before)
        ended = forked(mine.sync, at_bytes=n_bytes)
        assert not ended.error
        n_kills += ended.is_killed
        rows = mine.sql("SELECT run_date, n_results FROM runs ORDER BY ALL").fetchall()
        assert rows == sorted(expected)
    assert n_kills >= 2
    assert not list(mine.path.glob("*.new*"))


@pytest.mark.slow
def test_an_export(mine, tmp_path):
    def export(folder):
        export_palindrome(mine, folder, Selection())

    export(tmp_path / "whole")
    whole = files_in(tmp_path / "whole")
    out = tmp_path / "out"
    kills = 0
    for _ in killed_at_each_deed(lambda: export(out)):
        kills += 1
        assert_whole_or_none(out, whole)
    assert kills > len(whole)
    assert files_in(out) == whole


def assert_whole_or_none(folder, whole):
    assert files_in(folder).items() <= whole.items()


@pytest.fixture(scope="module")
def posters(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("posters") / "store")
    bring_in(store, ROOT / "examples" / "posters" / "benchmark")
    store.sync()
    return store


@pytest.mark.slow
def test_a_publish(posters, tmp_path, monkeypatch):
    report, now = gather(posters, "20260405-090000-first-try"), datetime(2026, 5, 1, tzinfo=UTC)
    drawn = report.files()
    # The library that draws the chart has threads, which a forked child lacks.
    monkeypatch.setattr(type(report), "files", lambda _report: dict(drawn))
    whole = files_in(publish(report, tmp_path / "whole", "first", now=now).parent)
    root = tmp_path / "repository"
    kills = 0
    for _ in killed_at_each_deed(lambda: publish(report, root, "first", now=now)):
        kills += 1
        shown = files_in(root / PUBLISHED)
        assert shown in ({}, whole)
        shutil.rmtree(root / PUBLISHED / report_folder(whole), ignore_errors=True)
    assert kills > len(whole)
    assert files_in(root / PUBLISHED) == whole


def report_folder(files):
    return next(iter(files)).parts[0]


@pytest.mark.slow
def test_a_run(tmp_path, monkeypatch):
    """Killed one deed later each time, resumed until it is done, then the next; none asks twice."""
    monkeypatch.chdir(tmp_path)
    with serving(http(200, chat("yes"))) as server:
        where = ["--provider", "ollama_openai", "--base-url", server.base, "--concurrency", 1]
        new = ["run", suite(tmp_path, 2), "--model", "m", *where]
        command(tmp_path / "warm", *new)
        # The table at the end is a sync and a query: they have tests of their own.
        monkeypatch.setattr("runners.command.print_rows", lambda *_: None)
        deed = n_runs = 0
        is_killed = True
        while is_killed:
            store, arguments, n_kills = Lake(tmp_path / f"store{n_runs}"), new, 0
            server.requests.clear()
            while killed(store, arguments, deed := deed + 1):
                n_kills += 1
                arguments = ["run", "--resume", started[0]] if (started := runs_in(store)) else new
            rows = [row for batch in store.current() for row in results_in(store, batch)]
            assert sorted(row["task_id"] for row in rows if row["success"]) == ["t0", "t1"]
            # Each kill may have cost the one call that was under way.
            assert 2 <= len(server.requests) <= 2 + n_kills
            n_runs += 1
            is_killed = n_kills > 0
    assert deed > 40


def killed(lake, arguments, deed):
    def work():
        ended = command(lake.store_path, *arguments)
        assert ended.code == 0, ended.err

    ended = forked(work, at_deed=deed)
    assert not ended.error, ended.error
    return ended.is_killed


def runs_in(lake):
    assert recover_journals(lake) == []
    return [g.run_id for batch in lake.current() for g in batch.generations]


def results_in(lake, batch):
    return rows_of(lake, batch, RESULTS).to_pylist() if "results" in batch.files else []


@pytest.mark.slow
def test_a_journal_at_every_byte(tmp_path):
    """A write that is cut at any byte: what was appended before is whole, and the rest is not."""
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
