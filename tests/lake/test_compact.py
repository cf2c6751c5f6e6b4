"""`evalstore compact`: fewer files, while every row of every view stays the same."""

import json
import random
import shutil

import duckdb
import pytest
from openclaw_cases import event, line, write_run
from support import (
    EXAMPLES,
    ROOT,
    SECRET,
    command,
    digests,
    import_into,
    log,
    new_store,
    task,
    traces,
    write_log,
)

from warehouse.core.errors import ExitCode
from warehouse.core.schemas import TABLES
from warehouse.lake.batch import Generation
from warehouse.lake.compaction import merge_small
from warehouse.lake.journal.journal import Entry, Journal
from warehouse.lake.lake import Lake
from warehouse.lake.locks import shared_lake_lock

POSTERS = ROOT / "examples" / "posters"


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Return a store of many small batches of every family: grown, replaced, forgotten."""
    folder = tmp_path_factory.mktemp("many")
    store = new_store(folder / "store")
    choice = random.Random(23)
    for step in range(8):
        numbers = sorted(choice.sample(range(1, 7), choice.randint(1, 5)))
        path = write_log(folder / f"{step}.yaml", log(tasks=[task(n) for n in numbers]))
        run_as = choice.choice([None, None, "toinen"])
        import_into(store, path, run_as=run_as, replace=choice.random() < 0.5)
    secret = write_log(folder / "secret.yaml", log(tasks=[task(9, answer=SECRET)]))
    import_into(store, secret, run_as="secret")
    write_run(folder / "r", line(), event())
    import_into(store, folder / "r")
    write_run(folder / "r", line(), event(), line())
    import_into(store, folder / "r")
    import_into(store, POSTERS / "benchmark")
    annotations = folder / "annotations"
    for title in ("one", "two", "one"):  # the newest record of a poster counts
        document = json.dumps({"events": [], "title": title})
        (annotations / "ann").mkdir(parents=True, exist_ok=True)
        (annotations / "ann" / "5fc63edbedab.json").write_text(document)
        command(store.path, "annotate", "import", annotations, "--dataset", "benchmark")
    for model in sorted((EXAMPLES / "models").iterdir())[:3]:
        import_into(store, model)
    run = Generation("mine", "r1")
    for n in (1, 2):
        with Journal(store.path, run) as journal:
            fields = {"content_id": f"c{n}", "seq": n, "prompt": f"p{n}"}
            header = Entry("runs", {"content_id": f"run{n}", "origin": "runner"})
            journal.append([header, Entry("results", fields)])
        store.recover_journals()
    store.sync()
    return store


@pytest.fixture
def lake_of_many(many, tmp_path):
    shutil.copytree(many.path, tmp_path / "many")
    return new_store(tmp_path / "many")


def everything(store):
    """Return digests of every row of every view and score, including its batch."""
    return digests(store, schemas=("main", "checks", "scores"), provenance=())


def rows_in_lake(store):
    """Return the number of rows of each table in all current batches."""
    folders = store.lake.folders()
    return {t.name: sum(f.files[t.name].rows for f in folders if t.name in f.files) for t in TABLES}


@pytest.mark.campaign
def test_nothing_but_the_files_changes(lake_of_many):
    store = lake_of_many
    before, rows, n_before = everything(store), rows_in_lake(store), len(store.lake.folders())
    parts = [batch.name for batch in store.lake.current()]
    ended = command(store.path, "compact")
    assert (ended.code, ended.err) == (0, f"{n_before} batches before, 1 now\n")
    report = store.sync()
    assert (report.loaded, report.rebuilt) == ((), False)
    assert everything(store) == before
    store.sync(rebuild=True)
    assert everything(store) == before
    assert [batch.name for batch in store.lake.current()] == parts
    assert rows_in_lake(store) == rows
    (folder,) = store.lake.folders()
    assert store.lake.batch_names() == {folder.name}
    store.lake.verify(folder)
    for name, file in folder.files.items():
        assert file.rows == sum(p.files[name].rows for p in folder.parts if name in p.files)
    again = command(store.path, "compact")
    assert again.err == "1 batch before, 1 now\n"


@pytest.mark.slow
def test_the_same_files_again_change_nothing(lake_of_many, many):
    store = lake_of_many
    merge_small(store.lake)
    names = store.lake.batch_names()
    folder = many.path.parent
    import_into(store, folder / "r", POSTERS / "benchmark", *sorted(folder.glob("[0-9].yaml")))
    import_into(store, folder / "secret.yaml", run_as="secret")
    assert store.lake.batch_names() == names


@pytest.mark.campaign
def test_the_store_is_the_same_whenever_it_is_compacted(store, tmp_path):
    choice = random.Random(1)
    plain = new_store(tmp_path / "plain")
    for step in range(6):
        numbers = sorted(choice.sample(range(1, 7), choice.randint(1, 5)))
        path = write_log(tmp_path / f"{step}.yaml", log(tasks=[task(n) for n in numbers]))
        options = {"run_as": choice.choice([None, None, "b"]), "replace": choice.random() < 0.5}
        outcomes = [import_into(each, path, **options).outcomes for each in (store, plain)]
        assert outcomes[0] == outcomes[1]
        if choice.random() < 0.5:
            merge_small(store.lake)
        if choice.random() < 0.5:
            store.sync()
    merge_small(store.lake)
    expected = digests(plain)
    assert digests(store) == expected
    store.sync(rebuild=True)
    assert digests(store) == expected


@pytest.mark.campaign
def test_forget_leaves_no_trace_and_keeps_the_rest(lake_of_many, many):
    store, whole = lake_of_many, digests(many)
    merge_small(store.lake)
    assert command(store.path, "forget", "secret", "--yes").code == 0
    merge_small(store.lake)
    views = digests(store)  # synced, not rebuilt: the text must not be in free blocks either
    assert not traces(store, SECRET)
    assert views["main.results"] != whole["main.results"]
    # A forgotten run returns only with --restore, and then everything is as before.
    secret = many.path.parent / "secret.yaml"
    assert import_into(store, secret, run_as="secret").outcomes == {"forgotten": 1}
    import_into(store, secret, run_as="secret", restore=True)
    merge_small(store.lake)
    assert digests(store) == whole


def test_traces_are_found(many):
    assert {path.name for path in traces(many, SECRET)} >= {"results.parquet", "warehouse.duckdb"}


def test_compact_waits_for_readers(lake_of_many, monkeypatch):
    defaults = Lake.rewriting.__wrapped__.__kwdefaults__
    monkeypatch.setitem(defaults, "wait_seconds", 0)
    names = lake_of_many.lake.batch_names()
    with shared_lake_lock(lake_of_many.path):
        ended = command(lake_of_many.path, "compact")
    assert (ended.code, "is reading the lake" in ended.err) == (ExitCode.BUSY, True)
    assert lake_of_many.lake.batch_names() == names


def test_a_damaged_batch_is_named_and_nothing_is_merged(lake_of_many):
    store = lake_of_many
    names = store.lake.batch_names()
    path = store.lake.path / sorted(names)[3] / "runs.parquet"
    path.write_bytes(path.read_bytes()[:-4] + b"PAR2")
    ended = command(store.path, "compact")
    assert (ended.code, str(path) in ended.err) == (2, True)
    assert store.lake.batch_names() == names


def test_large_batches_are_not_merged(lake_of_many, monkeypatch):
    monkeypatch.setattr("warehouse.lake.compaction.SMALL_BYTES", 1)
    n = len(lake_of_many.lake.batch_names())
    assert command(lake_of_many.path, "compact").err == f"{n} batches before, {n} now\n"


def test_sync_suggests_a_compact(lake_of_many, monkeypatch):
    assert "compact" not in command(lake_of_many.path, "sync").err
    monkeypatch.setattr("warehouse.lake.compaction.MANY_SMALL", 5)
    assert "`evalstore compact`" in command(lake_of_many.path, "sync").err
    command(lake_of_many.path, "compact")
    assert "compact" not in command(lake_of_many.path, "sync").err


def test_any_parquet_tool_reads_merged_and_other_batches(lake_of_many, tmp_path):
    merge_small(lake_of_many.lake)
    import_into(lake_of_many, write_log(tmp_path / "x.yaml", log([1], date="2026-09-09")))
    with duckdb.connect() as connection:
        pattern = str(lake_of_many.lake.path / "*" / "results.parquet")
        rows = connection.execute(
            "SELECT count(*), count(DISTINCT batch) FROM read_parquet($p, union_by_name = true)",
            {"p": pattern},
        ).fetchall()
    assert rows[0][0] == rows_in_lake(lake_of_many)["results"]
    assert rows[0][1] > 5
