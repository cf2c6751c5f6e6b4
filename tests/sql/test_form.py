"""The form of the views: base views add no meaning, and a view shows which columns it has."""

import json
import re

import duckdb
import pytest

from warehouse.engine.views.sql_files import in_order, references, shipped_sql

FUNCTIONS = [file for file in shipped_sql() if file.is_function]
VIEWS = [file for file in shipped_sql() if not file.is_function]
NAMES = {file.qualified for file in VIEWS}
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


def last_selects(node):
    """Return the last SELECT, that of each branch where it is a UNION."""
    if node["type"] == "SET_OPERATION_NODE":
        branches = node.get("children") or [node["left"], node["right"]]
        return [select for branch in branches for select in last_selects(branch)]
    return [node]


def only_view(table):
    """Return the view that all columns of a FROM come from; None if it is not one view of ours."""
    while table["type"] == "JOIN" and table["join_type"] in {"ANTI", "SEMI"}:
        table = table["left"]
    name = f"{table.get('schema_name') or 'main'}.{table.get('table_name')}"
    return name if name in NAMES else None


@pytest.mark.parametrize("file", BASE_VIEWS, ids=qualified)
def test_base_views_only_rename_cast_and_convert(con, file):
    assert list(added_meaning(parsed(con, file.sql))) == []


def implicit_columns(tree):
    """Yield the columns of the last SELECTs that neither they nor a single view of ours name."""
    for select in last_selects(tree):
        for column in select["select_list"]:
            is_star = column["class"] == "STAR" and only_view(select["from_table"]) is None
            if is_star or column.get("function_name") == "unnest":
                yield column


@pytest.mark.parametrize("file", VIEWS, ids=qualified)
def test_a_view_ends_in_explicit_columns_or_those_of_one_view(con, file):
    assert list(implicit_columns(parsed(con, file.sql))) == []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM lake.results",
        "SELECT x, unnest(y) FROM results",
        "SELECT * FROM results JOIN runs USING (run_id)",
        "SELECT * FROM (SELECT x FROM results)",
        "SELECT x FROM results UNION ALL SELECT * FROM read_csv('a.csv')",
    ],
)
def test_implicit_columns_are_noticed(con, sql):
    assert list(implicit_columns(parsed(con, sql)))


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


def captured(tree):
    """Yield references to fields of lambda parameters that a caller's table can take for its own.

    `t.n` in `lambda t: …` is the column of a table that the caller has called `t`; `t['n']` is not.
    """
    for node in nodes(tree):
        if node.get("class") == "LAMBDA":
            names = {ref["column_names"][0] for ref in nodes(node["lhs"]) if "column_names" in ref}
            yield from (
                ".".join(ref["column_names"])
                for ref in nodes(node["expr"])
                if len(ref.get("column_names", ())) > 1 and ref["column_names"][0] in names
            )


@pytest.mark.parametrize("file", FUNCTIONS, ids=qualified)
def test_functions_read_no_table_of_the_caller(con, file):
    _, body = re.split(r"\)\s+AS\s", file.sql, maxsplit=1)
    assert list(captured(parsed(con, f"SELECT {body}"))) == []


def test_captured_fields_are_noticed(con):
    sql = "SELECT list_transform([{n: 1}], lambda t: list_transform([1], lambda i: i + t.n))"
    assert set(captured(parsed(con, sql))) == {"t.n"}
    assert list(captured(parsed(con, sql.replace("t.n", "t['n']")))) == []


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
