"""Merges at the side of other commands: few folders, bounded work, and the same content."""

import gc
import shutil

import pytest
from support import command, digests, import_into, log, new_store, task, write_log

from tests.campaigns.killing import kill_at_each_operation
from warehouse.core.errors import StoreDamaged
from warehouse.lake import compaction
from warehouse.lake.compaction import SMALL_BYTES, full_tier, merge_small
from warehouse.lake.locks import shared_lake_lock


@pytest.fixture(autouse=True)
def _fan(monkeypatch):
    """Merge three batches into one, and at most twelve in all."""
    monkeypatch.setattr(compaction, "FAN", 3)
    monkeypatch.setattr(compaction, "_MOST_FOLDERS", 3)
    monkeypatch.setattr(compaction, "_MOST_PARTS", 12)


def add(store, folder, number):
    """Import a log of its own run, with one result."""
    model = f"models/m{number}.yaml"
    import_into(store, write_log(folder / f"{number}.yaml", tasks=[task(number)], model=model))


def content(store):
    return digests(store, schemas=("main", "checks", "scores"), provenance=())


@pytest.fixture(scope="module")
def _five(tmp_path_factory):
    folder = tmp_path_factory.mktemp("five")
    store = new_store(folder / "store")
    for number in range(5):
        add(store, folder, number)
    store._sync()
    return store


@pytest.fixture
def five(_five, tmp_path):
    """Return a store of five batches, none of them merged."""
    shutil.copytree(_five.path, tmp_path / "five")
    return new_store(tmp_path / "five")


def parts(store):
    return sorted(len(folder.contents) for folder in store.lake.folders())


def grown(n, n_bytes):
    """Return what becomes of batches of a size that come one by one, a merge after each.

    Returns:
        The largest number of small folders, the number of full ones, and of batches rewritten.
    """
    small, n_small, n_full, n_rewritten = {}, 0, 0, 0
    for number in range(n):
        small[f"{number:06}"] = (1, n_bytes)
        group = full_tier(small)
        if group:
            merged = [small.pop(name) for name in group]
            n_parts, size = (sum(column) for column in zip(*merged, strict=True))
            n_rewritten += n_parts
            if size < SMALL_BYTES and 2 * n_parts <= compaction._MOST_PARTS:
                small[f"{group[-1]}+"] = (n_parts, size)
            else:
                n_full += 1
        n_small = max(n_small, len(small))
    return n_small, n_full, n_rewritten


@pytest.mark.campaign
def test_a_store_that_grows_stays_in_few_folders(store, tmp_path):
    plain = new_store(tmp_path / "plain")
    n_rewritten = 0
    for number in range(30):
        add(store, tmp_path, number)
        before = store.lake.batch_names()
        store.sync()
        after = store.lake.batch_names()
        new = [store.lake.read(name) for name in after - before]
        assert len(new) <= 1
        n_rewritten += sum(len(folder.contents) for folder in new)
        assert max(parts(store)) <= 12
        assert len(after) <= 9
    # Each of 30 batches at most once per tier: 1 to 3, 3 to 9 or 12.
    assert n_rewritten <= 2 * 30
    names = [batch.name for batch in store.lake.current()]
    assert len(set(names)) == len(names) == 30
    for folder in sorted(tmp_path.glob("[0-9]*.yaml"), key=lambda path: int(path.stem)):
        import_into(plain, folder)
    assert digests(store) == digests(plain)
    before = content(store)
    assert store.sync(rebuild=True).damaged == ()
    assert content(store) == before


@pytest.mark.campaign
def test_a_merge_changes_nothing_but_the_files(five):
    before = content(five)
    assert five.merge_small_batches()
    assert parts(five) == [1, 1, 3]
    assert content(five) == before
    assert not five.merge_small_batches()


def test_a_reader_merges_nothing(five):
    names = five.lake.batch_names()
    assert five.sql("SELECT count(*) FROM results").fetchall() == [(5,)]
    assert five.lake.batch_names() == names


def test_an_import_merges_after_its_batch(five, tmp_path):
    path = write_log(tmp_path / "9.yaml", log([9], date="2026-09-09"))
    assert command(five.path, "import", path).code == 0
    assert parts(five) == [1, 1, 1, 3]


def test_nothing_waits_for_a_merge(five):
    with shared_lake_lock(five.path):
        assert not five.merge_small_batches()
    assert parts(five) == [1] * 5


def test_what_another_process_merged_is_not_merged_again(five):
    """The warehouse does not know yet, and a killed process has left the replaced batches."""
    old = shutil.copytree(five.lake.path, five.path / "old")
    merge_small(five.lake)
    shutil.copytree(old, five.lake.path, dirs_exist_ok=True)
    assert not five.merge_small_batches()
    assert parts(five) == [5]


@pytest.mark.campaign
def test_imports_merge_where_nothing_reads_the_store(store, tmp_path):
    store.warehouse.unlink()
    plain = new_store(tmp_path / "plain")
    for number in range(7):
        add(store, tmp_path, number)
        store.merge_small_batches()
    assert parts(store) == [1, 3, 3]
    assert not store.warehouse.exists()
    for number in range(7):
        import_into(plain, tmp_path / f"{number}.yaml")
    assert digests(store) == digests(plain)


@pytest.mark.campaign
def test_what_is_loaded_merges_with_what_is_not(five, tmp_path):
    """Four of the five and two new ones come together; sync only loads the two."""
    assert five.merge_small_batches()
    for number in (5, 6):
        add(five, tmp_path, number)
    assert five.merge_small_batches()
    assert parts(five) == [1, 3, 3]
    report = five._sync()
    assert len(report.loaded) == 2
    assert not report.rebuilt
    before = content(five)
    five._sync(rebuild=True)
    assert content(five) == before


def test_a_store_of_many_small_batches_catches_up(five, monkeypatch):
    """More than usual are merged at once, but not without limit."""
    monkeypatch.setattr(compaction, "_MOST_FOLDERS", 4)
    assert five.merge_small_batches()
    assert parts(five) == [1, 4]
    assert not five.merge_small_batches()


def test_a_batch_that_sync_would_leave_out_does_not_keep_others_from_a_merge(store, tmp_path):
    for number in range(3):
        add(store, tmp_path, number)
    name = sorted(store.lake.batch_names())[1]
    file = store.lake.path / name / "results.parquet"
    file.write_bytes(file.read_bytes()[:-4] + b"PAR2")
    assert store.merge_small_batches()
    assert parts(store) == [1, 2]
    assert name in store.lake.batch_names()
    assert not store.merge_small_batches()


def test_batches_that_come_one_by_one_stay_in_few_folders(monkeypatch):
    """What is chosen for merges, with the limits of real stores, for runs of three sizes."""
    monkeypatch.undo()
    for n_bytes, n_together in ((3_000, 4_096), (300_000, 32), (5_000_000, 6)):
        n = 5_000 if n_bytes < 1_000_000 else 500
        n_small, n_full, n_rewritten = grown(n, n_bytes)
        assert n_small <= 3 * 32
        assert n_full <= n / n_together
        assert n_rewritten <= 3 * n


def test_garbage_is_collected_after_a_description_that_cannot_be_read(five):
    name = min(five.lake.batch_names())
    (five.lake.path / name / "batch.json").write_text("{")
    with pytest.raises(StoreDamaged):
        five.lake.current()
    assert gc.isenabled()


def test_a_damaged_batch_is_not_merged(five):
    path = next(five.lake.path / name for name in sorted(five.lake.batch_names()))
    file = path / "results.parquet"
    file.write_bytes(file.read_bytes()[:-4] + b"PAR2")
    assert not five.merge_small_batches()
    assert parts(five) == [1] * 5


@pytest.mark.campaign
def test_a_sync_killed_at_each_operation_of_its_merge(five):
    before = content(five)
    names = {batch.name for batch in five.lake.current()}
    kills = 0
    for _ in kill_at_each_operation(five.sync):
        kills += 1
        assert [b.name for b in five.lake.current()] == sorted(names)
    assert kills > 20
    assert parts(five) == [1, 1, 3]
    assert content(five) == before
    five.sync(rebuild=True)
    assert content(five) == before
    assert list(five.lake.staging.iterdir()) == []
