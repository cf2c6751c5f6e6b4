"""`evalstore forget`: nothing of a run's text remains, and nothing else is touched."""

import os

import pytest
from support import SECRET, bring_in, command, digests, new_store, task, write_log

from warehouse.journal.run_lock import run_lock


@pytest.fixture
def logs(tmp_path):
    folder = tmp_path / "logs"
    for day, answer in {"2026-04-01": SECRET, "2026-04-02": "kept"}.items():
        write_log(folder / f"{day}-m.yaml", date=day, tasks=[task(int(day[-1]), answer=answer)])
    return folder


def everything_in(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def run_ids(store):
    return [run for (run,) in store.sql("SELECT run_id FROM runs ORDER BY run_id").fetchall()]


def test_no_trace_of_the_text_remains(store, logs):
    bring_in(store, logs)
    run, other = run_ids(store)
    (content,) = store.sql("SELECT content FROM lake.files WHERE path LIKE '%04-01%'").fetchall()[0]
    assert SECRET.encode() in content
    ended = command(store.path, "forget", run, "--yes")
    assert (ended.code, run_ids(store)) == (0, [other])
    assert store.sql("SELECT count(*) FROM lake.files").fetchall() == [(1,)]
    # Parquet is compressed: what its tables hold is asked, the other files are searched.
    assert SECRET.encode() not in everything_in(store.path)
    for table in ("results", "files", "quarantine", "violations"):
        assert SECRET not in str(store.sql(f"FROM lake.{table}").fetchall())


def test_the_rest_is_as_if_the_run_had_never_come(store, logs, tmp_path):
    bring_in(store, logs)
    command(store.path, "forget", run_ids(store)[0], "--yes")
    never = new_store(tmp_path / "never")
    bring_in(never, logs / "2026-04-02-m.yaml")
    assert digests(store) == digests(never)


def test_it_comes_back_only_when_asked(store, logs):
    bring_in(store, logs)
    before = digests(store)
    run = run_ids(store)[0]
    command(store.path, "forget", run, "--yes")
    assert any("forgotten" in message for message in bring_in(store, logs).messages)
    assert run not in run_ids(store)
    bring_in(store, logs, restore=True)
    assert digests(store) == before
    command(store.path, "forget", run, "--yes")
    bring_in(store, logs)
    assert run not in run_ids(store)


def test_a_forget_that_was_killed_is_finished(store, logs, monkeypatch):
    bring_in(store, logs)
    run = run_ids(store)[0]
    (batch,) = store.lake.batch_names()
    monkeypatch.setattr("warehouse.lake.lake.Lake.remove_replaced", lambda _lake: None)
    command(store.path, "forget", run, "--yes")
    assert batch in store.lake.batch_names()
    monkeypatch.undo()
    store.sync(rebuild=True)
    assert batch not in store.lake.batch_names()
    assert run not in run_ids(store)


def test_an_unknown_run_is_said(store, logs):
    bring_in(store, logs)
    ended = command(store.path, "forget", "nobody", "--yes")
    assert ended.code == 2
    assert "evalstore runs" in ended.err


def test_a_run_that_is_being_run_is_left_alone(store, logs):
    bring_in(store, logs)
    run, _ = run_ids(store)
    with run_lock(store.path, "palindrome", run):
        ended = command(store.path, "forget", run, "--yes")
    assert ended.code == 2
    assert f"run {run} is being run by the process with id {os.getpid()}" in ended.err
    assert run in run_ids(store)
