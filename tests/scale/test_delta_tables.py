"""Tables that shards wrote are Delta tables: others read them, and forgetting leaves no trace."""

import json
import os
import random
import re
import signal
import subprocess
import sys

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from support import ROOT, command, import_into, log, new_store, task, write_log
from table_content import assert_equal

from warehouse.lake.delta_log import DeltaLog
from warehouse.lake.forgetting import forget

DOCS = ROOT / "docs" / "scale-out.md"
SECRET = "the planted secret 3f9a"


def add(store, folder, n, answer="yes"):
    day, tasks = f"2025-03-{n:02}", [task(n, answer=answer), task(n + 1)]
    document = log(tasks=tasks, date=day, model=f"models/example-m{n}-1.yaml")
    return import_into(store, write_log(folder / f"{day}-example-m{n}.yaml", document))


@pytest.fixture
def store(tmp_path):
    store = new_store(tmp_path / "store")
    for n in (1, 2, 3):
        add(store, tmp_path / "logs", n)
    return store


def sync(store, tables, *arguments):
    ended = command(store.path, "sync", "--to", tables, *arguments)
    assert ended.code == 0, ended.err
    return ended


def pinned(tables):
    """Return each table as of the newest snapshot, as a reader finds it."""
    rows = pl.read_delta(str(tables / "tables/snapshots"))
    newest = rows.filter(pl.col("snapshot") == pl.col("snapshot").max())
    versions = newest.select("table_name", "version").unique().rows()
    return {name: DeltaTable(str(tables / "tables" / name), version=v) for name, v in versions}


@pytest.mark.slow
def test_other_engines_have_the_rows_of_the_warehouse(store, tmp_path, monkeypatch):
    tables = tmp_path / "tables"
    sync(store, tables, "--shards", 2)
    add(store, tmp_path / "logs", 2, answer="no")
    add(store, tmp_path / "logs", 4)
    sync(store, tables)
    store.sync()
    found = pinned(tables)
    assert set(found) == {path.name for path in (tables / "tables").iterdir()} - {"snapshots"}
    for name, table in found.items():
        protocol = table.protocol()
        assert (protocol.min_reader_version, protocol.min_writer_version) == (1, 2), name
        assert table.metadata().configuration["delta.logRetentionDuration"] == "interval 0 seconds"
        stored = table.to_pyarrow_table()
        counted = pa.table(table.get_add_actions())["num_records"].to_pylist()
        assert sum(counted) == stored.num_rows, name
        if name not in {"calls", "plan"}:
            of_lake = name if "." in name else f"lake.{name}"
            [(n,)] = store.sql(f"SELECT count(*) FROM {of_lake}").fetchall()
            assert stored.num_rows == n, name
    results = found["results"].to_pyarrow_table()
    query = "SELECT suite, run_id, answer, cost_usd, epoch_us(started_at) FROM {} ORDER BY ALL"
    with duckdb.connect() as connection:
        theirs = connection.register("results", results).sql(query.format("results")).fetchall()
    assert theirs == store.sql(query.format("lake.results")).fetchall()
    # As the docs print it.
    monkeypatch.chdir(tmp_path)
    printed, names = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL), {}
    exec("".join(printed), names)
    assert names["results"].collect().height == len(theirs)


def traces(folder, text):
    """Return the files of a folder that have a text in their bytes or rows."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    found = [path for path in files if text.encode() in path.read_bytes()]
    tables = [path for path in files if path.suffix == ".parquet"]
    return found + [path for path in tables if text in str(pl.read_parquet(path).rows())]


@pytest.mark.slow
@pytest.mark.parametrize("is_killed", [False, True])
def test_nothing_of_a_forgotten_run_stays(store, tmp_path, monkeypatch, *, is_killed):
    tables = tmp_path / "tables"
    add(store, tmp_path / "logs", 5, answer=SECRET)
    sync(store, tables)
    add(store, tmp_path / "logs", 6)
    sync(store, tables)
    gone = "2025-03-05/models/example-m5-1.yaml"
    texts = (SECRET, gone)
    for text in texts:
        assert traces(tables, text)
    forget(store.lake, ("palindrome", gone))
    with monkeypatch.context() as patch:
        if is_killed:
            patch.setattr("warehouse.engine.scale.driver.sweep", None)
            with pytest.raises(AssertionError, match="NoneType"):
                command(store.path, "sync", "--to", tables)
            assert traces(tables, SECRET)
    sync(store, tables)
    for text in texts:
        assert traces(tables, text) == []
    assert all(DeltaLog(tables / "tables" / name).active for name in ("results", "snapshots"))
    assert len(list((tables / "tables/results/_delta_log").glob("*.json"))) <= 1
    assert_equal(store, tables, has_views=True)


def test_without_deltalake_the_message_says_how_to_install_it(store, tmp_path, monkeypatch):
    (tmp_path / "tables/tables/snapshots").mkdir(parents=True)
    monkeypatch.setitem(sys.modules, "deltalake", None)
    monkeypatch.delitem(sys.modules, "warehouse.lake.delta_log", raising=False)
    for ended in (
        command(store.path, "sync", "--to", tmp_path / "new"),
        command(tmp_path / "tables", "show", "leaderboard"),
    ):
        assert (ended.code, "pip install '.[delta]'" in ended.err) == (2, True)


def test_tables_of_an_earlier_version_are_refused(store, tmp_path):
    tables = tmp_path / "tables"
    (tables / "versions").mkdir(parents=True)
    (tables / "versions/000000001.json").write_text("{}")
    for ended in (
        command(store.path, "sync", "--to", tables),
        command(tables, "show", "leaderboard"),
        command(tables, "info", "--verify"),
    ):
        assert (ended.code, "write them to a new folder" in ended.err) == (2, True), ended.err
    assert [path.name for path in tables.rglob("*")] == ["versions", "000000001.json"]


@pytest.mark.campaign
def test_kills(store, tmp_path):
    """The command or all of its processes are killed: readers see one snapshot, nothing is lost.

    EVALSTORE_KILLS: how many times.
    """
    rng, tables, n_killed = random.Random(34), tmp_path / "tables", 0
    sync(store, tables)
    counts = {2 * len(store.sql("FROM runs").fetchall())}
    for n in range(int(os.environ.get("EVALSTORE_KILLS", "3"))):
        add(store, tmp_path / "logs", 4 + n % 20, answer=f"answer {n}")
        counts.add(store.sql("SELECT count(*) FROM lake.results").fetchall()[0][0])
        process = subprocess.Popen(
            [sys.executable, "evalstore.py", "--store", store.path, "sync", "--to", tables,
             "--shards", "2"],
            cwd=ROOT, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            process.wait(rng.uniform(0, 8))
        except subprocess.TimeoutExpired:
            end = rng.choice([os.kill, os.killpg])
            end(process.pid, signal.SIGKILL)
            n_killed += 1
        process.communicate()
        found = json.loads(
            command(tables, "sql", "SELECT count(*) AS n FROM lake.results", "--format", "json").out
        )
        assert found[0]["n"] in counts
        if n % 5 == 2:
            sync(store, tables)
            assert_equal(store, tables)
    print(f"{n_killed} killed")
    sync(store, tables)
    assert_equal(store, tables, has_views=True)
    assert command(tables, "info", "--verify").code == 0
