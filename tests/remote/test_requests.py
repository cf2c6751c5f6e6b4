"""What commands ask of an object store: counted, since each request costs time and money."""

import itertools
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from support import command, environment, log, task, write_log

from warehouse.core.errors import BadInput
from warehouse.lake.remote.address import store_folder

obstore = pytest.importorskip("obstore", reason="obstore is not installed")
from obstore.store import MemoryStore  # noqa: E402 - after the check

from warehouse.lake.remote.objects import Objects  # noqa: E402

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
    for module in ("remote.objects", "table_location"):
        monkeypatch.setattr(f"warehouse.lake.{module}.open_objects", lambda _: counted)
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
