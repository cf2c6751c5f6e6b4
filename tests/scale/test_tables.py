"""Tables that many processes write have the rows of a warehouse that one process builds."""

import json
import os
import random
import shutil
import tempfile
import time
from types import SimpleNamespace

import duckdb
import pytest
from support import (
    REFERENCE,
    add_rows,
    command,
    import_into,
    log,
    needs_reference,
    new_store,
    task,
    write_log,
)
from table_content import assert_equal, content

import evalstore
from warehouse.app.store import Store
from warehouse.core.errors import BadInput, EvalstoreError, StoreBusy, StoreDamaged, StoreNewer
from warehouse.engine.scale import catalog, driver, snapshot
from warehouse.engine.scale.engine import FUNCTIONS
from warehouse.engine.scale.reference import rows_digest
from warehouse.engine.scale.verification import verify_tables
from warehouse.lake.compaction import merge_small
from warehouse.lake.forgetting import forget
from warehouse.lake.table_location import FolderLocation, ObjectLocation


class Here:
    """Runs tasks in this process; some of them twice, as an engine does when a worker is lost."""

    def __init__(self, *, repeats=False):
        self.repeats = repeats
        self.tasks = []

    def lake_text(self, lake):
        return str(lake.store_path)

    def run(self, function, tasks, place):  # noqa: ARG002 - as of every engine
        replies = []
        for each in tasks:
            self.tasks.append((function, each))
            for _ in range(1 + self.repeats):
                reply = FUNCTIONS[function](each)
            replies.append(reply)
        return replies


def sync(store, tables, n_shards=None, **options):
    engine = Here(**options)
    return driver.sync_tables(store, str(tables), engine, n_shards=n_shards), engine


def write(folder, n, numbers=(1, 2), **fields):
    day = f"2025-03-{n:02}"
    return write_log(
        folder / f"{day}-example-m{n}.yaml",
        log(numbers, date=day, model=f"models/example-m{n}-1.yaml", **fields),
    )


def run_of(n):
    return f"2025-03-{n:02}/models/example-m{n}-1.yaml"


def references(folder, choice):
    path = folder / "tasks" / "tasks.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        "tasks:\n"
        + "".join(f"- prompt: Tehtävä {n}\n  reference: vastaus {choice(n)}\n" for n in range(1, 6))
    )
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the folder of a store with runs, duplicate calls, a grown, a replaced log, votes."""
    tmp_path = tmp_path_factory.mktemp("made")
    store = new_store(tmp_path / "store")
    for n in range(1, 6):
        import_into(store, write(tmp_path, n))
    shared = [{**task(7), "timestamp": "2025-03-01T10:00:00Z"}]
    for n in (7, 8):
        model = {"date": "2025-03-01", "model": "models/example-same-1.yaml", "tasks": shared}
        import_into(
            store, write_log(tmp_path / f"{n}" / "2025-03-01-a.yaml", log(**model)), run_as=f"r{n}"
        )
    import_into(store, write(tmp_path, 2, (1, 2, 3)))
    import_into(store, write(tmp_path, 3, (4, 5)), replace=True)
    votes = {"suite": "arena", "run_id": "votes", "generation": "root"}
    add_rows(
        store.lake,
        runs=[{**votes, "content_id": "run"}],
        preferences=[
            {
                **votes,
                "content_id": rater,
                "seq": 1,
                "task_set": "core",
                "task_id": "t",
                "criterion": "overall",
                "status": "ok",
                "rater": rater,
                "rater_kind": kind,
                "model_a": "ant",
                "model_b": "bee",
                "outcome": "a",
            }
            for rater, kind in (("j", "judge"), ("ann", "human"))
        ],
    )
    store.sync()
    return store.path


@pytest.fixture
def store(made, tmp_path):
    shutil.copytree(made, tmp_path / "store")
    return new_store(tmp_path / "store")


@pytest.mark.campaign
@pytest.mark.parametrize("n_shards", [1, 7])
def test_tables_have_the_rows_of_one_warehouse(store, tmp_path, n_shards):
    report, _ = sync(store, tmp_path / "tables", n_shards)
    assert n_shards / 2 < report.n_shards <= n_shards
    assert_equal(store, tmp_path / "tables", has_views=n_shards > 1)


@pytest.mark.campaign
def test_only_what_is_new_or_changed_is_computed(store, tmp_path):
    tables = tmp_path / "tables"
    sync(store, tables, 4)
    again, engine = sync(store, tables)
    assert (again.is_new, again.number, engine.tasks) == (False, 1, [])

    import_into(store, write(tmp_path, 9))
    report, engine = sync(store, tables)
    assert (report.is_new, report.n_computed, report.n_repeated) == (True, 1, 0)
    ((_, only), *_) = engine.tasks
    assert [run_id for _, run_id in only["runs"]] == [run_of(9)]
    assert_equal(store, tables)

    # A run of an earlier shard grows; the others stay.
    import_into(store, write(tmp_path, 9, (1, 2, 3)))
    assert sync(store, tables)[0].n_computed == 1
    assert_equal(store, tables)

    merge_small(store.lake)
    assert sync(store, tables)[0].n_computed == 0
    assert_equal(store, tables)

    # References judge the answers of every run.
    import_into(store, references(tmp_path, lambda n: n))
    report, _ = sync(store, tables)
    assert report.n_computed == report.n_shards
    assert_equal(store, tables)

    forget(store.lake, ("palindrome", run_of(4)))
    report, _ = sync(store, tables)
    assert report.n_computed <= 1
    assert_equal(store, tables)
    assert [path.name[:9] for path in _snapshots(tables)] == ["000000006"]


@pytest.mark.campaign
def test_repeated_tasks_leave_no_double_rows(store, tmp_path):
    tables = tmp_path / "tables"
    sync(store, tables, 3, repeats=True)
    assert_equal(store, tables)
    assert _files(tables) > snapshot.latest(FolderLocation(tables)).objects()
    # Without repetitions nothing is left over, although shards with duplicate calls come twice.
    assert sync(store, tmp_path / "other", 3)[0].n_repeated
    assert (
        _files(tmp_path / "other") == snapshot.latest(FolderLocation(tmp_path / "other")).objects()
    )


@pytest.mark.campaign
def test_files_of_a_sync_that_may_be_going_on_are_kept(store, tmp_path):
    tables = tmp_path / "tables"
    sync(store, tables)
    before = _files(tables)
    new, old = (tables / "tables" / "results" / f"{name}.parquet" for name in ("new", "old"))
    two_days_ago = time.time() - 2 * 24 * 3600
    for path in (new, old, *tables.rglob("_delta_log/*")):
        path.write_bytes(path.read_bytes() if path.exists() else b"rows")
        if path != new:
            os.utime(path, (two_days_ago, two_days_ago))
    sync(store, tables)
    assert _files(tables) == before | {"tables/results/new.parquet"}
    assert_equal(store, tables)


def test_copies_go_when_no_version_names_them(tmp_path, monkeypatch):
    """Names are in the order of time: a copy newer than all that is named may be of a sync."""
    copies = tmp_path / "tables" / "results"
    copies.mkdir(parents=True)
    for name in "1234":
        (copies / f"{name}.parquet").touch()
    named = {"tables/results/1.parquet", "tables/runs/3.parquet"}
    monkeypatch.setattr(snapshot, "named_objects", lambda _place: named)
    place = ObjectLocation(SimpleNamespace(address="s3://bucket"), cache=tmp_path)
    snapshot.discard_copies(place)
    assert {path.stem for path in copies.iterdir()} == set("134")


@pytest.mark.parametrize("keys", [[], ["tables/snapshots/replaced.parquet"]])
def test_nothing_is_swept_without_the_newest_version(tmp_path, monkeypatch, keys):
    """Another sync may replace it at any time; which files count is not known then."""
    path = tmp_path / "tables" / "results" / "old.parquet"
    path.parent.mkdir(parents=True)
    path.touch()
    monkeypatch.setattr(snapshot, "_SWEPT_AFTER_SECONDS", -1.0)
    monkeypatch.setattr(snapshot, "snapshot_keys", lambda _log: keys)
    snapshot.sweep(FolderLocation(tmp_path))
    assert path.exists()


def test_without_a_cache_folder_catalogs_are_temporary(monkeypatch):
    monkeypatch.setattr(catalog, "cache_folder", lambda: None)
    assert catalog._folder().is_relative_to(tempfile.gettempdir())


@pytest.mark.campaign
def test_a_sync_that_ends_early_changes_nothing(store, tmp_path, monkeypatch):
    tables = tmp_path / "tables"
    sync(store, tables)
    before = content(evalstore.open(tables))
    import_into(store, write(tmp_path, 9))

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(driver, "publish", killed)
    with pytest.raises(KeyboardInterrupt):
        sync(store, tables)
    assert content(evalstore.open(tables)) == before
    monkeypatch.undo()
    # Of two that write the same snapshot, the second has changed nothing.
    publish, others = driver.publish, []

    def late(*arguments):
        others.append(sync(store, tables)[0])
        publish(*arguments)

    monkeypatch.setattr(driver, "publish", lambda *a: (monkeypatch.undo(), late(*a)))
    with pytest.raises(StoreBusy, match="another process wrote"):
        sync(store, tables)
    assert [one.number for one in others] == [2]
    assert_equal(store, tables)
    import_into(store, write(tmp_path, 8))
    sync(store, tables)
    assert_equal(store, tables)
    # What they left behind goes after a day.
    left = _files(tables) - snapshot.named_objects(FolderLocation(tables))
    monkeypatch.setattr(snapshot, "_SWEPT_AFTER_SECONDS", -1.0)
    snapshot.sweep(FolderLocation(tables))
    assert left
    assert not _files(tables) - snapshot.named_objects(FolderLocation(tables))
    assert snapshot.named_objects(FolderLocation(tables)) > _files(tables)
    assert_equal(store, tables)


def _files(tables):
    paths = set(tables.glob("tables/*/*.parquet")) - set(_snapshots(tables))
    return {path.relative_to(tables).as_posix() for path in paths}


def _snapshots(tables):
    return sorted(tables.glob("tables/snapshots/*.parquet"))


@pytest.mark.campaign
def test_tables_are_only_read(store, tmp_path):
    tables, out = tmp_path / "tables", tmp_path / "out.parquet"
    sync(store, tables)
    part = next((tables / "tables" / "results").glob("*.parquet"))
    before = part.read_bytes()
    for query in (
        f"COPY (SELECT 1) TO '{part}'",
        f"EXPLAIN ANALYZE COPY (SELECT 1) TO '{part}'",
        f"PREPARE x AS COPY (SELECT 1) TO '{part}'",
        f"ATTACH '{part}' AS x",
        f"SELECT 1; COPY (SELECT 1) TO '{part}'",
    ):
        found = command(tables, "sql", query)
        assert (found.code, "only read" in found.err) == (2, True), found.err
    assert command(tables, "sql", f"FROM read_csv('{__file__}')").code == 2
    assert part.read_bytes() == before
    for arguments in (["import", tmp_path], ["tag", "x", "y"], ["forget", "x"], ["compact"]):
        found = command(tables, *arguments)
        assert (found.code, "only read" in found.err) == (2, True)
    with pytest.raises(EvalstoreError, match="only read"):
        evalstore.open(tables).record(suite="mine", model="m")
    assert command(tables, "sync", "--to", tmp_path / "other").code == 2
    # Commands that read.
    shown = command(tables, "show", "leaderboard", "--format", "csv")
    assert shown.out == command(store.path, "show", "leaderboard", "--format", "csv").out
    assert command(tables, "check").out == command(store.path, "check").out
    assert command(tables, "info").code == 0
    assert command(tables, "sync", "--snapshot", tmp_path / "copy.duckdb").code == 0
    with duckdb.connect(str(tmp_path / "copy.duckdb"), read_only=True) as connection:
        n_results = connection.execute("SELECT count(*) FROM results").fetchall()
    assert n_results == store.sql("SELECT count(*) FROM results").fetchall()
    assert command(tables, "report", "--to", tmp_path / "site", "--run", run_of(5)).code == 0
    assert not out.exists()


@pytest.mark.slow
def test_tables_of_another_version_or_damaged_are_refused(store, tmp_path, monkeypatch):
    tables = tmp_path / "tables"
    sync(store, tables)
    monkeypatch.setattr("warehouse.engine.scale.catalog.digests", lambda: ("other", "other"))
    with pytest.raises(StoreNewer, match="another version"):
        evalstore.open(tables).sql("FROM runs").fetchall()
    monkeypatch.undo()
    (newest,) = _snapshots(tables)
    whole = newest.read_bytes()
    newest.write_bytes(whole[:-9])
    with pytest.raises(StoreDamaged, match="000000001"):
        evalstore.open(tables).sql("FROM runs").fetchall()
    newest.write_bytes(whole)
    shutil.rmtree(tables / "tables" / "results")
    monkeypatch.setenv("EVALSTORE_CACHE", str(tmp_path / "cache"))
    with pytest.raises(StoreDamaged, match="is missing"):
        evalstore.open(tables).sql("FROM runs").fetchall()


def _verified(tables):
    found = command(tables, "info", "--verify", "--format", "json")
    return found, json.loads(found.out)


@pytest.mark.campaign
def test_info_describes_tables(store, tmp_path):
    tables = tmp_path / "tables"
    sync(store, tables, 3)
    import_into(store, write(tmp_path, 9))
    report, _ = sync(store, tables)
    facts = json.loads(command(tables, "info", "--format", "json").out)
    files = [tables / key for key in snapshot.latest(FolderLocation(tables)).objects()]
    assert (facts["store"], facts["version"]) == (str(tables), 2)
    assert (facts["n_shards"], facts["n_table_files"]) == (report.n_shards, len(files))
    assert facts["tables_bytes"] == sum(path.stat().st_size for path in files)
    assert facts["catalog_bytes"] > 0
    ours = json.loads(command(store.path, "info", "--format", "json").out)
    same = ("batches", "files", "runs", "results", "quarantined", "violations", "suites")
    assert {name: facts[name] for name in same} == {name: ours[name] for name in same}
    assert not facts.keys() & {"lake_bytes", "warehouse_bytes", "journals"}
    shown = command(tables, "info").lines
    assert shown["table"].split() == ["files", str(len(files))]
    assert "lake" not in shown


@pytest.mark.slow
def test_every_file_of_tables_is_verified(store, tmp_path):
    tables = tmp_path / "tables"
    sync(store, tables, 3)
    # The version before is still there, for readers; its files are known.
    import_into(store, write(tmp_path, 9))
    sync(store, tables)
    ended, found = _verified(tables)
    keys = sorted(snapshot.latest(FolderLocation(tables)).objects())
    assert (ended.code, found["n_undamaged"], found["unknown"]) == (0, len(keys), [])
    for key in keys:
        path = tables / key
        whole = path.read_bytes()
        path.write_bytes(whole[:-5] + bytes([whole[-5] ^ 1]) + whole[-4:])
        (difference,) = verify_tables(FolderLocation(tables)).damaged
        assert difference.startswith(f"{path}: SHA-256")
        path.write_bytes(whole)
    assert _verified(tables)[0].code == 0


@pytest.mark.campaign
def test_damaged_tables_are_named_and_can_be_written_again(store, tmp_path):
    tables = tmp_path / "tables"
    sync(store, tables, 3)
    *rest, other = sorted(snapshot.latest(FolderLocation(tables)).objects())
    short, gone = rest[0], next(key for key in rest if "/task_facts/" in key or "/runs/" in key)
    (tables / short).write_bytes((tables / short).read_bytes()[:-1])
    (tables / gone).unlink()
    (tables / other).unlink()
    (tables / other).mkdir()
    left = tables / "tables" / "runs" / "left.parquet"
    left.write_bytes(b"x")
    ended, found = _verified(tables)
    assert ended.code == 1
    assert [text.partition(": ")[0] for text in found["damaged"]] == [
        str(tables / short), str(tables / other),
    ]  # fmt: skip
    assert "when written" in found["damaged"][0]
    assert found["missing"] == [str(tables / gone)]
    assert found["unknown"] == ["tables/runs/left.parquet"]
    assert f"--to {tables} --shards" in ended.err
    assert "unknown files" in ended.err
    # What the message says helps, also where files of no run and duplicate calls are gone.
    (tables / other).rmdir()
    for key in snapshot.latest(FolderLocation(tables)).objects():
        (tables / key).unlink(missing_ok=True)
    left.unlink()
    sync(store, tables, 3)
    ended, found = _verified(tables)
    assert (ended.code, found["version"], found["unknown"]) == (0, 2, [])
    assert_equal(store, tables)


@pytest.mark.slow
def test_a_first_sync_that_ends_early_can_be_repeated(store, tmp_path, monkeypatch):
    tables = tmp_path / "tables"

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(driver, "publish", killed)
    with pytest.raises(KeyboardInterrupt):
        sync(store, tables)
    assert _files(tables)
    shown = command(tables, "show", "leaderboard")
    assert (shown.code, "no version of tables" in shown.err) == (2, True)
    monkeypatch.undo()
    sync(store, tables)
    assert_equal(store, tables)


@pytest.mark.slow
def test_a_damaged_lake_is_not_written(store, tmp_path):
    path = next(store.lake.path.glob("*/results.parquet"))
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(StoreDamaged, match="SHA-256"):
        sync(store, tmp_path / "tables")
    assert snapshot.latest(FolderLocation(tmp_path / "tables")) is None


def test_places_that_hold_anything_else_are_refused(tmp_path):
    store = new_store(tmp_path / "store")
    (tmp_path / "file").write_text("x")
    for to in (store.path, store.path / "tables", tmp_path, tmp_path / "file"):
        with pytest.raises(BadInput, match="--to"):
            sync(store, to)
    for wrong in (["--shards", 2], ["--to", tmp_path / "t", "--rebuild"]):
        assert command(store.path, "sync", *wrong).code == 2


@pytest.mark.slow
def test_processes_of_this_machine_write_tables(store, tmp_path):
    written = command(store.path, "sync", "--to", tmp_path / "tables", "--shards", 2)
    assert written.code == 0, written.err
    assert "computed 2 of 2 shards, 1 of them twice" in written.err
    assert_equal(store, tmp_path / "tables")
    again = command(store.path, "sync", "--to", tmp_path / "tables")
    assert "up to date" in again.err


@pytest.mark.campaign
def test_random_changes(tmp_path):
    """Logs come, grow, are replaced, judged, merged and forgotten; the tables follow."""
    rng = random.Random(5)
    store, tables = new_store(tmp_path / "store"), tmp_path / "tables"
    for step in range(9):
        n = rng.randrange(1, 8)
        match rng.randrange(6):
            case 0 | 1 | 2:
                numbers = sorted(rng.sample(range(1, 6), rng.randrange(1, 5)))
                import_into(store, write(tmp_path, n, numbers), replace=True)
            case 3:
                import_into(store, references(tmp_path, lambda n, step=step: n + step % 2))
            case 4:
                merge_small(store.lake)
            case 5 if (key := ("palindrome", run_of(n))) in _runs(store):
                forget(store.lake, key)
        sync(store, tables, rng.choice([None, None, None, 3]))
        if step % 3 == 2:
            assert_equal(store, tables)


def _runs(store):
    return store.sql("SELECT suite, run_id FROM runs").fetchall()


@pytest.mark.campaign
@needs_reference
def test_all_reference_data(tmp_path):
    store = Store(tmp_path / "store", wait_seconds=0)
    import_into(store, REFERENCE, redact=True)
    for n_shards in (1, 2, 7):
        report, _ = sync(store, tmp_path / "tables", n_shards)
        assert n_shards / 2 < report.n_shards <= n_shards
        assert_equal(store, tmp_path / "tables", has_views=n_shards == 7)


def test_equal_rows_count_in_a_digest():
    """Two equal rows are not two equal other rows."""
    with duckdb.connect() as connection:
        ones, twos = "SELECT 1 FROM range(2)", "SELECT 2 FROM range(2)"
        assert rows_digest(connection, ones) != rows_digest(connection, twos)
        assert rows_digest(connection, "SELECT 1 LIMIT 0") != rows_digest(connection, ones)
