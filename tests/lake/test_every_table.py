"""A row in every table of the lake: all that changes the lake treats every table alike."""

import json
from datetime import UTC, datetime

import pytest
from support import PROVENANCE, command, import_into, new_store, traces

import ingest.readers
from ingest.format import Reader, small_file
from ingest.readers import READERS
from ingest.reading import Block, Reading, Reject, Stream
from ingest.reconciliation import FileOutcome
from warehouse.core.formats.yaml.fields import Violation
from warehouse.core.hashing import content_hash
from warehouse.core.schemas import TABLES

SUITE = "toy"
# The import writes these from what a reading says about its files.
BY_THE_IMPORT = {"files", "quarantine", "violations"}
STREAMED = {"results", "events", "judgements", "result_scores", "reported_metrics", "messages"}
KEY = "sk-" + "a1b2c3d4" * 4


def row(table, word):
    """Return a row with a value in every column, and a word in every text."""
    values = {
        "VARCHAR": word,
        "JSON": json.dumps({"text": word}),
        "VARCHAR[]": [word],
        "BLOB": word.encode(),
        "BIGINT": 1,
        "INTEGER": 1,
        "DOUBLE": 0.5,
        "BOOLEAN": True,
        "TIMESTAMP": datetime(2026, 4, 1, tzinfo=UTC),
    }
    row = {column.name: values[column.type] for column in table.columns}
    named = {"suite": SUITE, "run_id": word, "result_id": content_hash("results", word)}
    row |= {name: value for name, value in named.items() if name in row}
    row["content_id"] = content_hash(table.name, word)
    return {name: row[name] for name in row if name not in {"generation", "parent_generation"}}


def rows(word, file_sha256):
    found = {t.name: [row(t, word)] for t in TABLES if t.name not in BY_THE_IMPORT}
    for of_table in found.values():
        if "file_sha256" in of_table[0]:
            of_table[0]["file_sha256"] = file_sha256
    return found


def read_whole(file, _context):
    word = file.data.decode().strip()
    return Reading(
        "toy",
        rows=rows(word, file.sha256),
        run=(SUITE, word),
        rejects=[Reject("damaged", 1, 0, word.encode())],
        violations=[Violation(1, word, "rule", word)],
    )


def read_stream(path, _context):
    word = path.read_text().strip()

    def blocks():
        streamed = {
            name: [{k: v for k, v in found[0].items() if k not in {"suite", "run_id"}}]
            for name, found in rows(word, None).items()
            if name in STREAMED
        }
        yield Block(path=path, run_id=word, rows=streamed)

    stream = Stream(paths=(path,), tables=tuple(STREAMED), blocks=blocks)
    yield Reading("toy stream", run=(SUITE, word), stream=stream)


@pytest.fixture(autouse=True)
def _toys(monkeypatch):
    toys = (
        Reader("toy", lambda c: c.path.suffix == ".toy", small_file(read_whole)),
        Reader("toy stream", lambda c: c.path.suffix == ".toys", read_stream),
    )
    monkeypatch.setattr(ingest.readers, "READERS", (*toys, *READERS))


def content(store):
    """Return the rows of every table, without their origin."""
    with store.reading() as connection:
        tables = {
            t.name: connection.sql(f"SELECT {columns(t)} FROM lake.{t.name}").fetchall()
            for t in TABLES
        }
    return {name: sorted(map(repr, found)) for name, found in tables.items()}


def columns(table):
    return ", ".join(name for name in table.column_names if name not in PROVENANCE)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["toy", "toys"])
def test_every_table_survives(store, tmp_path, suffix):
    kept, gone = (tmp_path / f"{word}.{suffix}" for word in ("kept", "zebrafish"))
    for path in (kept, gone):
        path.write_text(path.stem)
        import_into(store, path)
    before = content(store)
    expected = {t.name for t in TABLES} if suffix == "toy" else {*STREAMED, "runs", "files"}
    assert {name for name, found in before.items() if len(found) == 2} == expected
    assert dict(import_into(store, kept, gone).outcomes) == {FileOutcome.UNCHANGED: 2}
    assert command(store.path, "compact").err == "2 batches before, 1 now\n"
    store.sync(rebuild=True)
    assert content(store) == before
    assert command(store.path, "info", "--verify").code == 0

    assert command(store.path, "forget", "zebrafish", "--yes").code == 0
    never = new_store(tmp_path / "never")
    import_into(never, kept)
    left, expected_left = content(store), content(never)
    for table in TABLES:
        # Tasks, models and so on from files stay: other runs may need them.
        if table.of_run or table.about_run or table.name in BY_THE_IMPORT:
            assert left[table.name] == expected_left[table.name], table.name
    if suffix == "toys":
        assert left == expected_left
        assert traces(store, "zebrafish") == []


@pytest.mark.slow
def test_every_table_is_masked(store, tmp_path):
    (tmp_path / "a.toy").write_text(KEY)
    import_into(store, tmp_path / "a.toy", redact=True)
    tables = content(store)
    assert all(found for found in tables.values())
    assert KEY not in repr(tables)
    assert traces(store, KEY) == []
