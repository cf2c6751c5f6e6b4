"""Stores on an object store, each machine with a cache of its own."""

import json
import random
from datetime import UTC, datetime, timedelta
from functools import partial

import duckdb
import pytest
from support import SECRET, digests, import_into, log, new_store, task, traces, write_log

from ingest.reconciliation import FileOutcome
from warehouse.analysis.checking.shipped import all_loaded
from warehouse.app.store import Store
from warehouse.core import schemas
from warehouse.core.errors import BadInput, StoreBusy, StoreDamaged, StoreUnreachable
from warehouse.engine.verification import verify
from warehouse.lake import compaction
from warehouse.lake.compaction import merge_small
from warehouse.lake.forgetting import forget
from warehouse.lake.remote.address import address_of, store_folder
from warehouse.lake.remote.mirror import Mirror
from warehouse.lake.remote.objects import Objects

obstore = pytest.importorskip("obstore", reason="obstore is not installed")
from obstore.store import MemoryStore  # noqa: E402 - after the check

ADDRESS = "s3://bucket/evals"


class Faulty(Objects):
    """Objects that cannot be reached from the n-th request on."""

    def __init__(self, store, n_good=None):
        super().__init__(ADDRESS, store)
        self.n_good = n_good
        self.requests = []

    def _errors(self, key):
        self.requests.append(key)
        if self.n_good is not None and len(self.requests) > self.n_good:
            raise StoreUnreachable(f"{self.address}: cannot be reached")
        return super()._errors(key)


@pytest.fixture
def remote():
    return MemoryStore()


def machine(folder, remote, n_good=None, *, new=new_store):
    """Return the store of a machine whose cache is in this folder."""
    store = new(folder)
    store.lake.mirror = Mirror(store.lake, Faulty(remote, n_good))
    return store


def later(**ahead):
    """Return the class `datetime` of a clock that is so far ahead."""
    moment = datetime.now(UTC) + timedelta(**ahead)

    class Later(datetime):
        @classmethod
        def now(cls, tz=None):
            return moment.astimezone(tz)

    return Later


def keys(remote):
    return sorted(meta["path"] for page in obstore.list(remote) for meta in page)


def write(folder, n, text="innostunut sonni"):
    tasks = [{**task(n), "answer": text}]
    return write_log(
        folder / f"2025-03-{n:02}-example-m{n}.yaml",
        log(tasks=tasks, model=f"models/example-m{n}-1.yaml"),
    )


def n_results(store):
    return store.sql("SELECT count(*) FROM results").fetchall()[0][0]


@pytest.mark.slow
def test_what_one_machine_adds_another_one_reads(tmp_path, remote):
    one, two = (machine(tmp_path / name, remote) for name in ("one", "two"))
    import_into(one, write(tmp_path, 1))
    assert n_results(two) == 1
    import_into(two, write(tmp_path, 2))
    two.lake.mirror.pull()
    one.sync()
    assert n_results(one) == 2
    assert content(tmp_path / "one", remote) == content(tmp_path / "two", remote)
    # An import of what the other machine imported adds nothing.
    assert import_into(one, write(tmp_path, 2)).outcomes == {FileOutcome.UNCHANGED: 1}


def test_descriptions_come_last_and_never_overwrite(tmp_path, remote):
    store = machine(tmp_path / "one", remote)
    import_into(store, write(tmp_path, 1))
    (name,) = store.lake.batch_names()
    assert store.lake.mirror._objects.requests[-1] == f"batches/{name}.json"
    obstore.put(remote, f"batches/{name}.json", b"{}", mode="overwrite")
    (tmp_path / "one" / "uploaded" / name).unlink()
    with pytest.raises(StoreDamaged, match="another batch of the same name"):
        store.lake.mirror.push(store.lake.read(name))


def test_a_merge_replaces_batches_everywhere(tmp_path, remote):
    one, two = (machine(tmp_path / name, remote) for name in ("one", "two"))
    for n in (1, 2, 3):
        import_into(one, write(tmp_path, n))
    before = content(tmp_path / "two", remote)
    assert merge_small(one.lake).n_after == 1
    (merged,) = one.lake.batch_names()
    assert [key for key in keys(remote) if key.endswith(".json")] == [
        "merges.json", f"merges/{merged}.json"
    ]  # fmt: skip
    assert {key.split("/")[1] for key in keys(remote) if key.startswith("lake/")} == {merged}
    assert content(tmp_path / "two", remote) == before == content(tmp_path / "one", remote)
    assert two.lake.batch_names() == {merged}
    assert content(tmp_path / "three", remote) == before


@pytest.mark.slow
def test_small_batches_are_merged_only_where_that_was_asked_for(tmp_path, remote, monkeypatch):
    monkeypatch.setattr(compaction, "FAN", 2)
    one = machine(tmp_path / "one", remote)
    for n in (1, 2, 3):
        import_into(one, write(tmp_path, n))
    one.sync()
    before = keys(remote)
    assert not one.merge_small_batches()
    assert keys(remote) == before
    one.lake.mirror = None
    assert one.merge_small_batches()


@pytest.mark.slow
def test_what_is_forgotten_is_gone_everywhere(tmp_path, remote):
    one, two = (machine(tmp_path / name, remote) for name in ("one", "two"))
    import_into(one, write(tmp_path, 1, SECRET))
    import_into(one, write(tmp_path, 2))
    assert n_results(two) == 2
    (run,) = two.sql(f"SELECT suite, run_id FROM results WHERE answer = '{SECRET}'").fetchall()
    forget(two.lake, run)
    one.lake.mirror.pull()
    one.sync()
    for store in (one, two):
        store.sync(rebuild=True)
        assert n_results(store) == 1
        assert not traces(store, SECRET)
    for key in keys(remote):
        assert SECRET.encode() not in bytes(obstore.get(remote, key).bytes())


def test_of_two_merges_of_the_same_batches_one_counts(tmp_path, remote):
    one, two = (machine(tmp_path / name, remote) for name in ("one", "two"))
    for n in (1, 2):
        import_into(one, write(tmp_path, n))
    two.lake.mirror.pull()
    before = content(tmp_path / "one", remote)
    with two.lake.mirror.rewriting():
        # The lease of a machine that stopped for long counts no more.
        obstore.delete(remote, ["lease.json"])
        merge_small(one.lake)
        names = sorted(two.lake.batch_names())
        with two.lake.write("compact") as writer, pytest.raises(StoreBusy, match="nothing was"):
            writer.commit(replaces=names)
    two.lake.mirror.pull()
    assert content(tmp_path / "two", remote) == before == content(tmp_path / "one", remote)
    assert len(one.lake.batch_names()) == len(two.lake.batch_names()) == 1


def test_the_lease_keeps_others_from_merging(tmp_path, remote, monkeypatch):
    one, two = (machine(tmp_path / name, remote) for name in ("one", "two"))
    import_into(one, write(tmp_path, 1))
    with one.lake.rewriting(), pytest.raises(StoreBusy, match="another machine"):
        merge_small(two.lake)
    merge_small(two.lake)
    obstore.put(remote, "lease.json", b"{}")
    with pytest.raises(StoreBusy):
        merge_small(two.lake)
    monkeypatch.setattr("warehouse.lake.remote.mirror.datetime", later(minutes=11))
    merge_small(two.lake)


RESULTS, DESCRIPTION = "/results.parquet", ".json"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "content", "reason"),
    [
        (RESULTS, None, "is missing"),
        (RESULTS, b"PAR1 and something else", "is not what was uploaded"),
        (DESCRIPTION, b"[]", "cannot be read as a batch"),
        (DESCRIPTION, b'{"files": {"../x": {"sha256": "0"}}}', "cannot be read as a batch"),
    ],
)
def test_a_batch_that_cannot_be_fetched_is_left_out(tmp_path, remote, ending, content, reason):
    one = machine(tmp_path / "one", remote)
    for n in (1, 2):
        import_into(one, write(tmp_path, n))
    key = next(key for key in keys(remote) if key.endswith(ending))
    whole = bytes(obstore.get(remote, key).bytes())
    obstore.delete(remote, [key])
    if content is not None:
        obstore.put(remote, key, content)
    said = []
    two = machine(tmp_path / "two", remote, new=partial(new_store, on_warning=said.append))
    assert n_results(two) == 1
    [warning] = said
    assert warning.startswith(f"{ADDRESS}/{key}: {reason}")
    assert warning.endswith("; the batch was left out")
    assert verify(two).damaged == (warning,)
    assert two.sync().damaged == (warning,)
    [missing] = two.sql(all_loaded(two).query).fetchall()
    assert missing[0] in key
    assert n_results(one) == 2
    obstore.put(remote, key, whole)
    said.clear()
    two.sync()
    assert (n_results(two), said) == (2, [])


@pytest.mark.slow
def test_a_merged_batch_that_cannot_be_fetched_is_left_out(tmp_path, remote):
    one = machine(tmp_path / "one", remote)
    for n in (1, 2):
        import_into(one, write(tmp_path, n))
    merge_small(one.lake)
    import_into(one, write(tmp_path, 3))
    [merged] = [key for key in keys(remote) if key.startswith("merges/")]
    obstore.delete(remote, [merged])
    said = []
    two = machine(tmp_path / "two", remote, new=partial(new_store, on_warning=said.append))
    assert n_results(two) == 1
    assert said == [f"{ADDRESS}/{merged}: is missing; the batch was left out"]


@pytest.mark.slow
def test_a_description_that_is_gone_is_named_on_a_new_machine(tmp_path, remote, monkeypatch):
    one = machine(tmp_path / "one", remote)
    for n in (1, 2):
        import_into(one, write(tmp_path, n))
    key = next(key for key in keys(remote) if key.startswith("batches/"))
    obstore.delete(remote, [key])
    said = []
    two = machine(tmp_path / "two", remote, new=partial(new_store, on_warning=said.append))
    assert n_results(two) == 1
    assert said == []  # the files may still be on their way
    monkeypatch.setattr("warehouse.lake.remote.mirror._UPLOAD_AGE", timedelta(0))
    two.sync()
    [warning] = said
    assert warning.startswith(f"{ADDRESS}/{key}: is missing")


@pytest.mark.parametrize("content", [b"{", b'{"merges": ["../../x"]}', b'{"merges": 3}'])
def test_a_damaged_pointer_is_named(tmp_path, remote, content):
    obstore.put(remote, "merges.json", content)
    with pytest.raises(StoreDamaged, match=ADDRESS):
        machine(tmp_path / "one", remote).sync()


def test_files_without_a_description_are_removed_after_a_day(tmp_path, remote, monkeypatch):
    """A machine may be about to describe them; after a day it was killed."""
    store = machine(tmp_path / "one", remote)
    uploaded = "lake/01JQ0000000000000000000000/results.parquet"
    obstore.put(remote, uploaded, b"x")
    with store.lake.rewriting():
        assert uploaded in keys(remote)
    monkeypatch.setattr("warehouse.lake.remote.mirror.datetime", later(hours=25))
    with store.lake.rewriting():
        assert uploaded not in keys(remote)


def test_objects_of_others_are_left_alone(tmp_path, remote):
    for key in ("notes.txt", "batches/notes.json", "lake/notes.txt"):
        obstore.put(remote, key, b"x")
    store = machine(tmp_path / "one", remote)
    import_into(store, write(tmp_path, 1))
    merge_small(store.lake)
    assert {"notes.txt", "batches/notes.json", "lake/notes.txt"} <= set(keys(remote))


def test_a_batch_that_disappeared_is_named(tmp_path, remote):
    store = machine(tmp_path / "one", remote)
    import_into(store, write(tmp_path, 1))
    (name,) = store.lake.batch_names()
    obstore.delete(remote, [f"batches/{name}.json"])
    (warning,) = store.lake.mirror.pull()
    assert f"batch {name} is no longer in {ADDRESS}" in warning


def content(folder, remote):
    """Return the answers that a machine sees, without a warehouse."""
    lake = machine(folder, remote, new=Store).lake
    lake.mirror.pull()
    paths = lake.files(lake.current(), "results")
    with duckdb.connect() as connection:
        query = f"SELECT model, prompt, answer FROM {schemas.rows_sql(schemas.RESULTS)}"
        found = connection.execute(query, {"paths": paths}).fetchall()
    return sorted(found)


STEPS = {
    "import": lambda store, _, path: import_into(store, path),
    "compact": lambda store, *_: merge_small(store.lake),
    "forget": lambda store, run, _: forget(store.lake, run),
}


def attempt(step, folder, remote, n_good, *arguments):
    """Do a step as a process that is cut off after some requests; return whether it was."""
    store = machine(folder, remote, n_good, new=Store)
    try:
        store.recover_journals()
        STEPS[step](store, *arguments)
    except StoreUnreachable:
        return True
    return False


@pytest.mark.campaign
@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_is_cut_off_anywhere_is_completed_by_the_next(tmp_path, step):
    """The network fails before each request in turn; then the step is repeated."""
    first = machine(tmp_path / "first", MemoryStore(), new=Store)
    paths = [write(tmp_path, n) for n in range(1, 5)]
    import_into(first, *paths[:3])
    runs = sorted(g.run for batch in first.lake.current() for g in batch.generations)
    before = content(tmp_path / "first", first.lake.mirror._objects._store)
    n_good, was_cut_off = 0, True
    while was_cut_off:
        base, remote = tmp_path / f"{step}-{n_good}", MemoryStore()
        for path in paths[:3]:
            import_into(machine(base / "one", remote, new=Store), path)
        was_cut_off = attempt(step, base / "one", remote, n_good, runs[0], paths[3])
        if was_cut_off:
            # Another machine sees the lake as it was, or as it will be.
            seen = content(base / "two", remote)
            if "lease.json" in keys(remote):
                obstore.delete(remote, ["lease.json"])
            assert not attempt(step, base / "one", remote, None, runs[0], paths[3])
            assert seen in (before, content(base / "one", remote))
        left = content(base / "one", remote)
        assert left == content(base / "two", remote)
        assert len(left) == {"import": 4, "compact": 3, "forget": 2}[step]
        n_good += 1
    assert n_good > 4


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(3))
def test_any_history_of_machines_is_that_of_one_store(tmp_path, seed):
    """Machines import, merge, forget and fail at random; a plain store does the same without."""
    chance, remote, plain = random.Random(seed), MemoryStore(), new_store(tmp_path / "plain")
    folders = [tmp_path / f"machine-{n}" for n in range(3)]
    for n in range(1, 13):
        step = chance.choice(["import", "import", "import", "compact", "forget"])
        runs = sorted({g.run for batch in plain.lake.current() for g in batch.generations})
        arguments = (chance.choice(runs or [("palindrome", "none")]), write(tmp_path, n))
        STEPS[step](plain, *arguments)
        folder = chance.choice(folders)
        while attempt(step, folder, remote, chance.randint(5, 60), *arguments):
            if "lease.json" in keys(remote):
                obstore.delete(remote, ["lease.json"])
    wanted = digests(plain)
    assert [digests(machine(folder, remote)) for folder in folders] == [wanted] * 3


@pytest.mark.parametrize(
    "text",
    ["ftp://b/x", "s3://", "s3://key:secret@b/x", "s3://b/x?versionId=1", "s3:///x", "http://b"],
)
def test_what_is_not_an_address_is_refused(text, tmp_path, monkeypatch):
    monkeypatch.setenv("EVALSTORE_CACHE", str(tmp_path))
    with pytest.raises(BadInput) as error:
        store_folder(text)
    assert "secret" not in str(error.value)
    assert not list(tmp_path.iterdir())


def test_an_address_has_one_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALSTORE_CACHE", str(tmp_path))
    folders = {store_folder(text) for text in ("s3://b/x", "s3://b/x/", "s3://b//x//")}
    (folder,) = folders
    assert address_of(folder) == "s3://b/x"
    assert json.loads((folder / "remote.json").read_text())["url"] == "s3://b/x"
    assert store_folder("s3://b/y") != folder
    assert address_of(tmp_path) is None


def test_a_damaged_cache_says_so(tmp_path):
    (tmp_path / "remote.json").write_text("[]")
    with pytest.raises(StoreDamaged, match=r"remote\.json"):
        Store(tmp_path).sync()
