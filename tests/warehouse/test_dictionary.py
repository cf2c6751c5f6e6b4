"""Every view, table and column has a comment, which any DuckDB client shows."""

import duckdb
import pytest
from support import new_store

from warehouse.core.schemas import BY_NAME
from warehouse.engine.views import dictionary
from warehouse.engine.views.sql_files import shipped_sql

SCHEMAS = "('main', 'checks', 'scores', 'lake')"
COMMENTS = f"""
    SELECT 'view ' || schema_name || '.' || view_name AS name, comment FROM duckdb_views()
    WHERE schema_name IN {SCHEMAS} AND NOT internal
    UNION ALL
    SELECT 'table ' || schema_name || '.' || table_name, comment FROM duckdb_tables()
    WHERE schema_name IN {SCHEMAS}
    UNION ALL
    SELECT 'column ' || schema_name || '.' || table_name || '.' || column_name, comment
    FROM duckdb_columns() WHERE schema_name IN {SCHEMAS} AND NOT internal
    UNION ALL
    SELECT 'macro ' || function_name, comment FROM duckdb_functions()
    WHERE function_type = 'macro' AND NOT internal
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("dictionary") / "store")
    store.sync()
    return store


def comments(store):
    with duckdb.connect(str(store.warehouse), read_only=True) as connection:
        return dict(connection.execute(COMMENTS).fetchall())


def test_everything_in_the_warehouse_has_a_comment(store):
    found = comments(store)
    assert {kind: sum(name.startswith(kind) for name in found) for kind in ("view", "macro")} == {
        "view": sum(not (f.is_function or f.is_table) for f in shipped_sql()),
        "macro": sum(f.is_function for f in shipped_sql()),
    }
    assert [name for name, comment in found.items() if not comment] == []


def test_comments_equal_the_data_dictionary(store):
    found = comments(store)
    assert found["view main.leaderboard"] == (
        "The models of every task set by every metric, best first, each by its latest full run; "
        "where verdicts are missing, they count as failed in this order. The main metric of each "
        "task set comes first. Of the some twenty scores of posters only app_quality, the main "
        "one, and app_core are here, because the others are parts of them, and the use of tools is "
        "here as tool_tier; `metrics` has all. "
        "Grain: suite × task set × metric × scorer × filter × provider × model × settings."
    )
    # From the view's header, from the view it inherits from, and from the common meanings.
    assert found["column main.verdicts.computed"].startswith("verdict by the original program's")
    assert found["column main.verdicts.latency_ms"].startswith("e2e_ms, else duration_seconds")
    assert found["column main.costs.total_cost_usd"] == dictionary.COMMON["total_cost_usd"]
    assert found["column lake.results.e2e_ms"] == next(
        column.meaning for column in BY_NAME["results"].columns if column.name == "e2e_ms"
    )
    assert found["macro wilson_low"].startswith("Lower end of Wilson's 95 % score interval")


@pytest.mark.slow
def test_a_changed_meaning_reaches_an_existing_warehouse(tmp_path, monkeypatch):
    store = new_store(tmp_path / "store")
    store.sync()
    monkeypatch.setitem(dictionary.COMMON, "suite", "what it's a 'family' of")
    monkeypatch.setattr("warehouse.engine.tables.definitions.digest", dictionary.dictionary_digest)
    assert not store.sync().rebuilt
    assert comments(store)["column main.costs.suite"] == "what it's a 'family' of"


def test_inherited_views_exist():
    relations = {file.qualified for file in shipped_sql()} | {f"lake.{name}" for name in BY_NAME}
    for file in shipped_sql():
        for name in file.inherits:
            assert (name if "." in name else f"main.{name}") in relations, file.qualified
