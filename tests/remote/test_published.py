"""Delta tables on a real S3 server, on loopback."""

from pathlib import Path

import polars as pl
import pytest
from delta_cases import GONE, add_run, add_secret, in_warehouse, rows_in
from remote_cases import MOTO_TESTS
from support import SECRET

from exports.delta import publication
from exports.delta.command import publish_tables
from exports.delta.state import PublicFolder
from exports.delta.tables import TABLES
from warehouse.app.store import Store
from warehouse.core.errors import BadInput, StoreBusy
from warehouse.lake.forgetting import forget
from warehouse.lake.remote.objects import open_objects

pytestmark = MOTO_TESTS

TARGET = Path("s3://bucket/tables")  # as the command has it, with one slash
ADDRESS = "s3://bucket/tables"


def read(name, version=None):
    options = {"allow_http": "true"}
    return pl.read_delta(f"{ADDRESS}/public/{name}", version=version, storage_options=options)


def check_equals_warehouse(store):
    rows = read("snapshots")
    newest = rows.filter(pl.col("snapshot") == pl.col("snapshot").max())
    with store.reading() as connection:
        for name, version in newest.select("table_name", "version").rows():
            [table] = (table for table in TABLES if table.name == name)
            assert rows_in(read(name, version)) == rows_in(in_warehouse(connection, table)), name


def contents(objects):
    return {one.key: objects.get(one.key)[0] for one in objects.below("")}


@pytest.mark.usefixtures("server")
def test_nothing_of_a_forgotten_run_stays_on_an_object_store(store, tmp_path):
    add_secret(store, tmp_path)
    add_run(store, 1)
    publish_tables(store, TARGET)
    check_equals_warehouse(store)
    objects = open_objects(ADDRESS)
    before = contents(objects)
    assert any(SECRET.encode() in content for content in before.values())
    assert not any(b"bucket/tables" in content for content in before.values())
    assert publish_tables(store, TARGET).notes == [f"publication 1 in {ADDRESS} is up to date"]
    killed = next(key for key in before if key.startswith("public/runs/") and "_delta_" not in key)
    objects.put("public/runs/killed.parquet", before[killed])
    forget(store.lake, GONE)
    publish_tables(store, TARGET)
    check_equals_warehouse(store)
    after = contents(objects)
    assert "public/runs/killed.parquet" not in after
    for text in (SECRET, GONE[1]):
        assert not any(text.encode() in content for content in after.values())


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("at", ["log", "add"])
def test_one_of_two_machines_publishes(store, monkeypatch, at):
    """The other one has written its files, but can commit neither a table nor the publication."""
    add_run(store, 1)
    publish_tables(store, TARGET)
    add_run(store, 2)
    owner, name = (publication, "_commit") if at == "log" else (PublicFolder, "add")
    original = getattr(owner, name)

    def after_another(*arguments):
        monkeypatch.setattr(owner, name, original)
        publish_tables(store, TARGET)
        return original(*arguments)

    monkeypatch.setattr(owner, name, after_another)
    with pytest.raises(StoreBusy, match="another machine published meanwhile; publish again"):
        publish_tables(store, TARGET)
    check_equals_warehouse(store)


@pytest.mark.usefixtures("server")
def test_other_objects_are_left_alone(store, tmp_path):
    add_run(store, 1)
    open_objects("s3://bucket/theirs").put("public/results/theirs.parquet", b"theirs")
    with pytest.raises(BadInput, match="s3://bucket/theirs holds something else"):
        publish_tables(store, Path("s3://bucket/theirs"))
    publish_tables(store, TARGET)
    other = Store(tmp_path / "other")
    add_run(other, 1)
    with pytest.raises(BadInput, match="it is of another store"):
        publish_tables(other, TARGET)
