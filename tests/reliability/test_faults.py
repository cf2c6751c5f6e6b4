"""Faults: killed, corrupted, locked, newer. Nothing is lost, and the reason is reported."""

import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from random import Random

import duckdb
import pyarrow.parquet as pq
import pytest
from support import EXAMPLES, command, digests, import_into, log, new_store, shell, write_log

from tests.campaigns.corruptions import Campaign
from warehouse.analysis.checking.shipped import all_readable
from warehouse.app.store import Store
from warehouse.core.errors import BadInput, StoreBusy, StoreDamaged, StoreNewer
from warehouse.core.hashing import file_sha256
from warehouse.core.schemas import LAKE_FORMAT, TABLES
from warehouse.engine.base_store import EvalstoreWarning
from warehouse.engine.tables.sync import is_syncing, sync_lock
from warehouse.lake.batch import Generation
from warehouse.lake.journal.journal import Entry, Journal


@pytest.fixture
def without_lock_waits(monkeypatch):
    """Let commands in this process fail instead of waiting for locks."""
    monkeypatch.setitem(Store.__init__.__kwdefaults__, "wait_seconds", 0)


def batches_of(store):
    return [store.lake.path / name for name in sorted(store.lake.batch_names())]


def empty_warehouse(store):
    """Replace the store's warehouse by an empty one, so that the next sync loads every batch."""
    for path in store.path.glob("warehouse.duckdb*"):  # its log, too
        path.unlink()
    new_store(store.path)


# --- interrupted; `test_kills.py` has the rest


@pytest.mark.slow
def test_interrupted_by_the_user(store, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("ingest.formats.palindrome.yaml_files.parsed", interrupt)
    ended = command(store.path, "import", write_log(tmp_path / "a.yaml"))
    assert (ended.code, "Traceback" in ended.err) == (130, False)
    assert "interrupted" in ended.err
    assert store.lake.batch_names() == set()
    assert list(store.lake.staging.iterdir()) == []


# --- corrupted


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "options"),
    [("flipped", ["--rebuild"]), ("flipped", []), ("cut", []), ("gone", []), ("empty", [])],
)
def test_a_batch_with_a_corrupt_file_is_named_and_left_out(two, damage, options):
    first, _ = batches_of(two)
    path = first / "results.parquet"
    data = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        middle = len(data) // 2
        flipped = data[:middle] + bytes([data[middle] ^ 255]) + data[middle + 1 :]
        path.write_bytes({"flipped": flipped, "cut": data[:middle], "empty": b""}[damage])
    empty_warehouse(two)
    ended = command(two.path, "sync", *options)
    assert ended.code == 1
    assert str(path) in ended.err
    assert "Traceback" not in ended.err
    # Never partially: its results, its run and its file are all missing.
    with pytest.warns(EvalstoreWarning, match="results.parquet"):
        assert two.sql("SELECT recorded_date, n_results FROM runs").fetchall() == [
            ("2026-04-02", 1)
        ]
    with pytest.warns(EvalstoreWarning):
        assert two.sql("SELECT count(*) FROM files").fetchall() == [(1,)]
    path.write_bytes(data)  # restored from a backup
    assert two.sql("SELECT count(*) FROM runs").fetchall() == [(2,)]


def tables_of(store):
    """Return the rows of the tables of the lake, with their provenance."""
    with store.reading() as connection:
        return {
            table.name: sorted(map(repr, connection.sql(f"FROM lake.{table.name}").fetchall()))
            for table in TABLES
        }


@pytest.mark.campaign
def test_a_restored_batch_leaves_no_trace_of_its_damage(tmp_path):
    """Of rows that several batches have, the first batch's count, even if it is loaded last."""
    store = new_store(tmp_path / "store", on_warning=lambda _: None)
    for n, numbers in enumerate(([1, 2], [1, 2, 3])):
        logs = tmp_path / str(n)
        write_log(logs / "a.yaml", log(numbers, date="2026-04-01"))
        write_log(logs / "models" / "kokeilu-1.yaml", {"model": f"x/y-{n}"})
        (logs / "damaged.yaml").write_text("tasks: [")
        import_into(store, logs)
    before = tables_of(store)
    first, second = batches_of(store)
    for batch in (first, second):
        # Its rows are imported again from the logs while it is missing, then it is restored.
        shutil.copytree(store.path, tmp_path / batch.name)
        copy = new_store(tmp_path / batch.name, on_warning=lambda _: None)
        (copy.lake.path / batch.name).rename(tmp_path / "away")
        copy.sync()
        for n in range(2):
            import_into(copy, tmp_path / str(n))
        copy.sync()
        (tmp_path / "away").rename(copy.lake.path / batch.name)
        assert tables_of(copy) == before
    for name in ("files", "results"):
        path = first / f"{name}.parquet"
        data = path.read_bytes()
        path.write_bytes(b"PAR1 broken")
        assert store.sync(rebuild=True).loaded == (second.name,)
        path.write_bytes(data)
        assert store.sync().loaded == (first.name,)
        assert tables_of(store) == before


@pytest.mark.slow
@pytest.mark.parametrize("change", ["renamed", "text", "without", "other"])
def test_a_file_with_other_columns_is_named_and_its_batch_left_out(two, change):
    path = batches_of(two)[0] / "results.parquet"
    rows = pq.read_table(path)
    names = ["seqq" if name == "seq" else name for name in rows.column_names]
    changed = {
        "renamed": lambda: rows.rename_columns(names),
        "text": lambda: rows.set_column(
            rows.column_names.index("seq"), "seq", rows["seq"].cast("string")
        ),
        "without": lambda: rows.drop_columns(["seq"]),
        "other": lambda: rows.append_column("more", rows["seq"]),
    }
    pq.write_table(changed[change](), path)
    document = json.loads((path.parent / "batch.json").read_bytes())
    document["files"]["results"]["sha256"] = file_sha256(path)
    (path.parent / "batch.json").write_text(json.dumps(document))
    facts, _ = verified(two, code=1)
    assert facts["damaged"] == [f"{path}: its columns are not those of table results"]
    empty_warehouse(two)
    ended = command(two.path, "runs", "--format", "csv")
    assert (ended.code, len(ended.out.splitlines())) == (0, 2)
    assert f"{path}: its columns are not those of table results; the batch was left" in ended.err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("created_at", "yesterday"),
        ("created_at", 5),
        ("name", None),
        ("replaces", "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ("generations", [{"suite": 1, "run_id": "r", "generation": "root", "parent": None}]),
        ("files", {"results": {"rows": "1", "sha256": "0"}}),
    ],
)
def test_values_of_batch_json_are_checked(two, name, value):
    path = batches_of(two)[0] / "batch.json"
    document = json.loads(path.read_bytes())
    path.write_text(json.dumps({**document, name: value}))
    with pytest.raises(StoreDamaged, match="cannot be read as a batch"):
        two.lake.read(path.parent.name)


def replaced_by(path, kind):
    """Replace a file by nothing, a link that leads nowhere, or a folder."""
    path.unlink()
    match kind:
        case "dangling":
            path.symlink_to("nowhere")
        case "circular":
            path.symlink_to(path.name)
        case "folder":
            path.mkdir()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gone", "dangling", "circular", "folder"])
def test_a_loaded_file_that_cannot_be_read_is_named(two, kind, tmp_path):
    first, _ = batches_of(two)
    path = first / "results.parquet"
    replaced_by(path, kind)
    run = "2026-04-01/models/kokeilu-1.yaml"
    for code, *arguments in (
        (1, "sync"),
        (2, "compact"),
        (2, "forget", run, "--yes"),
        (0, "show", "leaderboard"),
        (0, "export", "palindrome", "--to", tmp_path / "logs"),
        (1, "info", "--verify"),
    ):
        ended = command(two.path, *arguments)
        assert (ended.code, "Traceback" in ended.err) == (code, False), arguments
        assert str(path) in ended.err + ended.out, arguments
    assert len(list((tmp_path / "logs").iterdir())) == 2  # the warehouse still has its rows
    with pytest.warns(EvalstoreWarning, match="a rebuild would lose them"):
        ((problem,),) = two.sql(all_readable(two).query).fetchall()
    assert str(path) in problem
    # From now on the figures lack them.
    assert command(two.path, "sync", "--rebuild").code == 1
    ended = command(two.path, "show", "leaderboard")
    assert (ended.code, f"the batch was left out, with its rows of {run}" in ended.err) == (0, True)


@pytest.mark.slow
def test_a_file_of_a_loaded_batch_without_read_permission_is_named(two, unprivileged):
    path = batches_of(two)[0] / "batch.json"
    path.chmod(0)
    ended = shell(two.path, "runs", "--format", "csv", preexec_fn=unprivileged)
    assert (ended.code, len(ended.out.splitlines())) == (0, 3)
    assert f"{path}: Permission denied; the figures still contain its rows" in ended.err


def test_files_of_merged_batches_are_looked_for_where_they_are(two):
    assert command(two.path, "compact").code == 0
    ended = command(two.path, "sync")
    assert (ended.code, "cannot be read" in ended.err) == (0, False)
    (folder,) = batches_of(two)
    (folder / "runs.parquet").unlink()
    with pytest.warns(EvalstoreWarning, match=str(folder / "runs.parquet")):
        assert two.sql("SELECT count(*) FROM runs").fetchall() == [(2,)]


@pytest.mark.slow
@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"files": 5}', None])
def test_a_corrupt_batch_json_is_named_and_its_batch_left_out(two, damage):
    first, _ = batches_of(two)
    path = first / "batch.json"
    data = path.read_bytes()
    path.unlink() if damage is None else path.write_bytes(damage)
    empty_warehouse(two)
    ended = command(two.path, "runs", "--format", "csv")
    assert (ended.code, len(ended.out.splitlines())) == (0, 2)
    assert f"warning: {path}" in ended.err
    path.write_bytes(data)
    assert two.sql("SELECT count(*) FROM runs").fetchall() == [(2,)]


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["json", "parquet"])
def test_damage_in_a_batch_that_a_run_grows_out_of(two, tmp_path, damage):
    first, _ = batches_of(two)
    name = "batch.json" if damage == "json" else "results.parquet"
    data = (first / name).read_bytes()
    (first / name).write_bytes(b"PAR1 broken")
    grown = write_log(tmp_path / "1.yaml", log([1, 2, 3], date="2026-04-01"))
    ended = command(two.path, "import", grown)
    # The stored part of the run cannot be read, so there is nothing to compare with.
    assert (ended.code, "Traceback" in ended.err) == (2, False)
    assert str(first) in ended.err
    assert len(batches_of(two)) == 2
    (first / name).write_bytes(data)
    assert command(two.path, "import", grown).code == 0
    assert two.sql("SELECT n_results FROM runs ORDER BY run_date").fetchall() == [(3,), (1,)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "is_other"),
    [("batch.json", False), ("results.parquet", False), ("results.parquet", True)],
)
def test_damage_of_a_loaded_batch_whose_run_has_grown(two, tmp_path, name, is_other):
    first, second = batches_of(two)
    import_into(two, write_log(tmp_path / "1.yaml", log([1, 2, 3], date="2026-04-01")))
    original = (first / name).read_bytes()
    # The file of another batch can be read, but its rows are not those of the run.
    (first / name).write_bytes((second / name).read_bytes() if is_other else b"PAR1 broken")
    with pytest.warns(EvalstoreWarning, match=first.name):
        report = two.sync()
    assert report.rebuilt
    with pytest.warns(EvalstoreWarning, match=first.name):
        rows = two.sql("SELECT prompt FROM results ORDER BY run_date, seq").fetchall()
    # Only the first batch's result is missing.
    assert rows == [("Tehtävä 2",), ("Tehtävä 3",), ("Tehtävä 2",)]
    (first / name).write_bytes(original)
    assert two.sql("SELECT count(*) FROM results").fetchall() == [(4,)]


def verified(store, code=0):
    ended = command(store.path, "info", "--verify", "--format", "json")
    assert ended.code == code, ended.err
    return json.loads(ended.out), ended.err


@pytest.mark.slow
def test_info_verifies_and_changes_nothing(two, tmp_path):
    facts, _ = verified(two)
    assert (facts["n_batches"], facts["damaged"], facts["is_sound"]) == (2, [], True)
    assert facts["warehouse"] == "built by this version"
    assert re.search("^is sound +yes$", command(two.path, "info", "--verify").out, re.MULTILINE)
    import_into(two, write_log(tmp_path / "3.yaml", log([3], date="2026-04-03")))
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
    for arguments in (
        ["sync", "--rebuild"],
        ["import", EXAMPLES],
        ["info", "--verify"],
        ["run", "palindrome", "--model", "example/aurora-2", "--provider", "replay"],
        ["tag", "a-run", "release=v1"],
        ["forget", "a-run", "--yes"],
        ["compact"],
    ):
        ended = command(two.path, *arguments)
        assert (ended.code, "Traceback" in ended.err) == (2, False)
        assert "written by evalstore 9 in lake format 99" in ended.err
        assert f"this one reads formats up to {LAKE_FORMAT}: upgrade it" in ended.err
    assert len(batches_of(two)) == 2
    assert not list((two.path / "journals").glob("*.jsonl"))


@pytest.mark.campaign
def test_any_file_of_the_store_can_be_damaged(tmp_path, capsys):
    """A small part of `tests.campaigns.corruptions`."""
    campaign = Campaign(tmp_path, Random(4))
    for _ in range(4):
        campaign.strike()
    assert campaign.n_bugs == 0, capsys.readouterr().out
    assert campaign.n_commands == 16


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["empty", "garbage", "gone", "another database", "old"])
def test_a_damaged_warehouse_is_rebuilt(examples, damage):
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


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["flipped", "cut"])
def test_a_warehouse_with_damaged_blocks_is_reported(examples, damage):
    examples.sync()
    data = bytearray(examples.warehouse.read_bytes())
    # Everything except the headers, so that no block matches its checksum.
    for at in range(3 * 4096, len(data), 512):
        data[at] ^= 255
    cut = examples.warehouse.read_bytes()[: len(data) // 2]
    examples.warehouse.write_bytes(data if damage == "flipped" else cut)
    ended = command(examples.path, "sql", "FROM results", "--format", "csv")
    assert "Traceback" not in ended.err
    if ended.code:  # noticed only when the query ran: the message says what to do
        assert ended.code == 2
        assert "sync --rebuild" in ended.err
    assert command(examples.path, "sync", "--rebuild").code == 0
    assert examples.sql("SELECT count(*) FROM results").fetchall() == [(218,)]


@pytest.mark.slow
def test_leftovers_of_killed_processes_are_harmless(two):
    two.lake.staging.mkdir(exist_ok=True)
    (two.lake.staging / "DEAD").mkdir()
    (two.lake.staging / "DEAD.lock").touch()
    (two.path / "warehouse.duckdb.new").write_bytes(b"half")
    (two.path / "warehouse.duckdb.new.wal").write_bytes(b"half")
    before = digests(two)
    two.sync()
    assert not list(two.path.glob("*.new*"))
    two.sync(rebuild=True)
    assert digests(two) == before
    import_into(two, EXAMPLES)
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
    """Start another program that keeps the warehouse open."""
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


@pytest.mark.slow
@pytest.mark.usefixtures("without_lock_waits")
def test_another_program_holds_the_warehouse(two, holder, tmp_path):
    path = write_log(tmp_path / "3.yaml", log([3], date="2026-04-03"))
    assert command(two.path, "import", path).code == 0  # the lake is free
    ended = command(two.path, "sync")
    assert ended.code == 75
    assert f"process id {holder.pid}" in ended.err
    assert "safe in the lake" in ended.err
    ended = command(two.path, "runs", "--format", "csv")
    assert f"process id {holder.pid}" in ended.err
    assert "safe in the lake" in ended.err
    if holder.how == "reading":  # continues with the warehouse as it is, and says what is missing
        assert (ended.code, len(ended.out.splitlines())) == (0, 3)
        assert "The figures lack what was added since" in ended.err
    else:
        assert (ended.code, ended.out) == (75, "")
    holder.communicate("\n")
    ended = command(two.path, "runs", "--format", "csv")
    assert (ended.code, len(ended.out.splitlines()), ended.err) == (0, 4, "")


@pytest.mark.slow
@pytest.mark.usefixtures("without_lock_waits")
def test_another_program_holds_the_warehouse_at_a_rebuild(two, holder):
    before = two.warehouse.read_bytes()
    ended = command(two.path, "sync", "--rebuild")
    assert ended.code == 75
    assert f"process id {holder.pid}" in ended.err
    assert two.warehouse.read_bytes() == before
    assert not list(two.path.glob("*.new*"))
    holder.communicate("\n")
    assert command(two.path, "sync", "--rebuild").code == 0


@pytest.mark.slow
def test_another_sync_is_running(two, tmp_path, monkeypatch):
    import_into(two, write_log(tmp_path / "3.yaml", log([3], date="2026-04-03")))
    monkeypatch.setattr("warehouse.engine.tables.sync._SYNC_SECONDS", 0)
    with sync_lock(two.path):
        with pytest.raises(StoreBusy, match="another sync"):
            two.sync()
        with pytest.warns(EvalstoreWarning, match="The figures lack what was added since"):
            assert two.sql("SELECT count(*) FROM runs").fetchall() == [(2,)]
        import_into(two, EXAMPLES)  # imports need no lock
    assert two.sql("SELECT count(*) FROM runs").fetchall() == [(19,)]


@pytest.mark.slow
def test_a_sync_waits_for_another(two):
    patient = Store(two.path, wait_seconds=300)
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, two.warehouse, "writing"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "held\n"
        process.stdin.close()  # it ends while we wait
        assert patient.sync(rebuild=True).rebuilt


@pytest.mark.slow
def test_a_reader_waits_for_the_sync_of_another_command(two, tmp_path, monkeypatch):
    """It begins after the reader's own, and holds the warehouse when the reader opens it."""
    import_into(two, write_log(tmp_path / "3.yaml", log([3], date="2026-04-03")))
    catch_up, others, n_waits = Store._catch_up, ExitStack(), 0

    def and_another_begins(store):
        catch_up(store)
        others.enter_context(sync_lock(store.path))
        others.enter_context(duckdb.connect(str(store.warehouse)))

    def and_it_ends(path):
        nonlocal n_waits
        n_waits += is_syncing(path)
        others.close()
        return n_waits == 1

    monkeypatch.setattr(Store, "_catch_up", and_another_begins)
    monkeypatch.setattr("warehouse.engine.tables.sync.is_syncing", and_it_ends)
    assert two.sql("SELECT count(*) FROM runs").fetchall() == [(3,)]
    assert n_waits == 1


def test_readers_in_one_program_do_not_block_each_other(two):
    function = "SELECT palindrome_correct(prompt, prompt) FROM results"
    with two.sql(function).cursor() as reading:
        assert reading.fetchmany(1) == [(True,)]
        assert two.sql(function).fetchall() == [(True,), (True,)]
        assert two.sql("SELECT current_setting('TimeZone')").fetchall() == [("UTC",)]
        assert reading.fetchmany(5) == [(True,)]
    with duckdb.connect(str(two.warehouse)):  # for writing: no connection was left open
        pass


@pytest.mark.slow
def test_threads_can_query_concurrently(two):
    def ask(n):
        query = f"SELECT {n}, palindrome_correct(min(prompt), min(prompt)) FROM results"
        return two.sql(query).fetchall() + two.sql(query).pl().rows()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(40))) == [[(n, True)] * 2 for n in range(40)]
    with duckdb.connect(str(two.warehouse)):
        pass


@pytest.mark.slow
def test_a_sync_waits_for_a_reader_in_its_program_then_reports_it(two, tmp_path):
    with two.sql("SELECT prompt FROM results").cursor() as reading:
        assert len(reading.fetchmany(1)) == 1
        import_into(two, write_log(tmp_path / "3.yaml", log([3], date="2026-04-03")))
        with pytest.warns(EvalstoreWarning, match="this program itself holds"):
            assert two.sql("SELECT count(*) FROM runs").fetchall() == [(2,)]
        assert len(reading.fetchmany(5)) == 1
    assert two.sql("SELECT count(*) FROM runs").fetchall() == [(3,)]


@pytest.mark.slow
def test_a_read_only_store(two, tmp_path, unprivileged):
    if os.geteuid() == 0:
        assert unprivileged is not None
    runs = two.sql("FROM runs").fetchall()
    for path in [two.path, *two.path.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        ended = shell(two.path, "sql", "SELECT count(*) AS n FROM runs", preexec_fn=unprivileged)
        assert (ended.code, ended.out.split()[-1], ended.err) == (0, str(len(runs)), "")
        new = write_log(tmp_path / "9.yaml", log([9]))
        ended = shell(two.path, "import", new, preexec_fn=unprivileged)
        assert (ended.code, "Traceback" in ended.err) == (2, False)
        assert "cannot be written" in ended.err
        ended = shell(two.path, "sync", preexec_fn=unprivileged)
        assert (ended.code, "Traceback" in ended.err) == (2, False)
        assert "cannot be written" in ended.err
    finally:
        for path in [two.path, *two.path.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)


@pytest.mark.slow
def test_a_read_only_store_with_new_batches(two, tmp_path, unprivileged):
    import_into(two, write_log(tmp_path / "3.yaml", log([3], date="2026-04-03")))
    for path in [two.path, *two.path.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        ended = shell(two.path, "runs", "--format", "csv", preexec_fn=unprivileged)
    finally:
        for path in [two.path, *two.path.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert (ended.code, len(ended.out.splitlines())) == (0, 3)
    assert "The figures lack what was added since" in ended.err


@pytest.mark.slow
def test_a_snapshot_equals_the_warehouse_and_does_not_block_it(two, tmp_path):
    snapshot = tmp_path / "copy.duckdb"
    ended = command(two.path, "sync", "--snapshot", snapshot)
    assert ended.code == 0
    with duckdb.connect(str(snapshot)) as connection:
        assert connection.execute("SELECT count(*) FROM runs").fetchall() == [(2,)]
        import_into(two, EXAMPLES)
        two.sync()  # no other program has it open
    assert [path.name for path in tmp_path.glob(".copy*")] == []


@pytest.mark.parametrize("where", ["nowhere/copy.duckdb", "file/copy.duckdb"])
def test_a_snapshot_that_cannot_be_written(two, tmp_path, where):
    (tmp_path / "file").write_text("x")
    ended = command(two.path, "sync", "--snapshot", tmp_path / where)
    assert (ended.code, "Traceback" in ended.err) == (2, False)
    assert where in ended.err


def test_commands_create_no_store_by_reading(tmp_path):
    for arguments in (["runs"], ["sync"], ["info"], ["show", "runs"], ["sql", "SELECT 1"]):
        ended = command(tmp_path / "none", *arguments)
        assert ended.code == 2
        assert "evalstore import" in ended.err
    assert not (tmp_path / "none").exists()
    with pytest.raises(BadInput):
        Store(tmp_path / "none").sql("SELECT 1").fetchall()
