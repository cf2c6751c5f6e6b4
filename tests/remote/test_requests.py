"""What commands ask of an object store: counted, since each request costs time and money."""

import itertools
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from poster_cases import POSTERS
from support import command, environment, log, needs_reference, task, write_log

from warehouse.core.errors import BadInput, ExitCode, StoreBusy
from warehouse.lake.remote.address import store_folder

obstore = pytest.importorskip("obstore", reason="obstore is not installed")
from obstore.store import MemoryStore  # noqa: E402 - after the check

from warehouse.lake.remote.objects import Objects  # noqa: E402

pytestmark = pytest.mark.slow

STORE = "s3://bucket/evals"


class Counted(Objects):
    """Objects that count the listings of each folder, and the keys that were read."""

    def __init__(self, store):
        super().__init__(STORE, store)
        self.listed, self.read = Counter(), Counter()

    def names(self, folder):
        self.listed[folder] += 1
        return super().names(folder)

    def below(self, prefix):
        self.listed[prefix] += 1
        return super().below(prefix)

    def _pieces(self, key):
        self.read[key] += 1
        return super()._pieces(key)


@pytest.fixture
def objects(tmp_path, monkeypatch):
    """The objects of a store that all commands share; time passes quickly."""
    counted = Counted(MemoryStore())
    monkeypatch.setattr("warehouse.lake.remote.objects.open_objects", lambda _: counted)
    seconds = itertools.count(step=3)
    monkeypatch.setattr("warehouse.lake.remote.mirror.time.monotonic", lambda: next(seconds))
    monkeypatch.setenv("EVALSTORE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return counted


def add(folder, *numbers):
    for n in numbers:
        document = log(tasks=[task(1), task(2)], model=f"models/example-m{n}-1.yaml")
        path = write_log(folder / f"2025-03-{n:02}-example-m{n}.yaml", document)
        assert command(STORE, "import", path).code == 0


MODELS = ("--candidate", "models/example-m1-1.yaml", "--baseline", "models/example-m2-1.yaml")


@pytest.mark.parametrize(
    ("arguments", "code", "folders"),
    [
        (("show", "leaderboard", "--suite", "palindrome"), 0, ["batches"]),
        (("check",), 0, ["batches"]),
        (("info",), 0, ["batches"]),
        (("report", "--to", "site", "--suite", "palindrome"), 0, ["batches"]),
        (("gate", *MODELS, "--max-drop", "0.1"), 3, ["batches"]),
        # What is in the folders of batches matters to those who look after the store.
        (("sync",), 0, ["batches", "lake"]),
    ],
)
def test_a_command_lists_a_folder_once(objects, tmp_path, *, arguments, code, folders):
    add(tmp_path, 1, 2)
    objects.listed.clear()
    found = command(STORE, *arguments)
    assert found.code == code, found.err
    assert objects.listed == dict.fromkeys(folders, 1)


@pytest.mark.usefixtures("objects")
def test_each_command_sees_what_others_added(tmp_path, monkeypatch):
    add(tmp_path, 1)
    count = ("sql", "SELECT count(*) AS n FROM runs", "--format", "csv")
    for n in (1, 2):
        monkeypatch.setenv("EVALSTORE_CACHE", str(tmp_path / "reader"))
        assert command(STORE, *count).out == f"n\n{n}\n"
        monkeypatch.setenv("EVALSTORE_CACHE", str(tmp_path / "cache"))
        add(tmp_path, n + 1)


def test_a_merge_is_fetched_in_part_where_batches_are_many(objects, tmp_path, monkeypatch):
    """The next merge leaves full batches alone, so that no machine fetches them again."""
    add(tmp_path, *range(1, 8))
    sizes = Counter()
    for one in objects.below("lake/"):
        if one.key.endswith(".parquet"):  # what is merged
            sizes[one.key.split("/")[1]] += one.size
    largest = max(sizes.values())
    monkeypatch.setattr("warehouse.lake.compaction._MOST_FETCHED_BYTES", 3 * largest)
    monkeypatch.setattr("warehouse.lake.compaction.SMALL_BYTES", largest + 1)

    def fetch(*before):
        for arguments in before:
            assert command(STORE, *arguments).code == 0
        monkeypatch.setenv("EVALSTORE_CACHE", str(tmp_path / "reader"))
        objects.read.clear()
        found = command(STORE, "sql", "SELECT count(*) AS n FROM runs", "--format", "csv").out
        monkeypatch.setenv("EVALSTORE_CACHE", str(tmp_path / "cache"))
        return found.split()[1], {key.split("/")[1] for key in objects.read}

    n_runs, merged = fetch(("compact",))
    assert (n_runs, len(merged)) == ("7", 3)
    add(tmp_path, 8)
    n_runs, fetched = fetch(("compact",))
    assert (n_runs, len(fetched)) == ("8", 1)
    left = {one.key.split("/")[1] for one in objects.below("lake/")}
    assert len(left & merged) == 2


def caches(folder):
    return {json.loads(path.read_text())["url"] for path in folder.glob("*/remote.json")}


def test_caches_are_limited_to_those_used_last(tmp_path, monkeypatch):
    """By processes of their own: what this one has opened is in use."""

    def opened(address, **limit):
        code = "import sys; from warehouse.lake.remote.address import store_folder as s; "
        code += "print(s(sys.argv[1]))"
        found = subprocess.run(
            [sys.executable, "-c", code, address],
            env=environment(EVALSTORE_CACHE=str(tmp_path), **limit),
            capture_output=True,
            text=True,
            check=True,
        )
        return Path(found.stdout.strip())

    for name in "abcd":
        (opened(f"s3://{name}") / "warehouse.duckdb").write_bytes(b"x" * 2**19)
    (opened("s3://own") / "lake" / "01").mkdir(parents=True)  # not uploaded
    monkeypatch.setenv("EVALSTORE_CACHE", str(tmp_path))
    store_folder("s3://b")
    opened("s3://a")
    opened("s3://new", EVALSTORE_CACHE_MB="1.2")
    # Two of the four have to go: d was used after c and before a, and b is in use.
    assert caches(tmp_path) == {"s3://a", "s3://b", "s3://own", "s3://new"}
    assert (opened("s3://c") / "remote.json").exists()
    monkeypatch.setenv("EVALSTORE_CACHE_MB", "lots")
    with pytest.raises(BadInput, match="EVALSTORE_CACHE_MB"):
        store_folder("s3://b")


def test_info_names_the_address_and_the_cache(objects, tmp_path):
    add(tmp_path, 1)
    for more in ((), ("--verify",)):
        facts = json.loads(command(objects.address, "info", *more, "--format", "json").out)
        assert facts["store"] == STORE
        assert facts["cache"].startswith(str(tmp_path / "cache"))


# --- copies of imported files

LENGTHS = (
    "sql",
    "SELECT octet_length(content) AS n FROM lake.files ORDER BY path",
    "--format",
    "json",
)


@pytest.fixture
def on(objects, tmp_path, monkeypatch):
    """Run a command as on a machine of this name; return how it ended and what it fetched."""

    def run(name, *arguments, code=0):
        monkeypatch.setenv("EVALSTORE_CACHE", str(tmp_path / name))
        objects.read.clear()
        ended = command(STORE, *arguments)
        assert ended.code == code, ended.err
        fetched = [key for key in objects.read if key.endswith("/files.parquet")]
        return ended, fetched

    return run


def lengths(folder):
    return [path.stat().st_size for path in sorted(folder.glob("*.yaml"))]


def found_lengths(ended):
    return [row["n"] for row in json.loads(ended.out)]


def test_copies_are_fetched_by_who_reads_them(objects, on, tmp_path, monkeypatch):
    add(tmp_path, 1, 2, 3)
    for arguments in (
        ("show", "leaderboard"),
        ("show", "files"),
        ("info",),
        ("sync", "--rebuild"),
        ("check", "--only", "leaderboard"),
    ):
        _, fetched = on("reader", *arguments)
        assert fetched == []
    kept, _ = on("reader", "sql", "SELECT bool_and(is_kept) AS n FROM files", "--format", "json")
    assert found_lengths(kept) == [True]
    with monkeypatch.context() as patch:
        patch.setenv("EVALSTORE_NO_SYNC", "1")
        assert "copies of imported files that were not fetched" in on("reader", *LENGTHS)[0].err
    shown, fetched = on("reader", *LENGTHS)
    assert found_lengths(shown) == lengths(tmp_path)
    assert len(fetched) == 3
    assert "fetching the copies of imported files (0.0 MiB in 3 objects) from s3://" in shown.err
    assert set(objects.read) == set(fetched)
    # They are kept, by a rebuild too, and nothing is said a second time.
    on("reader", "sync", "--rebuild")
    again, fetched = on("reader", *LENGTHS)
    assert (again.out, again.err, fetched) == (shown.out, "", [])


def test_a_copy_is_what_was_imported(on, tmp_path):
    add(tmp_path, 1)
    (path,) = tmp_path.glob("*.yaml")
    text = "SELECT decode(content) AS text FROM lake.files"
    shown, _ = on("reader", "sql", text, "--format", "json")
    assert json.loads(shown.out) == [{"text": path.read_text()}]


@needs_reference
def test_published_reports_are_fetched_without_other_copies(on, tmp_path):
    add(tmp_path, 1)
    folder = next((POSTERS / "published").iterdir())
    on("cache", "import", folder)
    named = ("--report", folder.name, "--to", tmp_path)
    _, fetched = on("reader", "publish", "posters", *named)
    assert len(fetched) == 1
    written = tmp_path / "benchmark" / "published" / folder.name
    for path in folder.iterdir():
        assert (written / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("content", "reason"), [(None, "is missing"), (b"PAR1", "is not what was uploaded")]
)
def test_a_copy_that_cannot_be_fetched_is_named(objects, on, tmp_path, *, content, reason):
    add(tmp_path, 1, 2)
    key = next(one.key for one in objects.below("lake/") if one.key.endswith("/files.parquet"))
    objects.delete([key])
    if content is not None:
        objects.put(key, content)
    shown, _ = on("reader", "show", "leaderboard")
    assert shown.err == ""
    failed, _ = on("reader", *LENGTHS, code=2)
    assert failed.err.endswith(f"error: {STORE}/{key}: {reason}\n")
    verified, _ = on("reader", "info", "--verify", code=1)
    assert "1 of 2 batches are damaged" in verified.err
    assert f"{STORE}/{key}: {reason}" in verified.out
    failed, _ = on("reader", "compact", code=2)
    assert f"{STORE}/{key}: {reason}" in failed.err


@pytest.mark.parametrize("arguments", [("check",), ("info", "--verify")])
def test_commands_that_read_all_copies_say_so(on, tmp_path, arguments):
    add(tmp_path, 1, 2)
    on("reader", "show", "leaderboard")
    ended, fetched = on("reader", *arguments)
    assert len(fetched) == 2
    assert "fetching the copies of imported files" in ended.err


def test_a_machine_without_copies_merges_and_forgets_with_them(objects, on, tmp_path):
    add(tmp_path, 1, 2, 3)
    on("reader", "compact")
    shown, _ = on("third", *LENGTHS)
    assert found_lengths(shown) == lengths(tmp_path)
    run = json.loads(
        on("third", "sql", "SELECT min(run_id) AS id FROM runs", "--format", "json")[0].out
    )
    on("fourth", "forget", run[0]["id"], "--yes")
    shown, _ = on("fifth", *LENGTHS)
    assert found_lengths(shown) == lengths(tmp_path)[1:]
    assert found_lengths(on("reader", *LENGTHS)[0]) == lengths(tmp_path)[1:]
    assert len([one for one in objects.below("lake/") if one.key.endswith("files.list")]) == 1


def test_tables_are_written_with_copies(on, tmp_path):
    add(tmp_path, 1)
    on("reader", "show", "files")
    _, fetched = on("reader", "sync", "--to", tmp_path / "tables")
    assert len(fetched) == 1
    assert found_lengths(command(tmp_path / "tables", *LENGTHS)) == lengths(tmp_path)


@pytest.mark.parametrize("content", [None, b"0" * 64 + b" 12\nPAR1"])
def test_a_batch_without_a_list_is_fetched_with_its_copies(objects, on, tmp_path, content):
    add(tmp_path, 1)
    [key] = [one.key for one in objects.below("lake/") if one.key.endswith("files.list")]
    objects.delete([key])
    if content is not None:
        objects.put(key, content)
    assert len(on("reader", "show", "leaderboard")[1]) == 1
    shown, fetched = on("reader", *LENGTHS)
    assert (found_lengths(shown), fetched) == (lengths(tmp_path), [])


def test_a_fetch_that_ended_early_is_completed(on, tmp_path, monkeypatch):
    add(tmp_path, 1, 2)
    on("reader", "show", "leaderboard")

    def stop(*_):
        raise StoreBusy("stopped")

    with monkeypatch.context() as patch:
        patch.setattr("warehouse.engine.tables.file_copies.load_copies", stop)
        on("reader", *LENGTHS, code=ExitCode.BUSY)
    shown, fetched = on("reader", *LENGTHS)
    assert (found_lengths(shown), fetched) == (lengths(tmp_path), [])


def test_a_full_batch_is_not_fetched_to_be_merged(objects, on, tmp_path, monkeypatch):
    add(tmp_path, 1, 2)
    on("reader", "show", "leaderboard")
    sizes = {}
    for one in objects.below("lake/"):
        if one.key.endswith(".parquet"):
            name = one.key.split("/")[1]
            sizes[name] = sizes.get(name, 0) + one.size
    monkeypatch.setattr("warehouse.lake.compaction.SMALL_BYTES", min(sizes.values()))
    assert on("reader", "compact")[1] == []
