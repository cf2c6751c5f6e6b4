"""What commands ask of an object store: counted, since each request costs time and money."""

import itertools
from collections import Counter

import pytest
from support import command, log, task, write_log

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
