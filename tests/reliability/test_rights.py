"""Stores and inputs without the rights to parts of them, without locks, or that ignore case."""

import errno
import os
from contextlib import contextmanager

import pytest
from openclaw_cases import line, write_run
from support import command, import_into, log, new_store, shell, suite, write_log

from warehouse.core.schemas import RESULTS
from warehouse.lake.batch import Generation
from warehouse.lake.journal.journal import Entry, Journal

RUN = Generation("mine", "left")
ROWS = ("sql", "SELECT count(*) AS n FROM results", "--format", "csv")


@pytest.fixture
def left(store, tmp_path):
    """Return a store with a run, and the journal of another one whose process was killed."""
    import_into(store, write_log(tmp_path / "a.yaml"))
    store.sync()
    with Journal(store.path, RUN) as journal:
        journal.append([Entry("runs", {"content_id": "r", "origin": "runner", "plan": "{}"})])
        row = {"content_id": "1", "seq": 1, "task_id": "t0", "raw_output": "paid for"}
        journal.append([Entry(RESULTS.name, row)])
    return store


@contextmanager
def without_rights(path, mode=0):
    before = path.stat().st_mode
    path.chmod(mode)
    try:
        yield
    finally:
        path.chmod(before)


@pytest.mark.slow
def test_an_unreadable_lake_is_not_taken_for_an_empty_one(left, unprivileged):
    said = f"{left.path / 'lake'}: cannot be read (Permission denied)"
    for arguments in (ROWS, ("sync", "--rebuild"), ("info", "--verify"), ("compact",)):
        with without_rights(left.path / "lake"):
            ended = shell(left.path, *arguments, preexec_fn=unprivileged)
        assert (ended.code, ended.out) == (2, "")
        assert f"error: {said}" in ended.err
    assert command(left.path, *ROWS).out == "n\n3\n"


@pytest.mark.slow
@pytest.mark.parametrize("is_folder", [True, False])
def test_an_unreadable_journal_is_not_taken_for_an_absent_one(left, unprivileged, is_folder):
    (journal,) = (left.path / "journals").glob("*.jsonl")
    with without_rights(journal.parent if is_folder else journal):
        ended = shell(left.path, *ROWS, preexec_fn=unprivileged)
        assert (ended.code, ended.out) == (0, "n\n2\n")
        assert f"warning: {journal.parent if is_folder else journal}: " in ended.err
        assert "Permission denied" in ended.err
        ended = shell(left.path, "info", "--verify", preexec_fn=unprivileged)
        assert ended.code == (2 if is_folder else 1)
        assert "Permission denied" in ended.out + ended.err
        ended = shell(left.path, "run", "--resume", "left", preexec_fn=unprivileged)
        assert ended.code == 2
        assert "calls to make" not in ended.err
    assert command(left.path, *ROWS).out == "n\n3\n"


@pytest.mark.slow
def test_no_call_is_repeated_while_a_journal_cannot_be_read(left, tmp_path, monkeypatch):
    command(left.path, "sync")
    own = suite(tmp_path, 2)
    (tmp_path / "answers.jsonl").write_text('{"task": "t0", "text": "x"}\n')
    replay = ("--model", "m", "--provider", "replay", "--answers", tmp_path / "answers.jsonl")
    command(left.path, "run", own, *replay)
    runs = "SELECT run_id FROM runs WHERE run_id != 'left' AND suite = 'mine'"
    ((run,),) = left.sql(runs).fetchall()

    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    (left.path / "journals" / "01HZX3J9KQ8V6W2Y4N5T7R1M0P.jsonl").write_text("{}\n")
    monkeypatch.setattr("warehouse.lake.journal.recovery.open_regular", refuse)
    monkeypatch.setattr("warehouse.lake.locks.open_regular", refuse)
    ended = command(left.path, "run", "--resume", run, "--retry-failed")
    assert ended.code == 75
    assert "no calls were made, to avoid paying twice" in ended.err
    assert "2 calls to make" in command(left.path, "run", own, *replay).err


@pytest.mark.slow
def test_a_replaced_batch_that_cannot_be_removed_is_named(store, tmp_path, unprivileged):
    for n in (1, 2):
        import_into(store, write_log(tmp_path / f"{n}.yaml", log([n], date=f"2026-04-0{n}")))
    store.sync()
    batch = store.lake.path / min(store.lake.batch_names())
    with without_rights(batch, 0o555):
        ended = shell(store.path, "compact", preexec_fn=unprivileged)
        assert ended.code == 2
        assert f"{batch}: Permission denied; the batch was replaced, but" in ended.err
        assert store.sql("SELECT count(*) FROM results").fetchall() == [(2,)]
    store.sync(rebuild=True)
    assert len(store.lake.batch_names()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EIO, errno.EOPNOTSUPP])
def test_a_file_system_whose_locks_fail(left, tmp_path, monkeypatch, code):
    def fail(*_):
        raise OSError(code, os.strerror(code))

    new = write_log(tmp_path / "b.yaml", log([9], date="2026-05-01"))
    (tmp_path / "answers.jsonl").write_text('{"task": "t0", "text": "x"}\n')
    replay = ("--model", "m", "--provider", "replay", "--answers", tmp_path / "answers.jsonl")
    with monkeypatch.context() as patch:
        patch.setattr("warehouse.lake.locks.fcntl.flock", fail)
        for arguments in (
            ("import", new),
            ("run", suite(tmp_path, 1), *replay),
            ("run", "--resume", "left"),
            ("sync",),
            ("sync", "--rebuild"),
            ("compact",),
            ("forget", "2026-04-01/models/kokeilu-1.yaml", "--yes"),
        ):
            ended = command(left.path, *arguments)
            assert ended.code == 2, arguments
            assert os.strerror(code) in ended.err, arguments
        ended = command(left.path, *ROWS)
        assert (ended.code, ended.out) == (0, "n\n2\n")
        assert "could not be recovered; its results are safe (" in ended.err
        assert f"cannot be locked ({os.strerror(code)}); without locks" in ended.err
    assert command(left.path, *ROWS).out == "n\n3\n"


@pytest.fixture
def ignoring_case(monkeypatch):
    """Return a function that makes a folder list its names as a file system that ignores case."""

    def list_as(*names):
        monkeypatch.setattr("warehouse.lake.targets.os.listdir", lambda _: list(names))

    return list_as


@pytest.mark.slow
def test_names_that_differ_by_case_only(tmp_path, ignoring_case):
    store = new_store(tmp_path / "store")
    for run in ("Try", "try"):
        write_run(tmp_path / run.swapcase(), line(run_id=run), config={"run_id": run})
        import_into(store, tmp_path / run.swapcase())
    out = tmp_path / "out"
    assert command(store.path, "export", "openclaw", "--to", out).code == 0
    assert {path.name for path in (out / "runs").iterdir()} == {"Try", "try"}
    before = (out / "runs" / "try" / "results.jsonl").read_bytes()
    ignoring_case("Try")
    ended = command(store.path, "export", "openclaw", "--to", out)
    assert ended.code == 2
    assert f"{out / 'runs' / 'try'}: exists under a name that differs only in case" in ended.err
    assert (out / "runs" / "try" / "results.jsonl").read_bytes() == before


@pytest.mark.slow
def test_a_log_whose_name_differs_by_case_only(examples, tmp_path, ignoring_case):
    out = tmp_path / "out"
    first = command(examples.path, "export", "palindrome", "--to", out)
    assert first.code in {0, 1}
    ignoring_case("EXAMPLE-AURORA-2.yaml")
    ended = command(examples.path, "export", "palindrome", "--to", out)
    assert ended.code == 2
    assert "exists under a name that differs only in case" in ended.err
