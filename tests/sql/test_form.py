"""The form of the views: base views add no meaning, and every view ends in explicit columns."""

import json

import duckdb
import pytest

from warehouse.engine.views.sql_files import in_order, references, shipped_sql

VIEWS = [file for file in shipped_sql() if not file.is_function]
BASE_VIEWS = [file for file in VIEWS if file.folder == "base"]
# Nodes that join, aggregate or rank rows, as DuckDB's parser names them.
KINDS = ("JOIN", "SET_OPERATION_NODE", "SUBQUERY", "WINDOW", "DISTINCT_MODIFIER")


def qualified(file):
    return file.qualified


@pytest.fixture(scope="module")
def con():
    with duckdb.connect() as con:
        yield con


def parsed(con, sql):
    [(text,)] = con.execute("SELECT json_serialize_sql(?)", [sql]).fetchall()
    tree = json.loads(text)
    assert not tree["error"], tree["error_message"]
    return tree["statements"][0]["node"]


def nodes(tree):
    if isinstance(tree, dict):
        yield tree
        for child in tree.values():
            yield from nodes(child)
    elif isinstance(tree, list):
        for child in tree:
            yield from nodes(child)


def added_meaning(tree):
    """Yield what a base view must not do: the kinds of nodes that join, aggregate or rank."""
    for node in nodes(tree):
        yield from (node[key] for key in ("type", "class") if node.get(key) in KINDS)
        if node.get("group_expressions"):
            yield "GROUP BY"


def final_columns(node):
    """Return the expressions of the last SELECT, of each branch where it is a UNION."""
    if node["type"] == "SET_OPERATION_NODE":
        branches = node.get("children") or [node["left"], node["right"]]
        return [column for branch in branches for column in final_columns(branch)]
    return node["select_list"]


@pytest.mark.parametrize("file", BASE_VIEWS, ids=qualified)
def test_base_views_only_rename_cast_and_convert(con, file):
    assert list(added_meaning(parsed(con, file.sql))) == []


@pytest.mark.parametrize("file", VIEWS, ids=qualified)
def test_a_view_ends_in_explicit_columns(con, file):
    for column in final_columns(parsed(con, file.sql)):
        assert column["class"] != "STAR", column
        assert column.get("function_name") != "unnest", column


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a.x FROM a JOIN b ON a.x = b.x",
        "SELECT DISTINCT x FROM a",
        "SELECT max(x) FROM a GROUP BY y",
        "SELECT row_number() OVER (PARTITION BY x) FROM a",
        "SELECT x FROM a WHERE x IN (SELECT x FROM b)",
        "SELECT x FROM a UNION ALL SELECT x FROM b",
    ],
)
def test_added_meaning_is_noticed(con, sql):
    assert list(added_meaning(parsed(con, sql)))


def test_refreshed_tables_do_not_depend_on_scores(con):
    referred = references(VIEWS, con)
    scores = {file.qualified for file in VIEWS if file.is_materialised}
    below = {}
    for file in in_order(VIEWS, referred):
        found = referred[file.qualified]
        below[file.qualified] = found.union(*(below.get(name, set()) for name in found))
    refreshed = [file.qualified for file in VIEWS if file.is_refreshed]
    assert "scores.duplicate_calls" in refreshed
    assert not [name for name in refreshed if below[name] & scores]
