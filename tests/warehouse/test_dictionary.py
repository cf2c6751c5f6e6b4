"""Every view, table and column says what it means, to any DuckDB client."""

import duckdb
import pytest
from support import new_store

from warehouse import dictionary
from warehouse.schemas import BY_NAME
from warehouse.sql_files import shipped_sql

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
        "view": sum(not (f.is_function or f.is_materialised) for f in shipped_sql()),
        "macro": sum(f.is_function for f in shipped_sql()),
    }
    assert [name for name, comment in found.items() if not comment] == []


def test_comments_are_the_texts_of_the_dictionary(store):
    found = comments(store)
    assert found["view main.leaderboard"] == (
        "The models of every suite, best first. Grain: suite × provider × model × settings."
    )
    # From the view's own header, from the view that it inherits from, and from the common ones.
    assert found["column main.verdicts.computed"].startswith("verdict by the original program's")
    assert found["column main.verdicts.latency_ms"].startswith("e2e_ms, else duration_seconds")
    assert found["column main.costs.total_cost_usd"] == dictionary.COMMON["total_cost_usd"]
    assert found["column lake.results.e2e_ms"] == next(
        column.meaning for column in BY_NAME["results"].columns if column.name == "e2e_ms"
    )
    assert found["macro wilson_low"].startswith("Lower end of Wilson's 95 % score interval")


def test_a_changed_meaning_reaches_a_warehouse_that_is_there(tmp_path, monkeypatch):
    store = new_store(tmp_path / "store")
    store.sync()
    monkeypatch.setitem(dictionary.COMMON, "suite", "what it's a 'family' of")
    monkeypatch.setattr("warehouse.sync._definitions", dictionary.dictionary_digest)
    assert not store.sync().rebuilt
    assert comments(store)["column main.costs.suite"] == "what it's a 'family' of"


def test_what_a_view_inherits_from_is_there():
    relations = {file.qualified for file in shipped_sql()} | {f"lake.{name}" for name in BY_NAME}
    for file in shipped_sql():
        for name in file.inherits:
            assert (name if "." in name else f"main.{name}") in relations, file.qualified
