"""Faults: killed, corrupted, locked, newer. Nothing is lost, and the reason is said."""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest
from support import EXAMPLES, bring_in, command, digests, log, new_store, shell, write_log

from warehouse.errors import BadInput, StoreBusy, StoreNewer
from warehouse.journal.journal import Entry, Journal
from warehouse.lake.batch import Generation
from warehouse.store import EvalstoreWarning, Store
from warehouse.sync import sync_lock


@pytest.fixture
def impatient(monkeypatch):
    """Commands of this process wait for no lock."""
    monkeypatch.setitem(Store.__init__.__kwdefaults__, "wait_seconds", 0)


@pytest.fixture(scope="module")
def _two(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    store = new_store(folder / "store")
    for n in (1, 2):
        bring_in(store, write_log(folder / f"{n}.yaml", log([n], date=f"2026-04-0{n}")))
        store.sync()
    return store


@pytest.fixture
def two(_two, tmp_path):
    """A synced store of two batches."""
    shutil.copytree(_two.path, tmp_path / "store")
    return new_store(tmp_path / "store")


def batches_of(store):
    return [store.lake.path / name for name in sorted(store.lake.batch_names())]


def load_again(store):
    """Put an empty warehouse in place of the store's, so that the next sync loads every batch."""
    store.warehouse.unlink()
    new_store(store.path)


# --- interrupted; `test_kills.py` has the rest


def test_interrupted_by_the_user(store, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("ingest.formats.palindrome.yaml_files.parsed", interrupt)
    ended = command(store.path, "import", write_log(tmp_path / "a.yaml"))
    assert (ended.code, "Traceback" in ended.err) == (1, False)
    assert "Aborted" in ended.err
    assert store.lake.batch_names() == set()
    assert list(store.lake.staging.iterdir()) == []


# --- corrupted


@pytest.mark.parametrize(
    ("damage", "options"),
    [("flipped", ["--rebuild"]), ("flipped", []), ("cut", []), ("gone", []), ("empty", [])],
)
def test_a_corrupt_file_is_named_and_left_out_whole(two, damage, options):
    first, _ = batches_of(two)
    path = first / "results.parquet"
    data = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        middle = len(data) // 2
        flipped = data[:middle] + bytes([data[middle] ^ 255]) + data[middle + 1 :]
        path.write_bytes({"flipped": flipped, "cut": data[:middle], "empty": b""}[damage])
    load_again(two)
    ended = command(two.path, "sync", *options)
    assert ended.code == 1
    assert str(path) in ended.err
    assert "Traceback" not in ended.err
    # Never half: neither its results nor its run or its file are there.
    with pytest.warns(EvalstoreWarning, match="results.parquet"):
        assert two.sql("SELECT run_date, n_results FROM runs").fetchall() == [("2026-04-02", 1)]
    with pytest.warns(EvalstoreWarning):
        assert two.sql("SELECT count(*) FROM files").fetchall() == [(1,)]
    path.write_bytes(data)  # brought back from a backup
    assert two.sql("SELECT count(*) FROM runs").fetchall() == [(2,)]


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"files": 5}', None])
def test_a_corrupt_batch_json_is_named_and_its_batch_left_out(two, damage):
    first, _ = batches_of(two)
    path = first / "batch.json"
    data = path.read_bytes()
    path.unlink() if damage is None else path.write_bytes(damage)
    load_again(two)
    ended = command(two.path, "runs", "--format", "csv")
    assert (ended.code, len(ended.out.splitlines())) == (0, 2)
    assert f"warning: {path}" in ended.err
    path.write_bytes(data)
    assert two.sql("SELECT count(*) FROM runs").fetchall() == [(2,)]


@pytest.mark.parametrize("damage", ["json", "parquet"])
def test_damage_in_a_batch_that_a_run_grows_out_of(two, tmp_path, damage):
    first, _ = batches_of(two)
    name = "batch.json" if damage == "json" else "results.parquet"
    data = (first / name).read_bytes()
    (first / name).write_bytes(b"PAR1 broken")
    grown = write_log(tmp_path / "1.yaml", log([1, 2, 3], date="2026-04-01"))
    ended = command(two.path, "import", grown)
    # What the store holds of the run cannot be read, so that nothing can be compared with it.
    assert (ended.code, "Traceback" in ended.err) == (2, False)
    assert str(first) in ended.err
    assert len(batches_of(two)) == 2
    (first / name).write_bytes(data)
    assert command(two.path, "import", grown).code == 0
    assert two.sql("SELECT n_results FROM runs ORDER BY run_date").fetchall() == [(3,), (1,)]


@pytest.mark.parametrize("name", ["batch.json", "results.parquet"])
def test_damage_of_a_loaded_batch_whose_run_has_grown(two, tmp_path, name):
    first, _ = batches_of(two)
    bring_in(two, write_log(tmp_path / "1.yaml", log([1, 2, 3], date="2026-04-01")))
    (first / name).write_bytes(b"PAR1 broken")
    with pytest.warns(EvalstoreWarning, match=first.name):
        report = two.sync()
    assert report.rebuilt
    with pytest.warns(EvalstoreWarning, match=first.name):
        rows = two.sql("SELECT prompt FROM results ORDER BY run_date, seq").fetchall()
    # The first batch's result is missing, the rest is there.
    assert rows == [("Tehtävä 2",), ("Tehtävä 3",), ("Tehtävä 2",)]


def verified(store, code=0):
    ended = command(store.path, "info", "--verify", "--format", "json")
    assert ended.code == code, ended.err
    return json.loads(ended.out), ended.err


def test_info_verifies_and_changes_nothing(two, tmp_path):
    facts, _ = verified(two)
    assert (facts["n_batches"], facts["damaged"], facts["is_sound"]) == (2, [], True)
    assert facts["warehouse"] == "built by this version"
    assert "is sound       yes" in command(two.path, "info", "--verify").out
    bring_in(two, write_log(tmp_path / "3.yaml", log([3], date="2026-04-03")))
    with Journal(two.path, Generation("mine", "r")) as journal:
        journal.append([Entry("results", {"content_id": "c", "seq": 1})])
    files = {path: path.read_bytes() for path in two.path.rglob("*") if path.is_file()}
    facts, _ = verified(two)
    assert facts["not_loaded"] == sorted(two.lake.batch_names())[2:]
    assert facts["journals"] == [{"suite": "mine", "run": "r", "results": 1}]
    assert files == {path: path.read_bytes() for path in two.path.rglob("*") if path.is_file()}
    two.warehouse.unlink()
    assert verified(two)[0]["warehouse"].startswith("missing")


def test_info_finds_damage(two):
    path = batches_of(two)[1] / "runs.parquet"
    data = path.read_bytes()
    path.write_bytes(data[:-4] + b"PAR2")
    facts, err = verified(two, code=1)
    assert "1 of 2 batches are damaged" in err
    (damage,) = facts["damaged"]
    assert damage.startswith(f"{path}: SHA-256")
    path.write_bytes(data)
    warehouse = bytearray(two.warehouse.read_bytes())
    for at in range(3 * 4096, len(warehouse), 512):
        warehouse[at] ^= 255
    two.warehouse.write_bytes(warehouse)
    facts, err = verified(two, code=1)
    assert (facts["damaged"], facts["is_sound"]) == ([], False)
    assert "sync --rebuild" in err
    assert "the lake is undamaged" in err


def test_a_batch_of_a_newer_version_is_refused(two):
    path = batches_of(two)[1] / "batch.json"
    document = json.loads(path.read_bytes())
    path.write_text(json.dumps({**document, "schema_version": 99, "new": True, "version": "9"}))
    with pytest.raises(StoreNewer, match="upgrade it"):
        two.sync(rebuild=True)
    for arguments in (["sync", "--rebuild"], ["import", EXAMPLES], ["info", "--verify"]):
        ended = command(two.path, *arguments)
        assert (ended.code, "Traceback" in ended.err) == (2, False)
        assert "upgrade it" in ended.err
    assert len(batches_of(two)) == 2


@pytest.mark.parametrize("damage", ["empty", "garbage", "gone", "another database", "old"])
def test_a_damaged_warehouse_is_made_anew(examples, damage):
    before = digests(examples)
    path = examples.warehouse
    if damage in {"gone", "another database"}:
        path.unlink()
    if damage == "another database":
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE TABLE mine (a INT)")
    elif damage == "old":
        with duckdb.connect(str(path)) as connection:
            connection.execute("UPDATE lake.meta SET value = '0' WHERE key = 'schema'")
    elif damage != "gone":
        path.write_bytes({"empty": b"", "garbage": b"no database" * 999}[damage])
    assert digests(examples) == before


@pytest.mark.parametrize("damage", ["flipped", "cut"])
def test_a_warehouse_that_is_damaged_inside_is_said_to_be(examples, damage):
    examples.sync()
    data = bytearray(examples.warehouse.read_bytes())
    # All but the headers: no block has its checksum.
    for at in range(3 * 4096, len(data), 512):
        data[at] ^= 255
    cut = examples.warehouse.read_bytes()[: len(data) // 2]
    examples.warehouse.write_bytes(data if damage == "flipped" else cut)
    ended = command(examples.path, "sql", "FROM results", "--format", "csv")
    assert "Traceback" not in ended.err
    if ended.code:  # not noticed before the query ran: then the message names the way out
        assert ended.code == 2
        assert "sync --rebuild" in ended.err
    assert command(examples.path, "sync", "--rebuild").code == 0
    assert examples.sql("SELECT count(*) FROM results").fetchall() == [(218,)]


def test_leftovers_of_killed_processes_do_no_harm(two):
    two.lake.staging.mkdir(exist_ok=True)
    (two.lake.staging / "DEAD").mkdir()
    (two.lake.staging / "DEAD.lock").touch()
    (two.path / "warehouse.duckdb.new").write_bytes(b"half")
    (two.path / "warehouse.duckdb.new.wal").write_bytes(b"half")
    before = digests(two)
    two.sync(rebuild=True)
    assert digests(two) == before
    bring_in(two, EXAMPLES)
    assert list(two.lake.staging.iterdir()) == []
    assert not list(two.path.glob("*.new*"))


# --- locked


HOLDER = """
import duckdb, sys
con = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == "reading")
con.sql("SELECT 1").fetchall()
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.fixture(params=["reading", "writing"])
def holder(request, two):
    """Another program that holds the warehouse open."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, two.warehouse, request.param],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout.readline() == "held\n"
        process.how = request.param
        yield process
        if process.poll() is None:
            process.communicate("\n")


@pytest.mark.usefixtures("impatient")
def test_another_program_holds_the_warehouse(two, holder, tmp_path):
    path = write_log(tmp_path / "3.yaml", log([3], date="2026-04-03"))
    assert command(two.path, "import", path).code == 0  # the lake is free
    ended = command(two.path, "sync")
    assert ended.code == 2
    assert f"process id {holder.pid}" in ended.err
    assert "safe in the lake" in ended.err
    ended = command(two.path, "runs", "--format", "csv")
    assert f"process id {holder.pid}" in ended.err
    assert "safe in the lake" in ended.err
    if holder.how == "reading":  # goes on with what it has, and says what is missing
        assert (ended.code, len(ended.out.splitlines())) == (0, 3)
        assert "The figures lack what was added since" in ended.err
    else:
        assert (ended.code, ended.out) == (2, "")
    holder.communicate("\n")
    ended = command(two.path, "runs", "--format", "csv")
    assert (ended.code, len(ended.out.splitlines()), ended.err) == (0, 4, "")


@pytest.mark.usefixtures("impatient")
def test_another_program_holds_the_warehouse_at_a_rebuild(two, holder):
    before = two.warehouse.read_bytes()
    ended = command(two.path, "sync", "--rebuild")
    assert ended.code == 2
    assert f"process id {holder.pid}" in ended.err
    assert two.warehouse.read_bytes() == before
    assert not list(two.path.glob("*.new*"))
    holder.communicate("\n")
    assert command(two.path, "sync", "--rebuild").code == 0


def test_another_sync_is_at_work(two, tmp_path, monkeypatch):
    bring_in(two, write_log(tmp_path / "3.yaml", log([3], date="2026-04-03")))
    monkeypatch.setattr("warehouse.sync._SYNC_SECONDS", 0)
    with sync_lock(two.path):
        with pytest.raises(StoreBusy, match="another sync"):
            two.sync()
        with pytest.warns(EvalstoreWarning, match="The figures lack what was added since"):
            assert two.sql("SELECT count(*) FROM runs").fetchall() == [(2,)]
        bring_in(two, EXAMPLES)  # imports need no lock
    assert two.sql("SELECT count(*) FROM runs").fetchall() == [(19,)]


def test_a_sync_waits_for_the_one_before(two):
    patient = Store(two.path, wait_seconds=30)
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, two.warehouse, "writing"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "held\n"
        process.stdin.close()  # it ends by itself, while we wait
        assert patient.sync(rebuild=True).rebuilt


def test_readers_of_one_program_stand_side_by_side(two):
    function = "SELECT palindrome_correct(prompt, prompt) FROM results"
    with two.sql(function).cursor() as reading:
        assert reading.fetchmany(1) == [(True,)]
        assert two.sql(function).fetchall() == [(True,), (True,)]
        assert two.sql("SELECT current_setting('TimeZone')").fetchall() == [("UTC",)]
        assert reading.fetchmany(5) == [(True,)]
    with duckdb.connect(str(two.warehouse)):  # for writing: nothing was left open
        pass


def test_threads_query_at_once(two):
    def ask(n):
        query = f"SELECT {n}, palindrome_correct(min(prompt), min(prompt)) FROM results"
        return two.sql(query).fetchall() + two.sql(query).pl().rows()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(40))) == [[(n, True)] * 2 for n in range(40)]
    with duckdb.connect(str(two.warehouse)):
        pass


def test_a_reader_of_the_same_program_makes_a_sync_wait_and_then_say_so(two, tmp_path):
    with two.sql("SELECT prompt FROM results").cursor() as reading:
        assert len(reading.fetchmany(1)) == 1
        bring_in(two, write_log(tmp_path / "3.yaml", log([3], date="2026-04-03")))
        with pytest.warns(EvalstoreWarning, match="this program itself holds"):
            assert two.sql("SELECT count(*) FROM runs").fetchall() == [(2,)]
        assert len(reading.fetchmany(5)) == 1
    assert two.sql("SELECT count(*) FROM runs").fetchall() == [(3,)]


def test_a_store_that_can_only_be_read(two, tmp_path, anybody):
    if os.geteuid() == 0:
        assert anybody is not None
    runs = two.sql("FROM runs").fetchall()
    for path in [two.path, *two.path.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        ended = shell(two.path, "sql", "SELECT count(*) AS n FROM runs", preexec_fn=anybody)
        assert (ended.code, ended.out.split()[-1], ended.err) == (0, str(len(runs)), "")
        new = write_log(tmp_path / "9.yaml", log([9]))
        ended = shell(two.path, "import", new, preexec_fn=anybody)
        assert (ended.code, "Traceback" in ended.err) == (2, False)
        assert "cannot be written" in ended.err
        ended = shell(two.path, "sync", preexec_fn=anybody)
        assert (ended.code, "Traceback" in ended.err) == (2, False)
        assert "cannot be written" in ended.err
    finally:
        for path in [two.path, *two.path.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)


def test_a_store_that_can_only_be_read_and_has_something_new(two, tmp_path, anybody):
    bring_in(two, write_log(tmp_path / "3.yaml", log([3], date="2026-04-03")))
    for path in [two.path, *two.path.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        ended = shell(two.path, "runs", "--format", "csv", preexec_fn=anybody)
    finally:
        for path in [two.path, *two.path.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert (ended.code, len(ended.out.splitlines())) == (0, 3)
    assert "The figures lack what was added since" in ended.err


def test_a_snapshot_is_the_warehouse_and_stays_open_for_others(two, tmp_path):
    snapshot = tmp_path / "copy.duckdb"
    ended = command(two.path, "sync", "--snapshot", snapshot)
    assert ended.code == 0
    with duckdb.connect(str(snapshot)) as connection:
        assert connection.execute("SELECT count(*) FROM runs").fetchall() == [(2,)]
        bring_in(two, EXAMPLES)
        two.sync()  # nobody is in the way
    assert [path.name for path in tmp_path.glob(".copy*")] == []


@pytest.mark.parametrize("where", ["nowhere/copy.duckdb", "file/copy.duckdb"])
def test_a_snapshot_that_cannot_be_written(two, tmp_path, where):
    (tmp_path / "file").write_text("x")
    ended = command(two.path, "sync", "--snapshot", tmp_path / where)
    assert (ended.code, "Traceback" in ended.err) == (2, False)
    assert where in ended.err


def test_nothing_is_made_where_there_is_no_store(tmp_path):
    for arguments in (["runs"], ["sync"], ["info"], ["show", "runs"], ["sql", "SELECT 1"]):
        ended = command(tmp_path / "none", *arguments)
        assert ended.code == 2
        assert "evalstore import" in ended.err
    assert not (tmp_path / "none").exists()
    with pytest.raises(BadInput):
        Store(tmp_path / "none").sql("SELECT 1").fetchall()
