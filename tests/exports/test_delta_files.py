"""Which files a publication writes: as many bytes as have changed, and few files."""

import random
from itertools import count

from exports.delta.changes import _FILE_BYTES, Source, plan_changes
from exports.delta.state import PublishedFile, Unit

# Without texts: a run of 10,000 rows has a megabyte, and a file 33 of them.
RUN_BYTES = 1_000_000
NAMES = count()


def run(n, *, version=0, suite="questions", n_rows=10_000):
    return Unit((suite, f"run-{n:04}"), n_rows, f"{n} {version}")


def publish(units, published=None):
    """Return all files after a publication, and the bytes of the new ones."""
    units = {unit.key: unit for unit in units}
    source = Source("relation", [], is_temporary=False)
    changes = plan_changes(None, source, units, published or {})
    files = dict(changes.kept)
    for group in changes.written:
        path = f"{next(NAMES)}.parquet"
        files[path] = PublishedFile(path, sum(unit.n_rows for unit in group), 0, "", tuple(group))
    for file in files.values():
        assert len({unit.key[0] for unit in file.units}) == 1
    assert [*units.values()] == sorted(
        (unit for file in files.values() for unit in file.units), key=lambda unit: unit.key
    )
    return files, changes.n_bytes


def test_one_new_run_writes_only_itself():
    runs = [run(n) for n in range(205)]
    files, everything = publish(runs[:-1])
    after, n_bytes = publish(runs, files)
    assert (everything, n_bytes) == (204 * RUN_BYTES, RUN_BYTES)
    assert files.items() <= after.items()


def test_twelve_changed_runs_write_less_than_a_third():
    """Ten are replaced, one is forgotten and one is new."""
    runs = [run(n) for n in range(205)]
    files, everything = publish(runs)
    replaced = [run(n, version=1) for n in range(10)]
    _, n_bytes = publish([*replaced, run(10), *runs[12:], run(999)], files)
    assert n_bytes < everything / 4


def test_single_runs_are_written_again_as_often_as_their_file_doubles():
    runs, files, written, most_files = [], {}, 0, 0
    for n in range(300):
        runs.append(run(n))
        files, n_bytes = publish(runs, files)
        written += n_bytes
        assert n_bytes <= _FILE_BYTES
        most_files = max(most_files, len(files) - n * RUN_BYTES // (_FILE_BYTES // 2))
        assert n != 59 or len(files) <= 8
    assert written < 6 * 300 * RUN_BYTES
    assert most_files <= 5


def test_random_histories_keep_files_without_changes():
    """New, replaced and forgotten runs of three suites; only small files are merged with them."""
    chance = random.Random(34)
    runs, files = {}, {}
    for _ in range(400):
        before, changed = files, set()
        for _ in range(chance.randint(1, 4)):
            key = (chance.randrange(100), chance.choice("abc"))
            runs.pop(key, None)
            changed.add((key[1], run(key[0]).key[1]))
            if chance.random() < 0.7:
                size = chance.choice([1, 300, 20_000])
                runs[key] = run(key[0], version=chance.random(), suite=key[1], n_rows=size)
        files, _ = publish(sorted(runs.values(), key=lambda unit: unit.key), files)
        suites = {suite for suite, _ in changed}
        for path in before.keys() - files.keys():
            keys = {unit.key for unit in before[path].units}
            assert keys & changed or before[path].n_unpacked <= _FILE_BYTES // 2
            assert {suite for suite, _ in keys} <= suites
        assert len(files) <= 3 * 8
