"""Golden cases: rows of lake tables in, rows of views out; see `golden/README.md`.

Rows go through the lake's writer and what a sync does, so that score tables are filled as in a real
store. All cases share one warehouse, each in a transaction that is rolled back.
"""

import json
import math
import re
from collections import Counter
from datetime import date, datetime
from functools import cache
from pathlib import Path

import pytest
from support import add_rows, uncommitted

from warehouse.core.formats.yaml.documents import load
from warehouse.core.schemas import BY_NAME
from warehouse.engine.views.sql_files import shipped_sql
from warehouse.lake.lake import Lake

FOLDER = Path(__file__).parent / "golden"
PATHS = sorted(FOLDER.rglob("*.yaml"))
CASES = {path.stem: load(path.read_bytes()) for path in PATHS}
EXPECTED = [(case, view) for case, document in CASES.items() for view in document["expect"]]
VIEWS = {
    file.name if file.schema == "main" else file.qualified: file
    for file in shipped_sql()
    if file.schema in {"main", "checks"} and not file.is_function
}
# Names of batches differ each time; YAML cannot hold columns of bytes.
NOT_COMPARED = {"batch", "raw", "content"}
RELATIVE_ERROR = 1e-12


@pytest.fixture(scope="module")
def open_case(tmp_path_factory):
    """Return a function that returns a connection to the rows of a case."""

    @cache
    def filled(case):
        lake = Lake(tmp_path_factory.mktemp("case") / "store")
        fill(lake, CASES[case])
        return lake

    # Boards are computed only for cases that expect views of them.
    return lambda case: uncommitted().load(filled(case), " ".join(CASES[case]["expect"]))


@pytest.mark.parametrize(("case", "view"), EXPECTED, ids=[f"{c}-{v}" for c, v in EXPECTED])
def test_view_gives_expected_rows(open_case, case, view):
    expected = records(CASES[case]["expect"][view])
    sql = VIEWS[view].sql
    # A view that does not sort its rows is sorted by the columns of the case.
    in_order = re.search(r"^ORDER BY", sql, re.MULTILINE)
    order = "" if in_order else "ORDER BY ALL"
    columns = ", ".join(expected[0]) if expected else "*"
    actual = fetched(open_case(case), f"SELECT {columns} FROM {VIEWS[view].qualified} {order}")
    assert len(actual) == len(expected), actual
    for got, wanted in zip(actual, expected, strict=True):
        wrong = {k: (got[k], v) for k, v in wanted.items() if not same(got[k], v)}
        assert not wrong, f"(actual, expected) by column: {wrong}"


def test_names_of_cases_are_unique():
    assert len(CASES) == len(PATHS)


def test_every_view_has_a_case():
    assert {view for _, view in EXPECTED} == set(VIEWS)


@pytest.mark.parametrize("view", VIEWS)
def test_every_column_of_a_view_is_in_a_case(open_case, view):
    expected = {
        column
        for case, name in EXPECTED
        if name == view
        for row in records(CASES[case]["expect"][view])
        for column in row
    }
    connection = open_case(next(iter(CASES)))
    columns = connection.execute(f"DESCRIBE FROM {VIEWS[view].qualified}").fetchall()
    assert {name for name, *_ in columns} - NOT_COMPARED == expected


def fill(lake, document):
    """Write a case's batches; the rows of table `runs` name the generations of runs."""
    counts = Counter()
    for batch in document.get("batches", [document.get("lake", {})]):
        tables = {name: records(rows) for name, rows in batch.items()}
        add_missing_runs(tables)
        full_rows = {n: [full(n, row, counts) for row in rows] for n, rows in tables.items()}
        add_rows(lake, **full_rows)


def add_missing_runs(tables):
    runs = tables.setdefault("runs", [])
    known = {(row.get("suite", "palindrome"), row["run_id"]) for row in runs}
    for row in tables.get("results", []):
        key = row.get("suite", "palindrome"), row.setdefault("run_id", "r1")
        if key not in known:
            known.add(key)
            runs.append({"suite": key[0], "run_id": key[1]})


def full(table, row, counts):
    """Fill in the columns that a case leaves out, and convert the values to their types."""
    counts[table] += 1
    seen = counts[table]
    defaults = {
        "suite": "palindrome",
        "run_id": "r1",
        "generation": "root",
        "content_id": f"{table}-{seen}",
        "seq": seen,
        "task_set": "palindrome" if table == "tasks" else None,
        "task_set_hash": "set",
        "task_id": row.get("prompt"),
        "task_hash": f"task-{seen}" if table == "tasks" else None,
        "parameters": {},
    }
    types = {column.name: column.type for column in BY_NAME[table].columns}
    assert row.keys() <= types.keys(), f"{table} has no column {row.keys() - types.keys()}"
    values = {name: value for name, value in defaults.items() if name in types} | row
    return {name: typed(value, types[name]) for name, value in values.items()}


def typed(value, type_):
    if value is None:
        return None
    if type_ == "JSON":
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if type_ == "TIMESTAMP":
        return datetime.fromisoformat(value)
    return value.encode() if type_ == "BLOB" else value


def records(rows):
    """Return rows as dicts, from a list of mappings or a list of lists with a header."""
    if rows and isinstance(rows[0], list):
        header, *body = rows
        return [dict(zip(header, row, strict=True)) for row in body]
    return [dict(row) for row in rows or []]


def fetched(connection, query):
    rows = connection.execute(query).fetchall()
    names = [column[0] for column in connection.description]
    return [dict(zip(names, map(plain, row), strict=True)) for row in rows]


def plain(value):
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return value.isoformat() if isinstance(value, date) else value


def same(actual, expected):
    if isinstance(actual, float) and isinstance(expected, float | int):
        is_close = math.isclose(actual, expected, rel_tol=RELATIVE_ERROR)
        return is_close or (math.isnan(actual) and math.isnan(expected))
    return type(actual) is type(expected) and actual == expected
