"""The warehouse has the lake's content, however it was brought up to date."""

import json
import random
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import duckdb
import pyarrow.parquet as pq
import pytest
from support import (
    DAMAGED,
    EXAMPLES,
    PALINDROME,
    ROOT,
    child,
    digests,
    environment,
    import_into,
    log,
    needs_reference,
    new_store,
    task,
    write_log,
)

from warehouse.core.hashing import file_sha256
from warehouse.engine.connection import limit_memory, open_for_writing
from warehouse.engine.tables import definitions, score_tables
from warehouse.engine.tables.runs import Runs
from warehouse.engine.views.sql_files import shipped_sql

DEFINED = """
    SELECT function_name FROM duckdb_functions() WHERE function_type = 'macro' AND NOT internal
    UNION SELECT table_name FROM duckdb_tables() UNION SELECT view_name FROM duckdb_views()
    ORDER BY ALL
"""
LIMIT = "SELECT parse_formatted_bytes(current_setting('memory_limit'))"
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))]
LOGS = sorted((EXAMPLES / "benchmark_logs").glob("*.yaml"))
OTHERS = sorted([*(EXAMPLES / "models").glob("*.yaml"), *(EXAMPLES / "tasks").glob("*.yaml")])


@pytest.fixture(scope="module")
def at_once(tmp_path_factory):
    """Return digests of the examples and damaged files, imported together."""
    store = new_store(tmp_path_factory.mktemp("at-once") / "store")
    import_into(store, EXAMPLES, DAMAGED)
    return digests(store)


@pytest.mark.campaign
def test_digests_show_differences(examples, tmp_path):
    before = digests(examples)
    assert len(before) >= 20
    assert {"main.leaderboard", "checks.violations"} <= before.keys()
    import_into(examples, write_log(tmp_path / "one.yaml", log([1])))
    changed = {view for view, digest in digests(examples).items() if digest != before[view]}
    assert {"main.results", "main.runs", "main.leaderboard", "main.files"} <= changed
    assert "main.tasks" not in changed


@pytest.mark.campaign
def test_the_same_import_again_changes_nothing(store, at_once):
    import_into(store, EXAMPLES, DAMAGED)
    batches = store.lake.batch_names()
    import_into(store, EXAMPLES, DAMAGED)
    import_into(store, DAMAGED, EXAMPLES, EXAMPLES)
    assert store.lake.batch_names() == batches
    assert digests(store) == at_once


@pytest.mark.slow
def test_paths_written_in_another_way_are_the_same_files(store, at_once, monkeypatch):
    import_into(store, EXAMPLES, DAMAGED)
    monkeypatch.chdir(EXAMPLES)
    import_into(store, ".", "../damaged", "./benchmark_logs/../benchmark_logs")
    assert digests(store) == at_once


@pytest.mark.campaign
@pytest.mark.parametrize("seed", SEEDS[:2])
def test_any_split_and_order_give_the_same(store, at_once, seed):
    choice = random.Random(seed)
    files = [*LOGS, *OTHERS, *DAMAGED.glob("*.yaml")]
    choice.shuffle(files)
    while files:
        n = choice.randint(1, 9)
        import_into(store, *files[:n])
        del files[:n]
        if choice.random() < 0.6:
            store.sync()
    assert digests(store) == at_once
    store.sync(rebuild=True)
    assert digests(store) == at_once


def _one_history(store, folder, choice):
    """Import grown, partial, replaced and renamed logs of a few runs in random order.

    Two paths may be of one model, which shows when their files arrive.
    """
    names = [choice.choice("mn") for _ in range(2)]
    for step in range(8):
        numbers = sorted(choice.sample(range(1, 7), choice.randint(1, 5)))
        tasks = [task(n) for n in numbers] + [task(1)] * choice.randint(0, 1)
        fields = {"prompt_template": choice.choice(["A {prompt}", "B {prompt}"])}
        if choice.random() < 0.3:
            fields["run_note"] = choice.choice("xy")
        if choice.random() < 0.3:
            tasks = [{k: v for k, v in record.items() if k != "timestamp"} for record in tasks]
        number = choice.randint(0, 1)
        fields["model"] = f"models/kokeilu-{number + 1}.yaml"
        if choice.random() < 0.4:
            file = folder / fields["model"]
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"name: {names[number]}\n")
            import_into(store, file)
        path = write_log(folder / f"{step}.yaml", log(tasks=tasks, **fields))
        run_as = choice.choice([None, None, "toinen", "kolmas"])
        import_into(store, path, run_as=run_as, replace=choice.random() < 0.5)
        if choice.random() < 0.5:
            store.sync()


@pytest.mark.campaign
@pytest.mark.parametrize("seed", SEEDS)
def test_a_rebuild_equals_every_sequence_of_syncs(store, tmp_path, seed):
    choice = random.Random(seed)
    _one_history(store, tmp_path, choice)
    before = digests(store, schemas=("main", "checks", "scores"))
    # The batches in another order, some of them together, into another warehouse.
    other = new_store(tmp_path / "other")
    names = sorted(store.lake.batch_names())
    choice.shuffle(names)
    for name in names:
        shutil.copytree(store.lake.path / name, other.lake.path / name)
        if choice.random() < 0.5:
            other.sync()
    assert digests(other, schemas=("main", "checks", "scores")) == before
    store.sync(rebuild=True)
    assert digests(store, schemas=("main", "checks", "scores")) == before


@pytest.mark.campaign
def test_scores_follow_later_tasks(store):
    import_into(store, *LOGS)
    store.sync()
    import_into(store, *OTHERS)
    later = digests(store)
    store.sync(rebuild=True)
    assert digests(store) == later


def test_current_batches_are_not_loaded_again(examples):
    report = examples.sync()
    assert (report.loaded, report.damaged, report.rebuilt) == ((), (), False)


@pytest.mark.slow
def test_only_new_batches_are_loaded(examples, tmp_path):
    import_into(examples, write_log(tmp_path / "one.yaml"))
    report = examples.sync()
    assert (len(report.loaded), report.rebuilt) == (1, False)


@pytest.mark.slow
def test_a_query_sees_the_latest_import(store, tmp_path):
    import_into(store, write_log(tmp_path / "a.yaml", log([1])))
    query = store.sql("SELECT count(*) FROM results")
    assert query.fetchall() == [(1,)]
    import_into(store, write_log(tmp_path / "b.yaml", log([1, 2])))
    assert query.fetchall() == [(2,)]


@pytest.mark.campaign
def test_changed_definitions_rebuild_the_views(examples, monkeypatch):
    examples.sync()
    before = digests(examples)
    monkeypatch.setattr("warehouse.engine.tables.definitions.digest", lambda: "other")
    report = examples.sync()
    assert (report.loaded, report.rebuilt) == ((), False)
    assert digests(examples) == before


@pytest.mark.campaign
def test_a_large_warehouse_is_rebuilt_for_changed_definitions(examples, monkeypatch):
    examples.sync()
    before = digests(examples)
    [(n_results,)] = examples.sql("SELECT count(*) FROM lake.results").fetchall()
    monkeypatch.setattr("warehouse.engine.tables.sync._MOST_REDEFINED", n_results - 1)
    monkeypatch.setattr("warehouse.engine.tables.definitions.digest", lambda: "other")
    assert examples.sync().rebuilt
    assert digests(examples) == before


@pytest.mark.slow
def test_definitions_of_another_version_are_dropped(examples, monkeypatch):
    examples.sync()
    with duckdb.connect(str(examples.warehouse)) as connection:
        names = connection.execute(DEFINED).fetchall()
        connection.execute(
            "CREATE MACRO former(a) AS a; CREATE VIEW former_view AS SELECT 1 AS a;"
            "CREATE TABLE scores.former_score (a INTEGER);"
            "INSERT INTO lake.meta VALUES ('made of former_score', 'x');"
            # A table may become a view, and vice versa.
            "DROP TABLE scores.palindrome_verdicts;"
            "CREATE VIEW scores.palindrome_verdicts AS SELECT 1 AS a;"
            "DELETE FROM lake.meta WHERE key = 'made of palindrome_verdicts'"
        )
    monkeypatch.setattr("warehouse.engine.tables.definitions.digest", lambda: "other")
    assert not examples.sync().rebuilt
    assert examples.sql(DEFINED).fetchall() == names
    assert examples.sql("FROM lake.meta WHERE key LIKE '%former%'").fetchall() == []


@pytest.mark.slow
def test_a_changed_scorer_recomputes_every_verdict(examples, monkeypatch):
    before = examples.sql("SELECT count(*) FROM verdicts WHERE computed").fetchall()
    monkeypatch.setattr(
        "warehouse.engine.tables.score_tables.code_digest", lambda: "another scorer"
    )
    monkeypatch.setattr("warehouse.engine.tables.definitions.digest", lambda: "another scorer")
    monkeypatch.setattr(
        "warehouse.engine.scoring.palindrome.is_correct", lambda _answer, _reference: False
    )
    examples.sync()
    assert before != [(0,)]
    assert examples.sql("SELECT count(*) FROM verdicts WHERE computed").fetchall() == [(0,)]


class Explained:
    """A connection that keeps how many rows of each table its statements read."""

    def __init__(self, connection):
        self._connection, self.read = connection, Counter()

    def execute(self, query, parameters=()):
        explained = f"EXPLAIN (ANALYZE, FORMAT JSON) {query}"
        [(_, plan)] = self._connection.execute(explained, parameters).fetchall()
        for table, n_rows in scans(json.loads(plan)):
            self.read[table] += n_rows


def scans(plan):
    """Yield the table and rows of each scan; versions of DuckDB name their parts differently."""
    if isinstance(plan, dict) and "Table" in (plan.get("extra_info") or ()):
        table = plan["extra_info"]["Table"].rpartition(".")[2]
        yield table, plan.get("intermediate_rows", plan.get("operator_cardinality"))
    for part in plan.values() if isinstance(plan, dict) else plan:
        if isinstance(part, dict | list):
            yield from scans(part)


@pytest.mark.parametrize(
    "file", [file for file in shipped_sql() if file.is_by_run], ids=lambda file: file.name
)
def test_the_rows_of_a_run_do_not_take_a_look_at_the_results_of_others(file, examples):
    examples.sync()
    with open_for_writing(examples.warehouse, wait_seconds=0) as connection:
        explained = Explained(connection)
        none = Runs("changed_runs", 1, {file.family: ("none", "none")}, are_new=True)
        score_tables.replace_runs(explained, file, [none])
        assert not explained.read["results"] + explained.read["task_facts"]
        # What is read is seen at all.
        explained.execute("SELECT max(content_id) FROM lake.results")
        assert explained.read["results"]


def test_a_table_of_one_suite_is_not_planned_for_runs_of_others(store):
    [table] = [file for file in shipped_sql() if file.name == "inspect_steps"]
    table = replace(table, sql="FROM nowhere")
    with open_for_writing(store.warehouse, wait_seconds=0) as connection:
        others = Runs("changed_runs", 1, {"palindrome": ("none", "none")}, are_new=True)
        score_tables.replace_runs(connection, table, [others])
        its_own = Runs("changed_runs", 1, {"inspect": ("none", "none")}, are_new=True)
        with pytest.raises(duckdb.CatalogException, match="nowhere"):
            score_tables.replace_runs(connection, table, [its_own])


def test_whether_a_score_may_have_rows_of_changed_runs():
    """Results are marked with verdicts only then: of a new run, an equal and an emptied one."""
    [score] = [file for file in shipped_sql() if file.name == "zeroeval_verdicts"]
    names = "suite TEXT, run_id TEXT, content_id TEXT"
    answer = ("zeroeval", "r", "c", "crux", "7", "7")
    with duckdb.connect() as con:
        con.execute("CREATE SCHEMA scores")
        inputs = (
            f"scores.zeroeval_verdict_inputs ({names}, task_set TEXT, answer TEXT, target TEXT)"
        )
        con.execute(f"CREATE TABLE {inputs}")
        computed = "is_correct BOOLEAN, violation TEXT, input_hash UBIGINT"
        con.execute(f"CREATE TABLE {score.qualified} ({names}, {computed})")

        def may_have(*, are_new):
            runs = Runs("changed_runs", 1, {"zeroeval": ("r", "r")}, are_new=are_new)
            scope = score_tables.Scope({"zeroeval"}, set(), runs, ())
            return score_tables.update_scores(con, [score], scope)

        assert not may_have(are_new=True)
        con.execute("INSERT INTO scores.zeroeval_verdict_inputs VALUES (?, ?, ?, ?, ?, ?)", answer)
        assert may_have(are_new=True)
        assert may_have(are_new=False)
        con.execute("DELETE FROM scores.zeroeval_verdict_inputs")
        assert may_have(are_new=False)
        assert not may_have(are_new=False)


@pytest.mark.slow
def test_changed_statistics_recompute_every_test(examples, monkeypatch):
    tests = "SELECT test_key, p_value FROM scores.pair_tests ORDER BY ALL"
    before = examples.sql(tests).fetchall()
    with open_for_writing(examples.warehouse, wait_seconds=0) as connection:
        connection.execute("UPDATE scores.pair_tests SET p_value = 2")
    monkeypatch.setattr(definitions, "statistics_digest", lambda: "another formula")
    monkeypatch.setattr(definitions, "digest", definitions.digest.__wrapped__)
    assert not examples.sync().rebuilt
    assert examples.sql(tests).fetchall() == before != []


def test_calls_that_a_former_version_took_for_duplicates_count(examples, monkeypatch):
    duplicates = "SELECT count(*) FROM lake.results WHERE duplicate_of IS NOT NULL"
    before = examples.sql(duplicates).fetchall()
    with open_for_writing(examples.warehouse, wait_seconds=0) as connection:
        connection.execute("UPDATE lake.results SET duplicate_of = 'another run'")
    monkeypatch.setattr("warehouse.engine.tables.definitions.digest", lambda: "other")
    assert not examples.sync().rebuilt
    assert examples.sql(duplicates).fetchall() == before


def test_a_score_whose_inputs_are_unchanged_is_not_planned(examples):
    examples.sync()
    [score] = [file for file in shipped_sql() if file.name == "palindrome_verdicts"]
    with open_for_writing(examples.warehouse, wait_seconds=0) as connection:
        count = f"SELECT count(*) FROM {score.qualified}"
        before = connection.execute(count).fetchone()
        score_tables._update(connection, replace(score, sql="FROM nowhere"), None)
        assert connection.execute(count).fetchone() == before != (0,)
        connection.execute(f"DELETE FROM {score.qualified}")
        score_tables._update(connection, score, None)
        assert connection.execute(count).fetchone() == before


@pytest.mark.campaign
def test_the_warehouse_works_in_any_client_without_our_functions(examples):
    examples.sync()
    code = (
        "import duckdb, sys\n"
        "con = duckdb.connect(sys.argv[1], read_only=True)\n"
        "views = con.sql(\"SELECT schema_name || '.' || view_name FROM duckdb_views()"
        ' WHERE NOT internal").fetchall()\n'
        "print(len(views), [con.sql('FROM ' + view).fetchall() and 0 for (view,) in views][-1])\n"
    )
    ended = child("-c", code, examples.warehouse, cwd="/")
    assert (ended.code, ended.err) == (0, "")
    assert int(ended.out.split()[0]) >= 20


IMPORT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from ingest.importer import import_paths
from ingest.reading import ImportOptions
from warehouse.app.store import Store
store = Store(Path(sys.argv[2]), wait_seconds=300)
sys.stdin.readline()  # both begin together
import_paths(store.lake, [Path(path) for path in sys.argv[3:]], ImportOptions())
store.sync()
"""


@pytest.mark.campaign
def test_two_processes_at_once_give_the_same(store, at_once):
    both = [
        subprocess.Popen(
            [sys.executable, "-c", IMPORT, ROOT, store.path, *paths],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        )
        for paths in [(EXAMPLES, DAMAGED), (DAMAGED, EXAMPLES / "benchmark_logs", EXAMPLES)]
    ]
    for process in both:
        process.stdin.write(b"\n")
        process.stdin.flush()
    for process in both:
        _, err = process.communicate(timeout=300)
        assert (process.returncode, err) == (0, b"")
    assert digests(store) == at_once
    store.sync(rebuild=True)
    assert digests(store) == at_once


@pytest.mark.campaign
@needs_reference
def test_reference_logs_in_any_order_give_the_same(tmp_path):
    logs = sorted((PALINDROME / "benchmark_logs").glob("*.yaml"))
    whole = new_store(tmp_path / "whole")
    import_into(whole, PALINDROME / "benchmark_logs", PALINDROME / "models", PALINDROME / "tasks")
    split = new_store(tmp_path / "split")
    import_into(split, *logs[::2])
    split.sync()
    import_into(split, PALINDROME / "tasks", *logs[1::2])
    split.sync()
    import_into(split, PALINDROME / "models", PALINDROME / "benchmark_logs")
    assert digests(split) == digests(whole)
    assert split.sql("SELECT count(*) FROM runs").fetchall() == [(len(logs),)]


@pytest.mark.slow
def test_a_batch_that_is_older_than_a_column_is_loaded(tmp_path):
    """Tables gain columns; the files of older batches lack them."""
    store = new_store(tmp_path / "store")
    import_into(store, write_log(tmp_path / "2026-04-01-kokeilu.yaml", log(numbers=(1, 2))))
    (batch,) = store.lake.current()
    path, described = store.lake.file(batch, "results"), store.lake.path / batch.name / "batch.json"
    rows = pq.ParquetFile(path).read()
    left_out = ["settings", "thinking_level", "provider", "task_set", "started_at", "cost_usd"]
    # A small file has only columns with values.
    pq.write_table(rows.drop_columns([n for n in left_out if n in rows.column_names]), path)
    document = json.loads(described.read_text())
    document["files"]["results"]["sha256"] = file_sha256(path)
    described.write_text(json.dumps(document))
    # Longer than before: the run is loaded again, from both of its batches.
    grown = write_log(tmp_path / "2026-04-01-kokeilu.yaml", log(numbers=(1, 2, 3)))
    for n_results in (2, 3):
        for rebuild in (False, True):
            store.sync(rebuild=rebuild)
            query = "SELECT count(*), count(setup) FROM lake.results"
            assert store.sql(query).fetchall() == [(n_results, n_results)]
        import_into(store, grown)


@pytest.mark.slow
def test_a_rebuild_that_lacks_memory_takes_more(tmp_path, monkeypatch):
    store = new_store(tmp_path / "store")
    import_into(store, write_log(tmp_path / "log.yaml", log()))
    before = store.sql("FROM leaderboard").fetchall()
    with open_for_writing(store.warehouse, wait_seconds=0) as connection:
        limit_memory(connection, 100_000_000)
        limit_memory(connection, 200_000_000)
        assert connection.execute(LIMIT).fetchall()[0][0] < 100_000_000
        with pytest.raises(duckdb.OutOfMemoryException):
            limit_memory(connection, 1000)
    monkeypatch.setattr("warehouse.engine.tables.sync._MOST_MEMORY", 1000)
    store.sync(rebuild=True)
    assert store.sql("FROM leaderboard").fetchall() == before
