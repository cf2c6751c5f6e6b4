"""`evalstore.open()`: what it offers to a notebook, and what no query can do."""

import subprocess
import sys
from types import SimpleNamespace

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support import environment, import_into, log, new_store, write_log

import evalstore
from warehouse.app.store import Store
from warehouse.core.errors import BadInput, EvalstoreError, ExitCode
from warehouse.core.formats.values import utf8
from warehouse.core.in_memory import open_in_memory
from warehouse.engine.base_store import EvalstoreWarning
from warehouse.engine.connection import _arrow_types, _register
from warehouse.engine.rows import of_query


@pytest.mark.slow
def test_rows_can_be_fetched_in_every_form(examples):
    query = examples.sql("SELECT suite, count(*) AS n FROM results GROUP BY suite")
    assert query.fetchall() == [("palindrome", 218)]
    frame = query.pl()
    assert isinstance(frame, pl.DataFrame)
    assert frame.rows() == [("palindrome", 218)]
    frame = query.df()
    assert isinstance(frame, pd.DataFrame)
    assert frame.to_dict("records") == [{"suite": "palindrome", "n": 218}]
    table = query.to_arrow_table()
    assert isinstance(table, pa.Table)
    assert table.to_pylist() == [{"suite": "palindrome", "n": 218}]
    with query.cursor() as cursor:
        assert cursor.fetchmany(1) == [("palindrome", 218)]
        assert cursor.fetchmany(1) == []


@pytest.mark.parametrize("fetch", ["pl", "df", "to_arrow_table", "fetchall"])
def test_an_empty_result_is_not_an_error(examples, fetch):
    assert len(getattr(examples.sql("FROM results WHERE false"), fetch)()) == 0


def test_values_are_bound(examples):
    hostile = "'; DROP VIEW results; --"
    query = examples.sql("SELECT $a || $b AS text, $n + 1 AS n", {"a": hostile, "b": "!", "n": 1})
    assert query.fetchall() == [(hostile + "!", 2)]
    assert query.pl().rows() == [(hostile + "!", 2)]
    query = examples.sql("SELECT count(*) FROM results WHERE answer = $answer", {"answer": ""})
    assert query.fetchall()[0][0] > 0


@pytest.mark.slow
def test_a_query_runs_when_it_is_fetched(examples, tmp_path):
    wrong = examples.sql("FROM nothing_here")  # does not run yet
    with pytest.raises(BadInput):
        wrong.fetchall()
    later = Store(tmp_path / "later", wait_seconds=0).sql("SELECT count(*) FROM runs")
    with pytest.raises(BadInput, match="evalstore import"):
        later.fetchall()
    import_into(new_store(tmp_path / "later"), write_log(tmp_path / "a.yaml"))
    assert later.fetchall() == [(1,)]


@pytest.mark.parametrize("fetch", ["pl", "df", "to_arrow_table", "fetchall"])
@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("SELECT answr FROM results", "answr"),
        ("FROM leaderbord", "leaderbord"),
        ("SELECT 1 +", "syntax error"),
        ("SELECT CAST('x' AS INT)", "x"),
        ("SELECT CAST(run_id AS INT) FROM runs", "Could not convert"),
    ],
)
def test_an_error_is_bad_input_with_its_position(examples, fetch, query, place):
    with pytest.raises(BadInput, match=place) as caught:
        getattr(examples.sql(query), fetch)()
    assert isinstance(caught.value.__cause__, duckdb.Error)


@pytest.mark.parametrize("fetch", ["pl", "df", "to_arrow_table", "fetchall"])
def test_a_parameter_without_a_value_is_named(examples, fetch):
    with pytest.raises(BadInput, match=r"no value for \$a, \$missing"):
        getattr(examples.sql("SELECT $missing, $a, $b", {"b": 1}), fetch)()


@pytest.mark.parametrize("fetch", ["pl", "df", "to_arrow_table", "fetchall"])
@pytest.mark.parametrize(
    "query", ["", "-- nothing", "SET threads = 1", "CREATE TEMP TABLE t (a INT)"]
)
def test_statements_without_rows(examples, fetch, query):
    try:
        rows = getattr(examples.sql(query), fetch)()
    except BadInput:
        return
    assert len(rows) <= 1


@pytest.mark.parametrize(
    "query",
    [
        "INSERT INTO lake.results (run_id) VALUES ('x')",
        "UPDATE lake.results SET answer = 'x'",
        "DELETE FROM lake.results",
        "DROP VIEW main.results",
        "CREATE TABLE t AS SELECT 1",
        "CREATE OR REPLACE VIEW main.results AS SELECT 1",
        "COPY results TO '{folder}/out.csv'",
        "COPY (SELECT 1) TO '{folder}/out.parquet' (FORMAT parquet)",
        "EXPORT DATABASE '{folder}/out'",
        "ATTACH '{folder}/other.duckdb' AS other",
        "FROM read_csv('/etc/passwd')",
        "FROM read_text('/etc/passwd')",
        "FROM read_blob('{lake}')",
        "FROM '/etc/passwd'",
        "FROM glob('/etc/*')",
        "FROM read_parquet('{lake}')",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "RESET enable_external_access",
        "SET lock_configuration = false",
        "SET temp_directory = '{folder}/tmp'",
        "SET TimeZone = 'Europe/Helsinki'",
        "SET home_directory = '/'",
        "CHECKPOINT",
        "VACUUM",
    ],
)
def test_a_query_changes_nothing_and_accesses_no_file(examples, tmp_path, query):
    folder = tmp_path / "outside"
    folder.mkdir()
    lake = next(examples.lake.path.glob("*/results.parquet"))
    examples.sync()
    before = examples.warehouse.read_bytes()
    query = query.format(folder=folder, lake=lake)
    refused = False
    try:
        examples.sql(query).fetchall()
    except BadInput:
        refused = True
    # Statements without an effect on a read-only database may succeed.
    assert refused or query in {"CHECKPOINT", "VACUUM"}
    assert list(folder.iterdir()) == []
    assert examples.warehouse.read_bytes() == before


def test_functions_can_be_called_by_name(examples):
    query = (
        "SELECT PALINDROME_ANSWER('<palindromi>Ii</palindromi>'), palindrome_correct('II', 'ii')"
    )
    assert examples.sql(query).fetchall() == [("Ii", True)]
    assert examples.sql(query).pl().rows() == [("Ii", True)]


def test_times_do_not_depend_on_the_readers_zone(examples, monkeypatch):
    text = """
        SELECT max(started_at)::VARCHAR, (max(started_at) AT TIME ZONE 'UTC')::VARCHAR FROM results
    """
    here = examples.sql(text).fetchall()
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    assert examples.sql(text).fetchall() == here


@pytest.mark.slow
def test_opening_keeps_no_file_open(examples, tmp_path):
    store = evalstore.open(examples.path)
    query = store.sql("SELECT count(*) FROM runs")
    before = query.fetchall()
    import_into(new_store(examples.path), write_log(tmp_path / "a.yaml"))
    with duckdb.connect(
        str(examples.warehouse)
    ):  # for writing: no other process may have the file open
        pass
    assert query.fetchall() == [(before[0][0] + 1,)]


NOTEBOOK = """
import evalstore, sys
query = evalstore.open(sys.argv[1]).sql('SELECT count(*) FROM runs')
for _ in range(2):
    print(query.fetchall()[0][0], flush=True)
    sys.stdin.readline()
"""


def test_the_catalog_gives_the_columns_of_a_view_without_planning_it(examples):
    with examples.reading() as connection:
        for view in ("main.leaderboard", "main.results", "lake.runs", "checks.violations"):
            of_view = of_query(connection, f"FROM {view}")
            of_select = of_query(connection, f"SELECT * FROM {view}")
            assert (of_view.columns, of_view.types) == (of_select.columns, of_select.types)
        assert of_query(connection, "FROM main.runs WHERE false").columns
        with pytest.raises(duckdb.CatalogException):
            of_query(connection, "FROM main.nothing_here")


def test_the_same_process_can_open_the_warehouse_with_duckdb_too(examples):
    with examples.reading() as ours, duckdb.connect(str(examples.warehouse), read_only=True) as own:
        query = "SELECT count(*) FROM results"
        assert own.execute(query).fetchone() == ours.execute(query).fetchone() == (218,)


@pytest.mark.slow
def test_an_open_store_does_not_block_an_import(examples, tmp_path):
    notebook = subprocess.Popen(
        [
            sys.executable,
            "-c",
            NOTEBOOK,
            examples.path,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    with notebook:
        first = int(notebook.stdout.readline())
        import_into(examples, write_log(tmp_path / "a.yaml"))
        report = examples.sync()  # does not wait; if the file were open, it would be busy
        assert len(report.loaded) == 1
        notebook.stdin.write("\n\n")
        notebook.stdin.flush()
        assert int(notebook.stdout.readline()) == first + 1
    assert notebook.returncode == 0


def test_open_accepts_text_and_paths(examples):
    for path in (examples.path, str(examples.path)):
        store = evalstore.open(path)
        assert store.sql("SELECT 1").fetchall() == [(1,)]
        assert repr(store) == f"Store({str(examples.path)!r})"


def test_data_missing_from_the_figures_gives_a_warning(examples):
    batch = next(examples.lake.path.glob("*/"))
    (batch / "results.parquet").write_bytes(b"broken")
    examples.warehouse.unlink()
    with pytest.warns(EvalstoreWarning, match=batch.name):
        assert evalstore.open(examples.path).sql("SELECT count(*) FROM runs").fetchall() == [(0,)]


def test_a_users_module_that_hides_ours_is_named(tmp_path):
    (tmp_path / "ingest.py").write_text("")
    code = "import sys; sys.path.insert(0, sys.argv[1]); import evalstore; evalstore.open('x')"
    ended = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
        cwd=tmp_path,
    )
    assert ended.returncode == 1
    assert f"{tmp_path / 'ingest.py'} shadows evalstore's package `ingest`" in ended.stderr


def test_errors_have_exit_codes():
    kinds = EvalstoreError.__subclasses__()
    assert kinds
    bad_input = ExitCode.BAD_INPUT
    assert {kind.__name__: kind.exit_code for kind in kinds if kind.exit_code != bad_input} == {
        "CheckFailed": ExitCode.FAILED,
        "ModelsUnavailable": ExitCode.FAILED,
        "BudgetSpent": ExitCode.BUDGET_SPENT,
        "StoreBusy": ExitCode.BUSY,
        "Interrupted": ExitCode.INTERRUPTED,
    }


@pytest.mark.slow
def test_log_helper_is_valid(store, tmp_path):
    # The other tests rely on it: only the name of the log is wrong.
    import_into(store, write_log(tmp_path / "2026-04-01-kokeilu.yaml", log()))
    assert store.sql("FROM checks.violations").fetchall() == []


def test_a_function_may_return_lone_surrogates(monkeypatch):
    def halves(texts):
        return [{"reason": f"{text}\ud800", "names": ["\udfff", None]} for text in texts]

    udf = SimpleNamespace(
        name="halves",
        parameters=("VARCHAR",),
        returns="STRUCT(reason VARCHAR, names VARCHAR[])",
        batch=halves,
    )
    monkeypatch.setattr("warehouse.engine.scoring.registry.UDFS", [udf])
    _arrow_types.cache_clear()
    with open_in_memory() as connection:
        _register(connection, udf)
        try:
            [(value,)] = connection.execute("SELECT halves('ä')").fetchall()
        finally:
            connection.remove_function("halves")
            _arrow_types.cache_clear()
    assert value == {"reason": utf8("ä\ud800"), "names": [utf8("\udfff"), None]}


@pytest.mark.slow
@pytest.mark.parametrize("place", ["warehouse.duckdb", "lake/copy.duckdb", "../store/copy.duckdb"])
def test_a_snapshot_is_never_written_into_the_store(store, tmp_path, place):
    import_into(store, write_log(tmp_path / "1.yaml"))
    store.sync()
    before = sorted(store.path.rglob("*"))
    with pytest.raises(BadInput, match="is inside the store"):
        store.write_snapshot(store.path / place)
    assert sorted(store.path.rglob("*")) == before
    store.write_snapshot(tmp_path / "copy.duckdb")
    assert (tmp_path / "copy.duckdb").is_file()
