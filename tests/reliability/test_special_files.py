"""Pipes and devices in place of files: refused at once, and nothing is read from them."""

import os
import shutil
import signal

import pytest
from support import ROOT, command, log, new_store, write_log

from warehouse.core.files import NotRegularError, open_for_appending, open_regular, read_regular
from warehouse.engine.base_store import EvalstoreWarning

KINDS = ("pipe", "device")
WORKSPACE = ROOT / "examples" / "posters"


@pytest.fixture(autouse=True)
def _no_hang():
    """Interrupt a test that waits for the other end of a pipe."""

    def give_up(*_):
        raise TimeoutError("it hangs")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(600)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def put(path, kind):
    """Put a pipe without a writer, or an endless device, in place of a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    return path


def assert_refused(ended, path, kind, code=2):
    assert f"{path}" in ended.err
    assert f"a {kind}, not a regular file" in ended.err
    assert "Traceback" not in ended.err
    assert ended.code == code


@pytest.mark.parametrize("kind", KINDS)
def test_only_regular_files_are_opened(tmp_path, kind):
    path = put(tmp_path / "it", kind)
    for work in (open_regular, read_regular, open_for_appending):
        with pytest.raises(NotRegularError, match=f"a {kind}, not a regular file"):
            work(path)
    with pytest.raises(NotRegularError):
        open_regular(tmp_path)


def test_a_file_is_measured_before_it_is_read(tmp_path):
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(OSError, match=r"1,099,511,627,776 bytes; the limit is 67,108,864"):
        read_regular(path)
    path.write_bytes(b"12345")
    assert read_regular(path, max_bytes=5) == b"12345"
    with pytest.raises(OSError, match="5 bytes; the limit is 4"):
        read_regular(path, max_bytes=4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["batch.json", "results.parquet"])
def test_in_the_lake(two, tmp_path, kind, name):
    batch = two.lake.path / min(two.lake.batch_names())
    path = put(batch / name, kind)
    ended = command(two.path, "info", "--verify")
    assert str(path) in ended.out + ended.err
    assert (f"a {kind}, not a regular file" in ended.out, ended.code) == (True, 1)
    two.warehouse.unlink()
    new_store(two.path)
    assert_refused(command(two.path, "sync"), path, kind, code=1)
    with pytest.warns(EvalstoreWarning, match="not a regular file"):
        assert two.sql("SELECT count(*) FROM runs").fetchall() == [(1,)]
    grown = write_log(tmp_path / "1.yaml", log([1, 3], date="2026-04-01"))
    assert_refused(command(two.path, "import", grown), path, kind)
    assert_refused(command(two.path, "compact"), path, kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_among_the_journals_and_locks(two, kind):
    path = put(two.path / "journals" / "01KAM3V5XQ0000000000000000.jsonl", kind)
    ended = command(two.path, "runs", "--format", "csv")
    assert_refused(ended, path, kind, code=0)
    assert command(two.path, "info").code == 0
    ended = command(two.path, "info", "--verify")
    assert (ended.code, f"{path}: cannot be read (a {kind}, not" in ended.out) == (1, True)
    path.unlink()
    for name in ("lake.lock", "sync.lock", "absorb.lock"):
        lock = put(two.path / name, kind)
        assert command(two.path, "runs").code == 0
        assert command(two.path, "sync").code == (2 if name == "sync.lock" else 0)
        assert command(two.path, "compact").code == (2 if name == "lake.lock" else 0)
        lock.unlink()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_in_place_of_the_warehouse(two, kind):
    path = put(two.warehouse, kind)
    for arguments in (["runs"], ["sync"], ["sync", "--rebuild"]):
        assert_refused(command(two.path, *arguments), path, kind)
    ended = command(two.path, "info", "--verify")
    assert (ended.code, f"a {kind}, not a regular file" in ended.out) == (1, True)
    assert not path.is_file()
    path.unlink()
    assert command(two.path, "runs").code == 0


@pytest.mark.parametrize("kind", KINDS)
def test_named_on_the_command_line(two, tmp_path, kind, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = put(tmp_path / "it.yaml", kind)
    replay = ["--model", "example/aurora-2", "--provider", "replay"]
    posters = ["posters", *replay, "--images", tmp_path]
    for arguments in (
        ["check", "--expectations", path],
        ["sql", "--file", path],
        ["run", path, *replay],
        ["run", "palindrome", *replay, "--prompts", path],
        ["run", "palindrome", *replay, "--template", path],
        ["run", "palindrome", *replay, "--answers", path],
        ["run", "openclaw", *replay, "--prompts", path],
        ["run", *posters, "--urls", path],
        ["run", *posters, "--urls", WORKSPACE / "docs" / "test_poster_urls.txt", "--include", path],
    ):
        assert_refused(command(two.path, *arguments), path, kind)
    ended = command(two.path, "import", path)
    assert (ended.code, "neither a file nor a folder" in ended.err) == (2, True)


@pytest.mark.slow
def test_found_in_folders(two, tmp_path, monkeypatch):
    kind = "pipe"  # links are not followed there
    monkeypatch.chdir(tmp_path)
    shutil.copytree(WORKSPACE, tmp_path / "workspace")
    manifest = min((tmp_path / "workspace").rglob("manifest.json"))
    record = min(manifest.parent.rglob("predictions/*/*.json"))
    put(record, kind)
    ended = command(two.path, "import", tmp_path / "workspace")
    assert_refused(ended, record, kind)
    assert ended.lines["runs"] == "1"
    put(manifest, kind)
    ended = command(two.path, "import", tmp_path / "workspace")
    assert "Traceback" not in ended.err
    shutil.copytree(ROOT / "examples" / "openclaw", tmp_path / "openclaw")
    path = put(min((tmp_path / "openclaw").rglob("results.jsonl")), kind)
    assert_refused(command(two.path, "import", tmp_path / "openclaw"), path, kind)
    model = put(tmp_path / "models" / "mine.yaml", kind)
    assert_refused(command(two.path, "models"), model.relative_to(tmp_path), kind, code=1)
    run = ["run", "palindrome", "--model", "example/aurora-2", "--provider", "replay"]
    assert_refused(command(two.path, *run), model.relative_to(tmp_path), kind, code=0)


def test_a_journal_with_an_endless_line_is_kept(two, monkeypatch):
    monkeypatch.setattr("warehouse.lake.journal.reading._LONGEST_LINE", 100)
    path = two.path / "journals" / "01KAM3V5XQ0000000000000000.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"0" * 101 + b"\n")
    ended = command(two.path, "runs", "--format", "csv")
    assert f"{path}: could not be recovered; its results are safe (line 1 is longer" in ended.err
    assert (ended.code, path.exists()) == (0, True)
    assert command(two.path, "info", "--verify").code == 1
