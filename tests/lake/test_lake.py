"""The lake: batches are complete or absent, and readable by any Parquet tool."""

import json
import os
import re
from itertools import product
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support import EXAMPLES, import_into, log, new_store, write_log

from warehouse.core.errors import StoreDamaged, StoreNewer, UnknownColumn
from warehouse.core.schemas import (
    BY_NAME,
    FILES,
    LAKE_FORMAT,
    QUARANTINE,
    RESULTS,
    TABLES,
    arrow_schema,
    duckdb_type,
)
from warehouse.lake.batch import (
    Batch,
    Generation,
    Source,
    Tombstone,
    batch_from_json,
    batch_to_json,
)
from warehouse.lake.compaction import rows_of
from warehouse.lake.lake import Lake
from warehouse.lake.writer import arrow_table


@pytest.fixture
def lake(tmp_path):
    return Lake(tmp_path / "store")


def row(n):
    return {"content_id": str(n), "path": f"{n}.yaml", "reason": "ei käy"}


def test_a_batch_is_invisible_before_it_is_committed(lake):
    with lake.write("import") as writer:
        writer.add(QUARANTINE, [row(1)])
        assert lake.batch_names() == set()
        batch = writer.commit()
        assert lake.batch_names() == {batch.name}
    assert list(lake.staging.iterdir()) == []


def test_without_commit_nothing_remains(lake):
    with lake.write("import") as writer:
        writer.add(QUARANTINE, [row(1)])
    assert lake.batch_names() == set()
    assert list(lake.staging.iterdir()) == []


def test_an_unknown_column_is_refused_with_table_and_name(lake):
    message = "table results has no column 'inpt_tokens'; did you mean 'input_tokens'"
    with lake.write("import") as writer, pytest.raises(UnknownColumn, match=re.escape(message)):
        writer.add(RESULTS, [{"content_id": "1"}, {"content_id": "2", "inpt_tokens": 3}])
    assert lake.batch_names() == set()


def test_an_unknown_column_unlike_any_other_has_no_suggestion(lake):
    with lake.write("import") as writer, pytest.raises(UnknownColumn) as caught:
        writer.add(QUARANTINE, [row(1) | {"xyzzy": 1}])
    assert str(caught.value) == "table quarantine has no column 'xyzzy'"


def test_an_error_leaves_nothing(lake):
    def fail():
        with lake.write("import") as writer:
            writer.add(QUARANTINE, [row(1)])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert lake.batch_names() == set()
    assert list(lake.staging.iterdir()) == []


def test_a_batch_describes_its_content(lake):
    with lake.write("import") as writer:
        writer.add(QUARANTINE, [row(1), row(2)])
        written = writer.commit(
            generations=[Generation("s", "r"), Generation("s", "r", "g", "root")],
            sources=[
                Source("ff", "ä.yaml", None, is_clean=True, generations=(Generation("s", "r"),))
            ],
            replaces=["older"],
            forgotten=[Tombstone("hash", ("ff",))],
            restored=["aa"],
        )
    [read] = lake.current()
    assert read == written
    assert read.files["quarantine"].rows == 2
    assert (read.command, read.schema_version) == ("import", LAKE_FORMAT)
    assert read.created_at.endswith("+00:00")
    lake.verify(read)


def test_batch_json_round_trips():
    batch = Batch(name="n", created_at="2026-01-01T00:00:00+00:00", command="run", version="1")
    assert batch_from_json(json.loads(batch_to_json(batch))) == batch


def test_names_sort_by_time(lake):
    names = []
    for n in range(5):
        with lake.write("import") as writer:
            writer.add(QUARANTINE, [row(n)])
            names.append(writer.commit().name)
    assert len(set(names)) == 5
    # A ULID's first ten characters are the milliseconds.
    assert [name[:10] for name in names] == sorted(name[:10] for name in names)


def test_replaced_batches_no_longer_count(lake):
    with lake.write("import") as writer:
        first = writer.commit()
    with lake.write("compact") as writer:
        second = writer.commit(replaces=[first.name])
    assert [batch.name for batch in lake.current()] == [second.name]
    lake.remove_replaced()
    lake.remove_replaced()  # repeated after a kill half-way
    assert lake.batch_names() == {second.name}
    assert list(lake.staging.iterdir()) == []


def test_an_abandoned_batch_is_removed_and_one_in_progress_is_not(lake):
    with lake.write("import") as at_work:
        at_work.add(QUARANTINE, [row(1)])
        # A killed process leaves a folder, and a lock that no process holds.
        (lake.staging / "KILLED").mkdir()
        (lake.staging / "KILLED" / "results.parquet").write_bytes(b"half")
        (lake.staging / "KILLED.lock").touch()
        (lake.staging / "OLD.removed").mkdir()
        with lake.write("import") as other:
            assert {path.stem for path in lake.staging.iterdir()} == {at_work.name, other.name}
        batch = at_work.commit()
    assert lake.batch_names() == {batch.name}


def test_files_contain_the_schema_version_and_the_lake_column_meanings(lake):
    with lake.write("import") as writer:
        writer.add(QUARANTINE, [row(1)])
        batch = writer.commit()
    schema = pq.read_schema(lake.file(batch, "quarantine"))
    assert schema.metadata[b"evalstore.schema_version"] == str(LAKE_FORMAT).encode()
    lines = [
        line.split("\t") for line in (lake.path / "columns.tsv").read_text("utf-8").splitlines()
    ]
    assert {table for table, _, _ in lines[1:]} == {table.name for table in TABLES}
    for column in QUARANTINE.columns:
        assert ["quarantine", column.name, column.meaning] in lines
    assert all(field.metadata is None for field in schema)
    parquet = pq.ParquetFile(lake.file(batch, "quarantine"))
    assert parquet.metadata.row_group(0).column(0).compression == "ZSTD"


def test_meanings_of_another_version_are_replaced(lake):
    lake.path.mkdir(parents=True)
    (lake.path / "columns.tsv").write_text("table")
    with lake.write("import") as writer:
        writer.add(QUARANTINE, [row(1)])
        batch = writer.commit()
    assert "quarantine" in (lake.path / "columns.tsv").read_text("utf-8")
    assert lake.batch_names() == {batch.name}


def test_a_small_file_has_the_columns_with_values_and_the_required_ones(store, tmp_path):
    import_into(store, write_log(tmp_path / "a.yaml"))
    [batch] = store.lake.current()
    results = pq.ParquetFile(store.lake.file(batch, "results"))
    names = set(results.schema_arrow.names)
    assert {"suite", "run_id", "generation", "content_id", "model_path", "answer"} <= names
    assert not {"trial_id", "system", "phases", "ttft_ms"} & names
    assert all(column.null_count < len(column) for column in results.read().columns)
    columns = [results.metadata.row_group(0).column(at) for at in range(len(names))]
    described = {each.path_in_schema for each in columns if each.statistics is not None}
    assert described == {"suite", "run_id", "generation"}
    # All columns are there wherever rows are read.
    assert store.sql("SELECT count(phases) FROM lake.results").fetchall() == [(0,)]
    assert rows_of(store.lake, batch, BY_NAME["results"]).num_columns == len(RESULTS.columns) + 1


def test_columns_that_only_later_rows_have_are_written(lake, monkeypatch):
    for small_bytes in (0, 2**20):
        monkeypatch.setattr("warehouse.lake.writer._SMALL_BYTES", small_bytes)
        with lake.write("import") as writer:
            writer.add_table(QUARANTINE, arrow_table(QUARANTINE, [row(1)]))
            writer.add_table(QUARANTINE, arrow_table(QUARANTINE, [row(2) | {"line": 7}]))
            batch = writer.commit()
        file = pq.ParquetFile(lake.file(batch, "quarantine"))
        assert file.read(["line"])["line"].to_pylist() == [None, 7]
        assert len(file.schema_arrow.names) < len(QUARANTINE.columns) or small_bytes == 0


def test_rows_beyond_a_row_group_are_all_written(lake, monkeypatch):
    monkeypatch.setattr("warehouse.lake.writer.ROWS_PER_GROUP", 10)
    with lake.write("import") as writer:
        for n in range(3):
            writer.add(QUARANTINE, [row(n * 10 + at) for at in range(7)])
        batch = writer.commit()
    assert batch.files["quarantine"].rows == 21
    table = pq.read_table(lake.file(batch, "quarantine"))
    assert len(set(table["content_id"].to_pylist())) == 21


def test_files_do_not_pile_up_in_memory(lake):
    def file(n):
        return {"content_id": str(n), "path": "a", "sha256": "b", "format": "c"} | {
            "size_bytes": 2**20,
            "content": bytes([n]) * 2**20,
        }

    with lake.write("import") as writer:
        for n in range(20):
            writer.add(FILES, [file(n)])
        batch = writer.commit()
    metadata = pq.read_metadata(lake.file(batch, "files"))
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    # A MiB is written at once, and the end of its row group is that of its buffers.
    assert [group.num_rows for group in groups] == [1, 0] * 20
    columns = [groups[0].column(at) for at in range(metadata.num_columns)]
    described = {each.path_in_schema for each in columns if each.statistics is not None}
    # Only what runs are found by: of a text, each file would keep the first and the last.
    assert described == set()
    contents = pq.read_table(lake.file(batch, "files"))["content"].to_pylist()
    assert contents == [bytes([n]) * 2**20 for n in range(20)]


def test_any_parquet_tool_reads_the_lake_by_union_of_names(store, tmp_path):
    import_into(store, EXAMPLES)
    import_into(store, write_log(tmp_path / "a.yaml"))
    with duckdb.connect() as connection:
        pattern = str(store.lake.path / "*" / "results.parquet")
        [(n,)] = connection.execute(
            "SELECT count(*) FROM read_parquet($p, union_by_name = true)", {"p": pattern}
        ).fetchall()
    assert n == 220


def test_the_schemas_are_consistent():
    names = [table.name for table in TABLES]
    assert len(set(names)) == len(names)
    for table in TABLES:
        assert len(set(table.column_names)) == len(table.column_names), table.name
        assert table.column_names[0] in {"suite", "content_id"}
        assert "content_id" in table.column_names
        assert table.of_run == ({"suite", "run_id", "generation"} <= set(table.column_names))
        assert table.grain
        for column in table.columns:
            assert column.meaning
            assert not column.meaning.endswith(".")
            assert duckdb_type(column) != "JSON"
        schema = arrow_schema(table)
        assert [field.nullable for field in schema] == [c.nullable for c in table.columns]


def test_names_contain_units():
    for table in TABLES:
        for column in table.columns:
            if column.type in {"BIGINT", "DOUBLE"} and "second" in column.meaning:
                assert column.name.endswith(("_ms", "_seconds")), column.name
            if "US dollars" in column.meaning and column.type == "DOUBLE":
                assert column.name.endswith("_usd"), column.name


def test_values_that_no_column_can_hold_are_refused(lake):
    def write():
        with lake.write("import") as writer:
            writer.add(RESULTS, [{"seq": "no number"}])
            writer.commit()

    with pytest.raises(pa.ArrowException):
        write()
    assert lake.batch_names() == set()


# --- damage


@pytest.fixture
def batch(lake):
    with lake.write("import") as writer:
        writer.add(QUARANTINE, [row(1)])
        return writer.commit()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"5",
        b"{}",
        b'{"files": []}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"name": 1, "created_at": 1, "command": 1, "version": 1, "files": {"a": 5}}',
    ],
)
def test_an_invalid_batch_json_is_damage(lake, batch, text):
    path = lake.path / batch.name / "batch.json"
    path.write_bytes(text)
    with pytest.raises(StoreDamaged, match=r"batch\.json"):
        lake.read(batch.name)


FIELDS = ["name", "files", "generations", "sources", "schema_version"]
WRONG = [*product(FIELDS, [None, "x", 5, [5], {"a": 1}])]
WRONG.remove(("schema_version", 5))  # the current version


@pytest.mark.parametrize(("field", "value"), WRONG)
def test_a_wrong_field_in_batch_json_is_damage(lake, batch, field, value):
    path = lake.path / batch.name / "batch.json"
    document = json.loads(path.read_bytes())
    document[field] = value
    path.write_text(json.dumps(document))
    with pytest.raises(StoreDamaged, match=r"batch\.json"):
        lake.read(batch.name)


@pytest.mark.parametrize(
    "additions", [{}, {"a_new_field": 1}, {"files": {"a_new_table": {"x": 1}}}]
)
def test_a_batch_of_a_newer_version_is_reported_as_newer(lake, batch, additions):
    path = lake.path / batch.name / "batch.json"
    document = json.loads(path.read_bytes())
    newer = {"schema_version": LAKE_FORMAT + 1, "version": "9.9"}
    path.write_text(json.dumps({**document, **newer, **additions}))
    with pytest.raises(StoreNewer, match=r"9\.9.*upgrade"):
        lake.read(batch.name)


@pytest.mark.parametrize("damage", ["other bytes", "cut", "gone"])
def test_a_changed_file_is_damage(lake, batch, damage):
    path = lake.file(batch, "quarantine")
    data = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(data[:-1] if damage == "cut" else data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(StoreDamaged, match=r"quarantine\.parquet"):
        lake.verify(batch)


def test_foreign_files_are_ignored(lake, batch):
    (lake.path / ".DS_Store").write_bytes(b"x")
    (lake.path / ".Trash").mkdir()
    assert lake.batch_names() == {batch.name}


def test_a_batch_is_durable(lake, monkeypatch):
    synced = []
    fsync = os.fsync
    monkeypatch.setattr(
        os, "fsync", lambda fd: (synced.append(Path(f"/proc/self/fd/{fd}").readlink()), fsync(fd))
    )
    with lake.write("import") as writer:
        writer.add(
            FILES, [{"content_id": "a", "path": "p", "sha256": "s", "format": "f", "size_bytes": 1}]
        )
        writer.commit()
    # First the files of the batch, then the folder changed by the rename.
    assert [path.name for path in synced] == ["files.parquet", "batch.json", "lake"]


def test_an_import_without_news_writes_no_batch(store, tmp_path):
    path = write_log(tmp_path / "a.yaml", log([1]))
    import_into(store, path)
    import_into(store, path)
    assert len(store.lake.batch_names()) == 1
    assert new_store(store.path).lake.current()[0].sources[0].name == "a.yaml"


@pytest.mark.slow
def test_stray_files_in_the_lake_are_ignored(store, tmp_path):
    import_into(store, write_log(tmp_path / "1.yaml"))
    for name in ("Thumbs.db", "notes.txt", "batch.json"):
        (store.lake.path / name).write_bytes(b"x")
    warnings = []
    other = new_store(store.path, on_warning=warnings.append)
    import_into(
        other, write_log(tmp_path / "2.yaml", date="2026-04-02", model="models/other-1.yaml")
    )
    other.sync(rebuild=True)
    assert other.sql("SELECT count(*) FROM runs").fetchall() == [(2,)]
    assert warnings == []


def test_a_file_or_broken_link_in_place_of_a_batch_is_damage(store, tmp_path):
    import_into(store, write_log(tmp_path / "1.yaml"))
    (name,) = store.lake.batch_names()
    (store.lake.path / name).rename(tmp_path / "moved")
    (store.lake.path / name).write_bytes(b"x")
    with pytest.raises(StoreDamaged, match=name):
        store.lake.folders()
    (store.lake.path / name).unlink()
    (store.lake.path / "elsewhere").symlink_to(tmp_path / "missing")
    with pytest.raises(StoreDamaged, match="elsewhere"):
        store.lake.folders()
