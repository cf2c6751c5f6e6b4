"""A query in a notebook: it shows its first rows, and other libraries read it."""

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from rendering import HOSTILE, UNSEEN

from warehouse.app.output.preview import SHOWN


def test_a_query_shows_its_first_rows(store, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    query = store.sql("SELECT range AS n, 'x' AS t FROM range($n)", {"n": SHOWN + 1})
    lines = repr(query).splitlines()
    assert [lines[0].split(), lines[2].split()] == [["n", "t"], ["0", "x"]]
    assert lines[-1] == "first 20 rows; `.pl()` has all"
    assert len(lines) == 2 + SHOWN + 1


def test_a_short_query_shows_all_rows(store):
    assert repr(store.sql("SELECT 1 AS n")).splitlines()[-1].split() == ["1"]
    assert repr(store.sql("SELECT 1 AS n WHERE false")).endswith("0 rows")


def test_columns_that_find_no_place_are_named(store, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    columns = ", ".join(f"repeat('x', 30) AS c{n}" for n in range(9))
    assert "(`.pl()` has all columns)" in repr(store.sql(f"SELECT {columns}"))


def test_html_has_the_rows_and_escapes_them(store):
    html = store.sql("SELECT $t AS t, 1.5 AS n", {"t": HOSTILE})._repr_html_()
    assert html.startswith("<table>")
    assert "<script>" not in html
    assert not UNSEEN.search(html)
    assert "<td>1.5</td>" in html
    assert html.endswith("<p>1 row</p>")
    assert "first 20 rows" in store.sql("FROM range(100)")._repr_html_()


@pytest.mark.parametrize("query", ["SELECT nope", "SELEC", "SELECT $x"])
def test_a_wrong_query_shows_the_error_and_raises_nothing(store, query):
    shown = repr(store.sql(query))
    assert shown.startswith(f"Query({query!r}): ")
    assert store.sql(query)._repr_html_() is None


@pytest.mark.slow
def test_other_libraries_read_a_query(examples):
    query = examples.sql("SELECT model, n_tasks, pass_rate FROM leaderboard")
    expected = query.fetchall()
    assert pl.DataFrame(query).rows() == expected
    assert pa.table(query).num_rows == len(expected)
    assert duckdb.sql("FROM query").fetchall() == expected


def test_showing_a_query_keeps_no_file_open(store):
    query = store.sql("FROM range(100)")
    repr(query)
    with duckdb.connect(str(store.warehouse)) as connection:
        connection.execute("CREATE TABLE x (a INT)")
