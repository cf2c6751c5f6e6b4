"""Published Delta tables have the rows of the warehouse, for every engine, and no others."""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import duckdb
import polars as pl
import pytest
from delta_cases import (
    GONE,
    NAMES,
    add_run,
    add_secret,
    check_equals_warehouse,
    data_files,
    in_warehouse,
    published,
    rows_in,
    run_rows,
    snapshot,
    traces,
)
from deltalake import DeltaTable
from support import (
    REFERENCE,
    ROOT,
    SECRET,
    add_rows,
    command,
    import_into,
    log,
    needs_reference,
    new_store,
    task,
    write_log,
)

from exports.delta import changes, publication, state
from exports.delta.command import publish_tables
from exports.delta.state import PublicFolder
from exports.delta.tables import TABLES
from ingest.stores.copy import copy_store
from warehouse.app.store import Store
from warehouse.core.errors import BadInput, EvalstoreError, ExitCode, StoreBusy, StoreDamaged
from warehouse.engine.base_store import EvalstoreWarning
from warehouse.lake import delta_log, places
from warehouse.lake.compaction import merge_small
from warehouse.lake.delta_log import DeltaLog
from warehouse.lake.forgetting import forget

FIGURES = """
SELECT suite, is_replay, count(*), round(sum(cost_usd), 9), avg(passed::INT), count(duplicate_of)
FROM results GROUP BY ALL ORDER BY ALL
"""


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A store with a replaced, a forgotten, a repeated and a replayed run."""
    folder = tmp_path_factory.mktemp("original")
    store = new_store(folder / "store")
    import_into(store, write_log(folder / "logs/a.yaml", log((1, 2))))
    import_into(store, write_log(folder / "logs/a.yaml", log((1, 2, 3))))
    import_into(store, write_log(folder / "logs/b.yaml", log((2, 3, 4))), run_as="second")
    add_secret(store, folder)
    forget(store.lake, GONE)
    add_run(store, 1)
    add_run(store, 2, suite="others")
    replay = run_rows(3)
    for row in replay["results"]:
        row["provider"] = "replay"
    add_rows(store.lake, **replay)
    store.sync(rebuild=True)
    return store


@pytest.fixture
def made(original, tmp_path):
    """A copy of the original, which a test may change."""
    shutil.copytree(original.path, tmp_path / "store")
    return new_store(tmp_path / "store")


@pytest.mark.slow
def test_the_tables_have_the_rows_of_the_warehouse(made, tmp_path):
    publish_tables(made, tmp_path / "out")
    check_equals_warehouse(made, tmp_path / "out")
    results = published(tmp_path / "out", "results")
    assert (results["is_replay"].sum(), results["duplicate_of"].count()) == (2, 2)
    with duckdb.connect() as connection:
        connection.register("results", results)
        figures = connection.execute(FIGURES).fetchall()
    query = FIGURES.replace("passed::INT", "coalesce(is_correct, objective_pass, computed)::INT")
    assert figures == made.sql(query.replace("results", "scores.resolved_results", 1)).fetchall()


@pytest.mark.slow
def test_every_engine_can_read_the_tables(made, tmp_path):
    """Protocol (1, 2), times with a zone, no type that engines lack, and columns with meanings."""
    publish_tables(made, tmp_path / "out")
    kinds = set()
    for name in [*NAMES, "snapshots"]:
        table = DeltaTable(str(tmp_path / "out/public" / name))
        protocol = table.protocol()
        assert (protocol.min_reader_version, protocol.min_writer_version) == (1, 2)
        assert table.metadata().partition_columns == []
        for field in table.schema().fields:
            assert field.metadata["comment"], (name, field.name)
            kinds.add(str(field.type).split("(")[1].split(",")[0].strip('")'))
    assert kinds <= {"string", "long", "integer", "double", "boolean", "date", "timestamp"} | {
        *("PrimitiveType", "ArrayType", "MapType", "StructType")
    }


@pytest.mark.slow
def test_no_absolute_path_is_published(made, tmp_path):
    """Neither of new tables nor of those whose columns change."""
    folder = str(tmp_path.parent).encode()  # the logs and the original store are in it, too
    for without_text in (False, True):
        publish_tables(made, tmp_path / "out", without_text=without_text)
        files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
        assert [path for path in files if folder in path.read_bytes()] == []
        check_equals_warehouse(made, tmp_path / "out", with_text=not without_text)


@pytest.mark.slow
def test_the_summary_says_which_tables_were_written(store, tmp_path):
    add_run(store, 1)
    notes = publish_tables(store, tmp_path / "out").notes
    assert notes == ["publication 1: wrote 9 files of 9 tables; 7 tables have no rows"]
    add_rows(store.lake, runs=run_rows(2)["runs"])
    [note] = publish_tables(store, tmp_path / "out").notes
    assert note == "publication 2: wrote 1 file of 1 table; 15 tables as before"
    for n in (1, 2):
        forget(store.lake, ("toys", f"run-{n}"))
    [note] = publish_tables(store, tmp_path / "out").notes
    assert note == (
        "publication 3: wrote 0 files of 0 tables; 9 tables have no rows; 7 tables as before"
    )


@pytest.mark.slow
def test_the_log_has_bounds_of_names_and_times_only(made, tmp_path):
    publish_tables(made, tmp_path / "out")
    actions = pl.DataFrame(DeltaTable(str(tmp_path / "out/public/results")).get_add_actions())
    low = {field.name for field in actions.schema["min"].fields}
    assert low == {"suite", "run_id", "model", "task_set", "started_at"}
    assert actions["num_records"].sum() == len(published(tmp_path / "out", "results"))
    for row in actions.rows(named=True):
        file = pl.read_parquet(tmp_path / "out/public/results" / row["path"])
        for name in low:
            bounds = (row["min"][name], row["max"][name])
            assert bounds == (file[name].min(), file[name].max()), name


@pytest.mark.slow
def test_a_file_has_whole_runs_of_one_suite(made, tmp_path, monkeypatch):
    monkeypatch.setattr(changes, "_FILE_BYTES", 250)
    publish_tables(made, tmp_path / "out")
    places = Counter()
    for path in (tmp_path / "out/public/results").glob("*.parquet"):
        runs = set(pl.read_parquet(path).select("suite", "run_id").rows())
        assert len({suite for suite, _ in runs}) == 1
        places.update(runs)
    assert set(places.values()) == {1}
    assert len(places) == len(data_files(tmp_path / "out") & {
        path.relative_to(tmp_path / "out/public")
        for path in (tmp_path / "out/public/results").iterdir()
    })  # fmt: skip
    check_equals_warehouse(made, tmp_path / "out")


@pytest.mark.slow
def test_without_text_no_prompt_or_answer_is_published(store, tmp_path):
    secret = task(1, answer=SECRET)
    import_into(store, write_log(tmp_path / "a.yaml", tasks=[secret]))
    publish_tables(store, tmp_path / "out", without_text=True)
    for text in (SECRET, secret["prompt"], "Vastaa"):
        assert traces(tmp_path / "out", text) == []
    check_equals_warehouse(store, tmp_path / "out", with_text=False)
    assert pl.read_delta(str(tmp_path / "out/public/snapshots"))["with_text"].to_list() == [
        False
    ] * len(TABLES)
    publish_tables(store, tmp_path / "out")
    check_equals_warehouse(store, tmp_path / "out")
    assert traces(tmp_path / "out", SECRET) != []
    publish_tables(store, tmp_path / "out", without_text=True)
    assert traces(tmp_path / "out", SECRET) == []


@pytest.mark.slow
def test_a_dry_run_writes_nothing(made, tmp_path):
    exported = publish_tables(made, tmp_path / "out", dry_run=True)
    assert "results: 12 rows to write (0.0 MB), 0 stay" in exported.notes
    assert not (tmp_path / "out").exists()
    publish_tables(made, tmp_path / "out")
    assert (
        "results: 0 rows to write (0.0 MB), 12 stay"
        in publish_tables(made, tmp_path / "out", dry_run=True).notes
    )


def test_other_folders_are_refused(store, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(BadInput, match="holds something else"):
        publish_tables(store, tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / f".{state.MARK}.01M8JEZK6V2KA0PEF5EWQRD770").touch()  # of a kill
    PublicFolder(str(tmp_path / "out")).check()


@pytest.mark.slow
def test_what_needs_more_memory_is_published_without_the_limit(store, tmp_path, monkeypatch):
    add_run(store, 1)
    limits, write = [], publication.write_units

    def needs_three_gigabytes(connection, *arguments):
        query = "SELECT current_setting('memory_limit')"
        limits.extend(limit for (limit,) in connection.execute(query).fetchall())
        if limits[-1] == "1.8 GiB":
            raise duckdb.OutOfMemoryException("too little")
        return write(connection, *arguments)

    monkeypatch.setattr(publication, "write_units", needs_three_gigabytes)
    publish_tables(store, tmp_path / "out")
    assert limits[0] == "1.8 GiB" != limits[1]
    check_equals_warehouse(store, tmp_path / "out")


@pytest.mark.slow
def test_without_deltalake_the_command_names_the_extra(store, tmp_path):
    """In a process of its own, in which nothing has imported it."""
    code = "import sys; sys.modules['deltalake'] = None; import evalstore; evalstore.main()"
    arguments = ["--store", str(store.path), "publish", "delta", "--to", str(tmp_path / "out")]
    command = [sys.executable, "-c", code, *arguments]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == ExitCode.BAD_INPUT
    assert "pip install '.[delta]'" in process.stderr


@pytest.mark.slow
@pytest.mark.parametrize("dry_run", [False, True])
def test_the_folder_of_another_store_is_refused(store, tmp_path, dry_run):
    """Its runs would be deleted there. A copy may publish until the other store has more."""
    out = tmp_path / "out"
    add_run(store, 1)
    store.sync()
    shutil.copytree(store.path, tmp_path / "copy")
    other, copy = Store(tmp_path / "other"), Store(tmp_path / "copy")
    add_run(other, 1)
    publish_tables(store, out)
    with pytest.raises(BadInput, match=r"what this store lacks \(1 batches\)"):
        publish_tables(other, out, dry_run=dry_run)
    add_run(copy, 2)
    publish_tables(copy, out)
    with pytest.raises(BadInput, match="or of a newer copy of this one"):
        publish_tables(store, out, dry_run=dry_run)
    check_equals_warehouse(copy, out)
    [batch] = store.lake.batch_names()
    assert set(pl.read_delta(str(out / "public/snapshots"))["store_id"]) == {batch}


@pytest.mark.slow
@pytest.mark.parametrize("at", ["forget", "compact", "import"])
def test_a_store_may_publish_again_whatever_became_of_its_batches(store, tmp_path, at):
    for n in (1, 2):
        add_run(store, n)
    publish_tables(store, tmp_path / "out")
    if at == "import":
        first, store = store, Store(tmp_path / "importer")
        add_run(store, 3)
        copy_store(store.lake, first.path)
    elif at == "compact":
        merge_small(store.lake)
        add_run(store, 3)
    else:
        for n in (1, 2):
            forget(store.lake, ("toys", f"run-{n}"))
        add_run(store, 3)
    publish_tables(store, tmp_path / "out")
    check_equals_warehouse(store, tmp_path / "out")
    rows = pl.read_delta(str(tmp_path / "out/public/snapshots"))
    assert rows["store_id"].n_unique() == 1
    assert traces(tmp_path / "out", "answer 1") == [] or at != "forget"


# --- again


@pytest.mark.slow
def test_a_publication_writes_only_what_has_changed(made, tmp_path):
    out = tmp_path / "out"
    for n in range(10, 20):
        add_run(made, n, suite=f"suite-{n % 5}")
    publish_tables(made, out)
    first = data_files(out)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}
    assert publish_tables(made, out).notes == [f"publication 1 in {out} is up to date"]
    assert before.keys() == {path for path in out.rglob("*") if path.is_file()}

    add_run(made, 20, suite="suite-0")
    publish_tables(made, out)
    check_equals_warehouse(made, out)
    new = data_files(out) - first
    for path in new - {path for path in new if path.parts[0] == "snapshots"}:
        assert set(pl.read_parquet(out / "public" / path)["suite"]) == {"suite-0"}, path
    assert len({path for path in new if path.parts[0] == "results"}) == 1
    versions = snapshot(out)
    assert (versions["results"], versions["messages"]) == (1, 0)


@pytest.mark.slow
@pytest.mark.parametrize("change", ["replaced", "unmarked", "resolved"])
def test_what_other_files_decide_about_rows_is_published_again(made, tmp_path, change):
    """The digest of a run has what other runs and model files decide about its rows."""
    publish_tables(made, tmp_path / "out")
    before = published(tmp_path / "out", "results")
    if change == "replaced":
        path = write_log(tmp_path / "logs/a.yaml", log((1, 2, 3, 4, 5)))
        import_into(made, path)
    elif change == "unmarked":
        query = "FROM runs SELECT run_id WHERE suite = 'palindrome' AND run_id <> 'second'"
        [[run]] = made.sql(query).fetchall()
        forget(made.lake, ("palindrome", run))
    else:
        (tmp_path / "models").mkdir()
        (tmp_path / "models/kokeilu-1.yaml").write_text("name: known\n")
        import_into(made, tmp_path / "models/kokeilu-1.yaml")
    publish_tables(made, tmp_path / "out")
    check_equals_warehouse(made, tmp_path / "out")
    assert rows_in(published(tmp_path / "out", "results")) != rows_in(before)


@pytest.mark.campaign
def test_tables_equal_the_warehouse_through_a_random_history(store, tmp_path, monkeypatch):
    """New, replaced and forgotten runs, in files of about three runs."""
    monkeypatch.setattr(changes, "_FILE_BYTES", 700)
    out, chance, generations, answers = tmp_path / "out", random.Random(34), {}, {}
    files, n_kept = set(), 0
    for number in range(8):
        for n in chance.sample(range(8), 2):
            parent, generation = generations.get(n), f"{n} of {number}"
            generations[n] = generation if parent else "root"
            answers[n] = f"answer {generation}"
            rows = run_rows(n, texts=(answers[n], "other"))
            for i, row in enumerate((*rows["results"], *rows["runs"])):
                row |= {"generation": generations[n], "content_id": f"{generation}, {i}"}
            rows["runs"][0]["parent_generation"] = parent
            add_rows(store.lake, **rows)
        if number % 4 == 3:
            n = chance.choice(sorted(answers))
            forget(store.lake, ("toys", f"run-{n}"))
            del generations[n], answers[n]
        publish_tables(store, out)
        check_equals_warehouse(store, out)
        table = DeltaTable(str(out / "public/results"))
        results = published(out, "results")
        assert rows_in(pl.from_arrow(table.to_pyarrow_table())) == rows_in(results)
        assert set(results["answer"]) == {*answers.values(), "other"}
        before, files = files, {*table.file_uris()}
        n_kept += len(before & files)
        assert len(files) <= 6
    assert n_kept


@pytest.mark.slow
def test_the_snapshot_before_stays_readable(store, tmp_path, monkeypatch):
    """Of logs, what comes before a checkpoint that it does not need is deleted."""
    monkeypatch.setattr(delta_log, "_CHECKPOINT_EVERY", 2)
    out = tmp_path / "out"
    for n in range(1, 8):
        add_run(store, n)
        publish_tables(store, out)
        rows = pl.read_delta(str(out / "public/snapshots")).filter(table_name="results")
        for row in rows.sort("snapshot").rows(named=True):
            results = pl.read_delta(str(out / "public/results"), version=row["version"])
            assert len(results) == row["n_rows"] == 2 * row["snapshot"]
        assert sorted(rows["snapshot"]) == [n - 1, n][n == 1 :]
    for name in ("results", "snapshots"):
        commits = sorted((out / "public" / name / "_delta_log").glob("*.json"))
        assert [int(path.stem) for path in commits] == [3, 4, 5, 6]
        assert DeltaTable(str(out / "public" / name)).protocol()[:2] == (1, 2)


@pytest.mark.slow
def test_old_entries_of_a_log_that_stay_do_not_undo_a_publication(store, tmp_path, monkeypatch):
    def fails(*_):
        raise EvalstoreError("Delta's log cannot be written") from OSError("disk says no")

    add_run(store, 1)
    monkeypatch.setattr(DeltaLog, "clean", fails)
    ended = command(store.path, "publish", "delta", "--to", tmp_path / "out")
    assert ended.code == ExitCode.DONE, ended.err
    assert "warning: the publication is complete" in ended.err
    assert "disk says no" in ended.err
    check_equals_warehouse(store, tmp_path / "out")


# --- forgetting


@pytest.mark.slow
def test_nothing_of_a_forgotten_run_stays(made, tmp_path, monkeypatch):
    """Its text and names are in no byte below the folder, and nothing else is lost."""
    monkeypatch.setattr(delta_log, "_CHECKPOINT_EVERY", 2)
    out = tmp_path / "out"
    for n in range(10, 13):
        add_run(made, n)
        publish_tables(made, out)
    import_into(
        made, write_log(tmp_path / "s.yaml", tasks=[task(9, answer=SECRET)]), run_as="gone-1"
    )
    publish_tables(made, out)
    add_run(made, 14)
    publish_tables(made, out)
    for text in (SECRET, "gone-1"):
        assert traces(out, text)
    assert any(path.match("*.checkpoint.parquet") for path in traces(out, "gone-1"))
    forget(made.lake, ("palindrome", "gone-1"))
    made.sync(rebuild=True)
    publish_tables(made, out)
    for text in (SECRET, "gone-1"):
        assert traces(out, text) == []
    check_equals_warehouse(made, out)
    assert publish_tables(made, out).notes[0].endswith("is up to date")


@pytest.mark.slow
def test_forgetting_is_completed_by_a_publication_of_something_else(store, tmp_path, monkeypatch):
    out = tmp_path / "out"
    add_secret(store, tmp_path)
    publish_tables(store, out)
    forget(store.lake, GONE)
    finish = publication._finish
    monkeypatch.setattr(publication, "_finish", raise_interrupt)
    with pytest.raises(KeyboardInterrupt):
        publish_tables(store, out)
    monkeypatch.setattr(publication, "_finish", finish)
    assert traces(out, SECRET)
    add_run(store, 1)
    publish_tables(store, out)
    assert traces(out, SECRET) == []
    check_equals_warehouse(store, out)


def raise_interrupt(_public, publication):
    if publication.number > 1:
        raise KeyboardInterrupt


@pytest.mark.slow
def test_what_killed_publications_left_is_swept(made, tmp_path):
    out = tmp_path / "out"
    publish_tables(made, out)
    names = ("old.parquet", "_delta_log/.0.json.A", "_delta_log/1.json#1", "_delta_log/2.tmp")
    old = [out / "public/results" / name for name in names]
    new = out / "public/results/new.parquet"
    for path in (*old, new):
        shutil.copy(next((out / "public/results").glob("*.parquet")), path)
    for path in old:
        os.utime(path, (0, 0))
    publish_tables(made, out)
    assert all(path.exists() for path in old)
    assert "deleted 4 files" in publish_tables(made, out, sweep=True).notes[-1]
    assert (any(path.exists() for path in old), new.exists()) == (False, True)
    check_equals_warehouse(made, out)


@pytest.mark.slow
def test_a_damaged_store_is_not_published(made, tmp_path):
    """Its runs would pass for forgotten ones."""
    publish_tables(made, tmp_path / "out")
    before = data_files(tmp_path / "out")
    for path in made.lake.path.rglob("results.parquet"):
        path.write_bytes(b"damaged")
    made.warehouse.unlink()
    with pytest.warns(EvalstoreWarning), pytest.raises(StoreDamaged, match="batches are missing"):
        publish_tables(made, tmp_path / "out")
    assert data_files(tmp_path / "out") == before


# --- kills, and two at once

PUBLISH = """
import sys
from pathlib import Path
from exports.delta.command import publish_tables
import exports.delta.publication
from warehouse.app.store import Store
from tests.campaigns.killing import _kill_at_operation
_kill_at_operation(int(sys.argv[3]))
publish_tables(Store(Path(sys.argv[1])), Path(sys.argv[2]))
"""


@pytest.mark.slow
def test_a_killed_publication_leaves_a_snapshot_and_is_continued(made, tmp_path):
    """Killed at some operations while it adds a run and forgets another one."""
    out = tmp_path / "out"
    secret = write_log(tmp_path / "s.yaml", tasks=[task(8, answer=SECRET)])
    import_into(made, secret, run_as="gone-1")
    publish_tables(made, out)
    assert traces(out, SECRET)
    states = [rows_in(published(out, "results"))]
    forget(made.lake, ("palindrome", "gone-1"))
    add_run(made, 10)
    made.sync(rebuild=True)
    [table] = (table for table in TABLES if table.name == "results")
    with made.reading() as connection:
        states.append(rows_in(in_warehouse(connection, table)))
    for operation in range(20, 1000, 25):
        arguments = (made.path, out, str(operation))
        ended = subprocess.run([sys.executable, "-c", PUBLISH, *arguments], cwd=ROOT, check=False)
        if ended.returncode == 0:
            break
        assert ended.returncode == -signal.SIGKILL
        assert rows_in(published(out, "results")) in states
    assert operation > 50
    check_equals_warehouse(made, out)
    assert traces(out, SECRET) == []


@pytest.mark.slow
def test_the_second_of_two_publications_says_so(made, tmp_path):
    busy = pytest.raises(StoreBusy, match="another `evalstore publish` is writing there")
    with PublicFolder(str(tmp_path / "out")).writing(), busy:
        publish_tables(made, tmp_path / "out")
    publish_tables(made, tmp_path / "out")


@pytest.mark.slow
@pytest.mark.parametrize("at", ["commit", "add"])
def test_without_locks_one_of_two_publications_wins(made, tmp_path, monkeypatch, at):
    """As of two machines: another one publishes while this one has written its files."""
    out = tmp_path / "out"
    publish_tables(made, out)
    add_run(made, 10)
    monkeypatch.setattr(places, "_lock", lambda *_: None)
    owner = DeltaLog if at == "commit" else PublicFolder
    original = getattr(owner, at)

    def after_another(*arguments):
        monkeypatch.setattr(owner, at, original)
        publish_tables(made, out)
        return original(*arguments)

    monkeypatch.setattr(owner, at, after_another)
    with pytest.raises(StoreBusy, match="another machine published meanwhile; publish again"):
        publish_tables(made, out)
    check_equals_warehouse(made, out)
    add_run(made, 12)
    publish_tables(made, out)
    check_equals_warehouse(made, out)
    assert data_files(out) >= {
        Path(name, path)
        for name in NAMES
        for path in pl.DataFrame(DeltaTable(str(out / "public" / name)).get_add_actions())["path"]
    }


# --- what the docs print

BLOCKS = re.findall(
    r"```(python|sql)\n(.*?)```", (ROOT / "docs/publishing.md").read_text(), re.DOTALL
)
PYTHON = [text for kind, text in BLOCKS if kind == "python"]
FIGURES_BY_SUITE = """
SELECT suite, count(*), sum(cost_usd), avg(coalesce(is_correct, objective_pass, computed)::INTEGER)
FROM scores.resolved_results GROUP BY suite
"""


def rounded(rows):
    return sorted(tuple(round(v, 9) if isinstance(v, float) else v for v in row) for row in rows)


def figures_of_engines(folder, monkeypatch):
    """Return the figures by suite that the code of the docs gives in each engine."""
    monkeypatch.chdir(folder)
    by_polars, by_deltalake = {}, {}
    exec(PYTHON[0], by_polars)
    exec(PYTHON[1], by_deltalake)
    figures = {"polars": by_polars["figures"].collect().rows()}
    rows = pl.from_arrow(by_deltalake["results"]).group_by("suite")
    columns = (pl.len(), pl.sum("cost_usd"), pl.mean("passed"))
    figures["deltalake"] = rows.agg(*columns).rows()
    if find_spec("duckdb_extension_delta") and duckdb.__version__.startswith("1.5.5"):
        import duckdb_extension_delta

        [extension] = Path(duckdb_extension_delta.__path__[0]).rglob("*.duckdb_extension")
        [(_, query)] = [block for block in BLOCKS if block[0] == "sql"]
        with duckdb.connect() as connection:
            connection.execute(f"LOAD '{extension}'")
            figures["DuckDB"] = connection.execute(query).fetchall()
    return figures


def check_figures(store, folder, monkeypatch):
    publish_tables(store, folder / "published")
    known = rounded((s, n, cost or 0.0, rate) for s, n, cost, rate in
                    store.sql(FIGURES_BY_SUITE).fetchall())  # fmt: skip
    for engine, rows in figures_of_engines(folder, monkeypatch).items():
        assert rounded((s, n, cost or 0.0, rate) for s, n, cost, rate in rows) == known, engine


@pytest.mark.slow
def test_the_code_of_the_docs_gives_the_figures_of_the_warehouse(made, tmp_path, monkeypatch):
    check_figures(made, tmp_path, monkeypatch)


@pytest.mark.skipif(
    not find_spec("duckdb_extension_delta"),
    reason="DuckDB's extension `delta` is not installed: `make test-oldest` has it",
)
def test_duckdb_reads_the_tables(made, tmp_path, monkeypatch):
    publish_tables(made, tmp_path / "published")
    assert "DuckDB" in figures_of_engines(tmp_path, monkeypatch)


@pytest.mark.slow
@needs_reference
def test_the_figures_of_the_reference_data(store, tmp_path, monkeypatch):
    folders = [path for path in sorted(REFERENCE.iterdir()) if path.is_dir()]
    import_into(store, *folders, redact=True)
    check_figures(store, tmp_path, monkeypatch)
    check_equals_warehouse(store, tmp_path / "published")
