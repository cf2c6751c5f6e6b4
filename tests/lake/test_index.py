"""The index of a batch: it answers what the descriptions of all batches would, and reads few."""

import random
from dataclasses import replace

import pytest
from support import import_into, log, write_log

from tests.campaigns.killing import kill_at_each_operation
from warehouse.core.errors import StoreNewer
from warehouse.core.schemas import LAKE_FORMAT, RUNS
from warehouse.lake import compaction
from warehouse.lake.batch import Generation, Source, batch_to_json, current_generations
from warehouse.lake.compaction import merge_small
from warehouse.lake.forgetting import find_run, forget
from warehouse.lake.index import entries, file
from warehouse.lake.index.file import NAME, open_index
from warehouse.lake.lake import Lake

SUITES, RUN_IDS, HASHES, NAMES = ("s", "t"), ("a", "b", "c"), "0123456789", ("x.yaml", "y.yaml")
RUN_KEYS = [(suite, run_id) for suite in SUITES for run_id in RUN_IDS]


@pytest.fixture(autouse=True)
def _every_batch_has_an_index(monkeypatch):
    monkeypatch.setattr(file, "LEAST_BYTES", 0)


@pytest.fixture
def lake(tmp_path):
    return Lake(tmp_path / "store")


# --- answers, as plain values


def from_descriptions(lake):
    """Answer everything from the descriptions of all batches."""
    batches = lake.current()
    generations = current_generations(g for batch in batches for g in batch.generations)
    sources = {(s.sha256, s.name, s.run_as): s for batch in batches for s in batch.sources}
    restored = {sha256 for batch in batches for sha256 in batch.restored}
    forgotten = {s for batch in batches for each in batch.forgotten for s in each.files} - restored
    return {
        "sources": sources,
        "generations": generations,
        "forgotten": forgotten,
        "suites": {run_id: {g[0] for g in generations if g[1] == run_id} for run_id in RUN_IDS},
        "folders": [(each.name, set(each.files)) for each in lake.folders()],
        "held": [held(batches, {run}) for run in RUN_KEYS] + [held(batches, set(RUN_KEYS))],
    }


def held(batches, runs):
    found = [(*plain(batch), [g for g in batch.generations if g.run in runs]) for batch in batches]
    return [sorted_generations(each) for each in found if each[-1]]


def plain(batch):
    return batch.name, batch.folder, batch.command, set(batch.files)


def sorted_generations(values):
    *others, generations = values
    return *others, sorted(map(repr, generations))


def from_register(register):
    """Answer the same by look-ups."""
    keys = [(s, name, run_as) for s in HASHES for name in NAMES for run_as in (None, *RUN_IDS)]
    sources = {key: register.source(*key) for key in keys}
    generations = {run: register.generation(run) for run in RUN_KEYS}
    asked = [[run] for run in RUN_KEYS] + [RUN_KEYS]
    return {
        "sources": {key: source for key, source in sources.items() if source is not None},
        "generations": {run: g for run, g in generations.items() if g is not None},
        "forgotten": set(filter(register.is_forgotten, HASHES)),
        "suites": {run_id: register.suites(run_id) for run_id in RUN_IDS},
        "folders": [(each.name, set(each.files)) for each in register.folders()],
        "held": [
            [sorted_generations((*plain(b), b.generations)) for b in register.holding(runs)]
            for runs in asked
        ],
    }


# --- random histories


def random_generation(choose):
    suite, run_id = choose.choice(RUN_KEYS)
    if choose.random() < 0.7:
        return Generation(suite, run_id)
    return Generation(suite, run_id, choose.choice("gh"), choose.choice(["root", "g"]))


def add(lake, choose):
    generations = tuple({random_generation(choose) for _ in range(choose.randint(0, 3))})
    sources = [
        Source(
            choose.choice(HASHES),
            choose.choice(NAMES),
            choose.choice([None, *RUN_IDS]),
            choose.random() < 0.5,
            generations[: choose.randint(0, 3)],
        )
        for _ in range(choose.randint(0, 3))
    ]
    with lake.write(choose.choice(["import", "run"])) as writer:
        rows = [
            {"content_id": "0", "suite": g.suite, "run_id": g.run_id, "generation": g.generation}
            for g in generations
        ]
        writer.add(RUNS, rows)
        restored = [s.sha256 for s in sources if choose.random() < 0.2]
        writer.commit(generations=generations, sources=sources, restored=restored)


def merge(lake, choose):
    """Merge some batches; a killed process leaves those that were replaced."""
    folders = lake.folders()
    first = choose.randrange(len(folders)) if folders else 0
    group = folders[first : first + choose.randint(2, 5)]
    if len(group) > 1:
        compaction._merge(lake, group)
        if choose.random() < 0.5:
            with lake.rewriting():
                lake.remove_replaced()


def forget_one(lake, choose):
    runs = sorted({g.run for batch in lake.current() for g in batch.generations})
    if runs:
        run = choose.choice(runs)
        assert find_run(lake, run[1], run[0]) == run
        forget(lake, run)


def damage(lake, choose):
    """Remove, cut or change the index of a batch, or put that of another one in its place."""
    paths = sorted(lake.path.glob(f"*/{NAME}"))
    if not paths:
        return
    path = choose.choice(paths)
    data = bytearray(path.read_bytes())
    match choose.randrange(4):
        case 0:
            path.unlink()
        case 1:
            path.write_bytes(data[: choose.randrange(len(data))])
        case 2:
            data[choose.randrange(len(data))] ^= 1 << choose.randrange(8)
            path.write_bytes(data)
        case _:
            path.write_bytes(choose.choice(paths).read_bytes())


@pytest.mark.parametrize("key_bytes", [8, 1], ids=["", "few keys"])
@pytest.mark.parametrize("seed", range(6))
def test_it_answers_what_the_descriptions_say(lake, tmp_path, monkeypatch, seed, key_bytes):
    monkeypatch.setattr(entries, "_KEY_BYTES", key_bytes)
    choose = random.Random(seed)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    deeds = [add] * 6 + [merge] * 3 + [forget_one] + [damage] * 4
    for _ in range(14):
        # Shorter descriptions have none.
        monkeypatch.setattr(file, "LEAST_BYTES", choose.choice([0, 0, 1_500]))
        choose.choice(deeds)(lake, choose)
        expected = from_descriptions(lake)
        assert from_register(lake.register()) == expected
        assert from_register(lake.register(scratch)) == expected
        assert list(scratch.iterdir()) == []


def test_any_changed_byte_of_an_index_is_noticed(lake):
    choose = random.Random(1)
    for _ in range(6):
        add(lake, choose)
    merge_small(lake)
    [path] = lake.path.glob(f"*/{NAME}")
    expected, data = from_descriptions(lake), path.read_bytes()
    for place in range(0, len(data), 41):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x11]) + data[place + 1 :])
        assert from_register(lake.register()) == expected
    path.write_bytes(data[:-1])
    assert from_register(lake.register()) == expected


# --- an index that cannot be used


def test_an_index_of_another_description_is_not_used(lake):
    add(lake, random.Random(2))
    [folder] = lake.folders()
    path = lake.path / folder.name
    assert open_index(path) is not None
    other = replace(folder, sources=(Source("9", "x.yaml", None, is_clean=True, generations=()),))
    (path / "batch.json").write_bytes(batch_to_json(other))
    assert open_index(path) is None
    assert lake.register().source("9", "x.yaml", None) == other.sources[0]


def test_a_folder_in_place_of_an_index_is_left_there(lake, tmp_path):
    add(lake, random.Random(2))
    [folder] = lake.folders()
    path = lake.path / folder.name / NAME
    path.unlink()
    path.mkdir()
    assert from_register(lake.register(tmp_path)) == from_descriptions(lake)
    assert path.is_dir()


def test_a_batch_of_a_newer_version_is_refused(lake):
    add(lake, random.Random(2))
    [folder] = lake.folders()
    newer = replace(folder, schema_version=LAKE_FORMAT + 1)
    description = batch_to_json(newer)
    path = lake.path / folder.name
    (path / "batch.json").write_bytes(description)
    assert file.write_index(path / NAME, newer, len(description))
    with pytest.raises(StoreNewer):
        lake.register()


# --- what imports read


def merged(store, folder, n):
    """Fill a store with logs, all of them merged; none of them is small."""
    for number in range(n):
        path = folder / f"{number}.yaml"
        import_into(store, write_log(path, log([number + 1], date=f"2026-05-{number + 1:02}")))
    merge_small(store.lake)


class Reads:
    """Counts the descriptions that are read."""

    def __init__(self, monkeypatch):
        self.names = []
        read = Lake.read
        monkeypatch.setattr(Lake, "read", lambda *args: self.names.append(args[1]) or read(*args))


@pytest.mark.parametrize("n", [3, 12])
def test_an_import_reads_no_description_of_merged_batches(store, tmp_path, monkeypatch, n):
    merged(store, tmp_path, n)
    [folder] = store.lake.folders()
    assert len(folder.contents) == n
    reads = Reads(monkeypatch)
    # A log of a new run, one that is there, and one whose run has new tasks.
    new = write_log(tmp_path / "new.yaml", log([99], date="2026-06-01"))
    more = write_log(tmp_path / "more.yaml", log([1, 98], date="2026-05-01"))
    summary = import_into(store, new, tmp_path / "1.yaml", more)
    assert reads.names == []
    assert len(store.lake.batch_names()) == 2
    assert sum(summary.outcomes.values()) == 3
    assert summary.outcomes["unchanged"] == 1


def test_an_import_writes_the_index_that_a_store_of_an_earlier_version_lacks(
    store, tmp_path, monkeypatch
):
    merged(store, tmp_path, 3)
    [path] = store.lake.path.glob(f"*/{NAME}")
    written = path.read_bytes()
    path.unlink()
    reads = Reads(monkeypatch)
    import_into(store, tmp_path / "0.yaml")
    assert len(reads.names) == 1
    assert path.read_bytes() == written
    import_into(store, tmp_path / "1.yaml")
    assert len(reads.names) == 1
    assert list(store.lake.staging.iterdir()) == []


def test_a_forgotten_run_is_not_in_an_index(store, tmp_path):
    merged(store, tmp_path, 3)
    run = min(g.run for batch in store.lake.current() for g in batch.generations)
    forget(store.lake, run)
    [path] = store.lake.path.glob(f"*/{NAME}")
    assert run[1].encode() not in path.read_bytes()
    assert import_into(store, tmp_path / "0.yaml").outcomes["forgotten"] == 1
    assert import_into(store, tmp_path / "0.yaml", restore=True).outcomes["imported"] == 1
    assert lookups_agree(store.lake)


@pytest.mark.campaign
def test_a_compaction_killed_at_each_operation(store, tmp_path):
    for number in range(4):
        path = tmp_path / f"{number}.yaml"
        import_into(store, write_log(path, log([number + 1], date=f"2026-05-{number + 1:02}")))
    kills = 0
    for _ in kill_at_each_operation(lambda: merge_small(store.lake)):
        kills += 1
        assert lookups_agree(store.lake)
    assert kills > 5
    assert len(list(store.lake.path.glob(f"*/{NAME}"))) == 1


def lookups_agree(lake):
    """Return whether all sources and runs of a lake are found with and without its indices."""
    batches, register = lake.current(), lake.register()
    sources = {(s.sha256, s.name, s.run_as): s for batch in batches for s in batch.sources}
    generations = current_generations(g for batch in batches for g in batch.generations)
    return (
        all(register.source(*key) == source for key, source in sources.items())
        and all(register.generation(run) == g for run, g in generations.items())
        and [plain(each)[0] for each in register.holding(generations)]
        == [batch.name for batch in batches if batch.generations]
    )
