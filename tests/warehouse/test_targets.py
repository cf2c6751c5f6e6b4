"""Targets of exports, pages and snapshots that are not files, or not only files."""

import fcntl
import os
import shutil
import socket
import stat
import subprocess
import sys
import threading

import pytest
from support import ROOT, command, environment, import_into, log, new_store, shell, write_log

from warehouse.core.errors import BadInput
from warehouse.lake import targets
from warehouse.lake.targets import open_target, own_descriptor, write_lines, write_whole

EVALSTORE = [sys.executable, "-m", "evalstore"]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    store = new_store(folder / "store")
    import_into(store, write_log(folder / "1.yaml", log([1])), ROOT / "examples" / "posters")
    store.sync()
    return store


def device(path, minor):
    """Return a character device of our own: a rename over one of the system would destroy it."""
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
    except PermissionError:
        pytest.skip("only root can make a device")
    return path


def read_in_background(pipe):
    found = []
    thread = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    thread.start()
    return lambda: (thread.join(300), found[0])[1]


def test_a_device_is_written_through_and_stays_one(tmp_path):
    null, full = device(tmp_path / "null", 3), device(tmp_path / "full", 7)
    write_whole(null, b"x")
    with pytest.raises(BadInput, match=r"full: cannot be written \(No space left"):
        write_whole(full, b"x")
    link = tmp_path / "link"
    link.symlink_to(null)
    write_whole(link, b"x")
    assert link.is_symlink()
    assert all(path.is_char_device() for path in (null, full))
    assert {path.name for path in tmp_path.iterdir()} == {"null", "full", "link"}


def test_a_pipe_is_written_through_and_stays_one(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    received = read_in_background(tmp_path / "pipe")
    write_whole(tmp_path / "pipe", b"x" * 100_000)
    assert received() == b"x" * 100_000
    assert (tmp_path / "pipe").is_fifo()


def test_a_link_is_followed_to_the_file_it_names(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "page.html").write_text("before")
    (tmp_path / "link").symlink_to("real/page.html")
    (tmp_path / "to the link").symlink_to(tmp_path / "link")
    (tmp_path / "new").symlink_to("real/new.html")
    write_whole(tmp_path / "to the link", b"after")
    write_whole(tmp_path / "new", b"new")
    assert (tmp_path / "real" / "page.html").read_bytes() == b"after"
    assert (tmp_path / "real" / "new.html").read_bytes() == b"new"
    assert (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in (tmp_path / "real").iterdir()) == ["new.html", "page.html"]
    for name, leads in (("loop", "loop"), ("lost", "nowhere/page.html")):
        (tmp_path / name).symlink_to(leads)
        with pytest.raises(BadInput, match=f"{name}: cannot be written"):
            write_whole(tmp_path / name, b"x")
        assert (tmp_path / name).is_symlink()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o755])
def test_mode_and_owner_are_kept(tmp_path, mode):
    path = tmp_path / "page.html"
    path.write_text("before")
    path.chmod(mode)
    owner = (1234, 2345) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    os.chown(path, *owner)
    with open_target(path) as file:
        file.write(b"after")
        (temporary,) = tmp_path.glob(".*.part")
        assert stat.S_IMODE(temporary.stat().st_mode) == mode  # never readable by more
    after = path.stat()
    assert (stat.S_IMODE(after.st_mode), (after.st_uid, after.st_gid)) == (mode, owner)
    assert path.read_bytes() == b"after"


def test_a_file_of_another_user_is_replaced_without_rights_for_others(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("before")
    path.chmod(0o4664)

    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refuse)
    write_whole(path, b"after")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"after", 0o604)


def test_a_file_of_another_user_keeps_its_group(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("before")
    path.chmod(0o664)
    group = path.stat().st_gid
    given = []

    def refuse_owners(_, owner, group):
        if owner != -1:
            raise PermissionError(1, "Operation not permitted")
        given.append(group)

    monkeypatch.setattr(os, "fchown", refuse_owners)
    write_whole(path, b"after")
    assert (given, stat.S_IMODE(path.stat().st_mode)) == ([group], 0o664)


def test_anything_else_is_refused_and_stays(tmp_path):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        with pytest.raises(BadInput, match="a socket; only files, pipes"):
            write_whole(tmp_path / "socket", b"x")
    assert (tmp_path / "socket").is_socket()
    with pytest.raises(BadInput, match="Is a directory"):
        write_whole(tmp_path, b"x")
    if os.geteuid() == 0:
        block = tmp_path / "block"
        try:
            # A number that no driver has: nothing can be written to it.
            os.mknod(block, 0o600 | stat.S_IFBLK, os.makedev(4095, 0))
        except PermissionError:
            return
        with pytest.raises(BadInput, match="a block device; only files, pipes"):
            write_whole(block, b"x")
        assert block.is_block_device()


def test_an_error_in_between_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("before")

    def lines():
        yield b"after"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_lines(path, lines())
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_temporary_files_of_killed_processes_are_removed(tmp_path):
    kept = {".1.2.part": "locked", ".mine.part": "", "3.4.part": "", ".5.6.part.old": ""}
    for name in [*kept, ".1.1.part", ".99999.140000000000.part"]:
        (tmp_path / name).write_text("half")
    (tmp_path / ".7.8.part").mkdir()
    with (tmp_path / ".1.2.part").open() as writing:  # by another process
        fcntl.flock(writing, fcntl.LOCK_EX)
        write_whole(tmp_path / "a.txt", b"a")
    assert {path.name for path in tmp_path.iterdir()} == {*kept, ".7.8.part", "a.txt"}


def test_a_temporary_file_is_not_taken_for_one_of_a_killed_process(tmp_path, monkeypatch):
    """A sweep comes between its creation and its locking, while it is written, and at its end."""
    sweep, flock = targets.sweep.__wrapped__, fcntl.flock

    def sweep_and_lock(file, kind):
        monkeypatch.setattr(targets.fcntl, "flock", flock)
        sweep(tmp_path)
        flock(file, kind)

    monkeypatch.setattr(targets.fcntl, "flock", sweep_and_lock)
    with open_target(tmp_path / "a.txt") as file:
        sweep(tmp_path)
        file.write(b"a")
        sweep(tmp_path)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.txt", b"a")]


def test_open_files_are_recognised(tmp_path):
    names = {"/dev/stdout": 1, "/dev/stderr": 2, "/dev/fd/7": 7, "/proc/self/fd/1": 1}
    for name, descriptor in names.items():
        (tmp_path / "link").symlink_to(name)
        assert own_descriptor(type(tmp_path)(name)) == descriptor
        assert own_descriptor(tmp_path / "link") == descriptor
        (tmp_path / "link").unlink()
    for path in (tmp_path / "7", tmp_path / "page.html", tmp_path):
        assert own_descriptor(path) is None


@pytest.mark.campaign
def test_a_page_on_stdout_is_all_of_stdout(small, tmp_path):
    ended = shell(small.path, "check", "--html", "/dev/stdout")
    assert ended.out.startswith("<!doctype html>")
    assert ended.out.rstrip().endswith("</html>")
    assert "expectations met" in ended.err
    # Into a file that has text already, as `>>` does, it is appended.
    path = tmp_path / "page.html"
    path.write_text("before\n")
    with path.open("ab") as out:
        subprocess.run(
            [*EVALSTORE, "--store", small.path, "check", "--html", "/dev/stdout"],
            stdout=out,
            stderr=subprocess.DEVNULL,
            env=environment(),
            cwd=ROOT,
            check=False,
        )
    assert path.read_text().startswith("before\n<!doctype html>")


@pytest.mark.campaign
def test_every_command_that_writes_uses_the_same_writer(small, tmp_path):
    shutil.copytree(small.path, tmp_path / "store")
    null = device(tmp_path / "null", 3)
    for arguments in (["check", "--html", null], ["sync", "--snapshot", null]):
        assert command(tmp_path / "store", *arguments).code == 0
        assert null.is_char_device()
    run = small.sql("SELECT run_id FROM runs WHERE suite = 'posters'").fetchall()[0][0]
    exports = {
        "palindrome": (["palindrome"], "benchmark_logs/2026-04-01-kokeilu-1.yaml"),
        "posters": (["posters", "--run", run], "summary.json"),
    }
    for name, (arguments, file) in exports.items():
        first = command(small.path, "export", *arguments, "--to", tmp_path / name)
        path = tmp_path / name / file
        content = path.read_bytes()
        elsewhere = tmp_path / f"{name}-elsewhere"
        path.rename(elsewhere)
        path.symlink_to(elsewhere)
        elsewhere.chmod(0o600)
        again = command(small.path, "export", *arguments, "--to", tmp_path / name)
        assert (again.code, again.out) == (first.code, first.out)
        assert path.is_symlink()
        assert (elsewhere.read_bytes(), stat.S_IMODE(elsewhere.stat().st_mode)) == (content, 0o600)
        path.unlink()
        device(path, 3)
        again = command(small.path, "export", *arguments, "--to", tmp_path / name)
        assert (again.code, path.is_char_device()) == (first.code, True)
