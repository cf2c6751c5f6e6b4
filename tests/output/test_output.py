import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
import tracemalloc
import uuid
from contextlib import suppress
from datetime import UTC, date, datetime, time
from decimal import Decimal
from itertools import count, islice
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rendering import HOSTILE, UNSEEN, rendered
from rich.cells import cell_len
from support import ROOT

from warehouse.app.output.tables import SHOWN
from warehouse.app.output.terminal import Screen
from warehouse.app.output.writers import FORMATS, write_query, write_rows
from warehouse.core.errors import BadInput
from warehouse.core.progress import track
from warehouse.core.text import formatting
from warehouse.engine.rows import BATCH, of_values

TEXT_FORMATS = [fmt for fmt in FORMATS if fmt != "parquet"]


class Terminal(io.BytesIO):
    def isatty(self):
        return True


@pytest.fixture
def con():
    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'America/New_York'")
        yield con


@pytest.fixture
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")


def _no_note(text):
    assert text == "0 rows"


def queried(con, sql, fmt, parameters=()):
    out = io.BytesIO()
    write_query(con, sql, fmt, out, note=_no_note, parameters=parameters)
    return out.getvalue() if fmt == "parquet" else out.getvalue().decode()


# --- values


@pytest.mark.parametrize(
    ("expression", "text", "as_json"),
    [
        ("NULL", '""', "null"),
        ("''", '""', '""'),
        ("true", "true", "true"),
        ("170141183460469231731687303715884105727::HUGEINT", *2 * [str(2**127 - 1)]),
        ("1.50::DECIMAL(10, 2)", "1.50", "1.50"),
        ("0.00000001::DECIMAL(18, 8)", "0.00000001", "0.00000001"),
        ("0.1::FLOAT", "0.1", "0.1"),
        ("0.1::DOUBLE + 0.2::DOUBLE", "0.30000000000000004", "0.30000000000000004"),
        ("'nan'::DOUBLE", "nan", "null"),
        ("'-infinity'::DOUBLE", "-inf", "null"),
        ("'\\x00\\xAB'::BLOB", "00ab", '"00ab"'),
        ("DATE '2024-02-29'", "2024-02-29", '"2024-02-29"'),
        ("TIME '01:02:03.5'", "01:02:03.500000", '"01:02:03.500000"'),
        ("TIMESTAMP '2024-01-01 10:00:00'", "2024-01-01T10:00:00", '"2024-01-01T10:00:00"'),
        (
            "TIMESTAMP '2024-01-01 10:00:00.120'",
            "2024-01-01T10:00:00.12",
            '"2024-01-01T10:00:00.12"',
        ),
        (
            "TIMESTAMPTZ '2024-01-01 10:00:00.5-05'",
            "2024-01-01T15:00:00.5Z",
            '"2024-01-01T15:00:00.5Z"',
        ),
        (
            "make_timestamptz(9223372036854775806)",
            "294247-01-10T04:00:54.775806Z",
            '"294247-01-10T04:00:54.775806Z"',
        ),
        (
            "TIMESTAMP_NS '2024-01-01 10:00:00.123456789'",
            "2024-01-01T10:00:00.123456789",
            '"2024-01-01T10:00:00.123456789"',
        ),
        ("DATE 'infinity'", "infinity", '"infinity"'),
        ("DATE '9999-12-31'", "9999-12-31", '"9999-12-31"'),
        ("TIMESTAMP '-infinity'", "-infinity", '"-infinity"'),
        ("TIMESTAMP_S 'infinity'", "infinity", '"infinity"'),
        ("TIMESTAMPTZ 'infinity'", "infinity", '"infinity"'),
        ("INTERVAL '1 month 2 days'", "1 month 2 days", '"1 month 2 days"'),
        (
            "'6e0f5d4e-8a2b-4a39-9c55-0d9c5e5f0001'::UUID",
            "6e0f5d4e-8a2b-4a39-9c55-0d9c5e5f0001",
            '"6e0f5d4e-8a2b-4a39-9c55-0d9c5e5f0001"',
        ),
        ("[1, NULL]", '"[1, null]"', "[1, null]"),
        (
            "{'a': 1.5, 'b': DATE '2024-01-01'}",
            '"{""a"": 1.5, ""b"": ""2024-01-01""}"',
            '{"a": 1.5, "b": "2024-01-01"}',
        ),
        ("MAP {1: 'x'}", '"{""1"": ""x""}"', '{"1": "x"}'),
        ("[INTERVAL '1 month']", '"[""1 month""]"', '["1 month"]'),
        (
            '\'{"n": 1.10,\n"s": "é"}\'::JSON',
            '"{""n"": 1.10,\n""s"": ""é""}"',
            '{"n": 1.10, "s": "é"}',
        ),
        ("'{\"n\": NaN}'::JSON", '"{""n"": NaN}"', '"{\\"n\\": NaN}"'),
        ("'日本語 é'", "日本語 é", '"日本語 é"'),
    ],
)
def test_each_type_is_written_exactly(con, expression, text, as_json):
    # With a second column, NULL and empty text differ.
    as_csv = queried(con, f"SELECT {expression} AS x, 1 AS y", "csv")
    text = "" if expression == "NULL" else text
    assert as_csv == f"x,y\n{text},1\n"
    line = queried(con, f"SELECT {expression} AS x", "jsonl")
    assert line == f'{{"x": {as_json}}}\n'


@pytest.mark.parametrize("fmt", sorted(FORMATS.keys() - {"parquet"}))
def test_every_type_of_duckdb_is_written(con, fmt):
    assert queried(con, "SELECT * FROM test_all_types()", fmt)


def test_a_column_that_cannot_be_fetched_is_named(con):
    with pytest.raises(BadInput, match=r"column 'timestamp_tz' .* begin the query with SELECT"):
        queried(con, "CALL test_all_types()", "csv")


@pytest.mark.skipif(duckdb.__version__.startswith("1."), reason="has no empty structs")
def test_a_type_that_parquet_does_not_have_is_named(con):
    with pytest.raises(BadInput, match="Parquet has no such type of column"):
        queried(con, "SELECT empty_struct FROM test_all_types()", "parquet")


def test_python_rows_are_written_like_query_rows():
    moment = datetime(2024, 1, 1, 10, tzinfo=UTC)
    key = uuid.UUID(int=1)
    row = (moment, key, b"\xff", Decimal("1E-7"), 10**30, float("inf"), time(1), date(2024, 1, 1))
    line = json.loads(rendered("abcdefgh", [row], "jsonl"), parse_float=str)
    assert list(line.values()) == [
        "2024-01-01T10:00:00Z", str(key), "ff", "0.0000001", 10**30, None, "01:00:00", "2024-01-01"
    ]  # fmt: skip


def test_tables_round_and_align_numbers():
    rows = [(2 / 3, 1234567.8, 1e-7, "a"), (1.0, 5e20, None, "bb")]
    assert rendered(["rate", "tokens", "cost", "model"], rows, "table").splitlines() == [
        "    rate   tokens   cost  model",
        "--------  -------  -----  -----",
        "0.666667  1234568  1e-07  a",
        "       1    5e+20         bb",
    ]


@pytest.mark.parametrize("fmt", ["csv", "jsonl", "markdown"])
def test_exact_formats_do_not_round(fmt):
    assert "0.6666666666666666" in rendered(["rate"], [(2 / 3,)], fmt)


# --- round trips

values = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary()
)
texts = st.one_of(st.none(), st.text(st.characters(codec="utf-8")))


@given(st.lists(st.tuples(texts, texts), max_size=5))
def test_csv_reads_back(rows):
    text = rendered(["a", "b"], rows, "csv")
    read = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert read == [["a", "b"], *([cell or "" for cell in row] for row in rows)]


@given(st.lists(st.tuples(texts), min_size=1, max_size=5))
def test_csv_of_one_column_loses_no_row(rows):
    read = list(csv.reader(io.StringIO(rendered(["a"], rows, "csv"), newline="")))
    assert read == [["a"], *([cell or ""] for (cell,) in rows)]


@given(st.floats(allow_nan=False))
def test_floats_read_back_to_the_last_bit(value):
    assert float(rendered(["x"], [(value,)], "csv").splitlines()[1]) == value


@given(st.lists(st.tuples(values, st.lists(values)), max_size=5))
def test_json_reads_back(rows):
    def plain(value):
        if isinstance(value, list):
            return [plain(item) for item in value]
        if isinstance(value, float) and value in (float("inf"), float("-inf")):
            return None
        return value.hex() if isinstance(value, bytes) else value

    expected = [{"a": plain(a), "b": plain(b)} for a, b in rows]
    assert json.loads(rendered(["a", "b"], rows, "json")) == expected
    lines = rendered(["a", "b"], rows, "jsonl").split("\n")
    assert [json.loads(line) for line in lines if line] == expected


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), texts), min_size=1, max_size=5))
def test_parquet_reads_back(tmp_path_factory, rows):
    file = tmp_path_factory.mktemp("parquet") / "rows.parquet"
    with file.open("wb") as out:
        write_rows(["a", "b"], rows, "parquet", out, note=pytest.fail)
    assert duckdb.read_parquet(str(file)).fetchall() == rows


def test_parquet_keeps_the_types_of_a_query(con, tmp_path):
    sql = "SELECT 1::HUGEINT h, TIMESTAMPTZ '2024-01-01' t, INTERVAL '1 month' i, [1.5] l, 2 h"
    file = tmp_path / "rows.parquet"
    file.write_bytes(queried(con, sql, "parquet"))
    read = con.sql(f"FROM '{file}'")
    assert read.columns == ["h", "t", "i", "l", "h_1"]
    kinds = ["DECIMAL(38,0)", "TIMESTAMP WITH TIME ZONE", "VARCHAR", "DECIMAL(2,1)[]", "INTEGER"]
    assert list(map(str, read.types)) == kinds
    assert con.sql(f"SELECT i FROM '{file}'").fetchall() == [("1 month",)]


def test_parquet_turns_a_column_of_mixed_values_into_text(tmp_path):
    file = tmp_path / "rows.parquet"
    with file.open("wb") as out:
        write_rows(["x"], [(1,), ("a",), (None,)], "parquet", out, note=pytest.fail)
    assert duckdb.read_parquet(str(file)).fetchall() == [("1",), ("a",), (None,)]


@pytest.mark.parametrize("fmt", TEXT_FORMATS)
def test_output_without_rows_is_a_valid_document(con, fmt):
    text = queried(con, "SELECT 1 AS a WHERE false", fmt)
    if fmt == "html":
        table = '<thead><tr><th class="n">a</th></tr></thead>\n<tbody>\n</tbody>\n</table></div>\n'
        assert text.endswith(
            f'<div class="wide" tabindex="0"><table>\n{table}</main>\n</body>\n</html>\n'
        )
        return
    empty = {
        "table": "a\n-\n",
        "csv": "a\n",
        "json": "[\n]\n",
        "jsonl": "",
        "markdown": "| a |\n| ---: |\n",
    }
    assert text == empty[fmt]


# --- statements


@pytest.mark.parametrize(
    ("sql", "parameters", "expected"),
    [
        ("SELECT $a AS x", {"a": 3}, [{"x": 3}]),
        ("SELECT now() = ?::TIMESTAMPTZ AS x;; -- é;", ["2024-01-01 00:00:00Z"], [{"x": False}]),
        ("SELECT INTERVAL '1 month' AS x;; -- é;", (), [{"x": "1 month"}]),
        ("SET threads = 1; SELECT 'é;' AS x -- ;", (), [{"x": "é;"}]),
        ("SELECT 1 AS a, 2 AS a, 3 AS a_1", (), [{"a": 1, "a_1": 2, "a_1_1": 3}]),
        ("SELECT unnest([2, 1])::FLOAT AS x ORDER BY x", (), [{"x": 1.0}, {"x": 2.0}]),
        ("SET threads = 2", (), []),
    ],
)  # fmt: skip
def test_statements_of_every_kind(con, sql, parameters, expected):
    assert json.loads(queried(con, sql, "json", parameters)) == expected


def test_explain_returns_rows(con):
    assert "physical_plan" in queried(con, "EXPLAIN SELECT 1", "csv")
    assert queried(con, "EXPLAIN SELECT 1", "parquet").startswith(b"PAR1")


def test_an_error_refers_to_the_statement_as_written(con):
    with pytest.raises(duckdb.BinderException, match='"nope"') as error:
        queried(con, "SELECT nope", "csv")
    assert "DESCRIBE" not in str(error.value)


@pytest.mark.parametrize("fmt", FORMATS)
def test_text_without_a_statement_is_refused(con, fmt):
    with pytest.raises(BadInput, match="no statement"):
        queried(con, " -- only a comment", fmt)


def test_an_unknown_format_is_refused():
    with pytest.raises(BadInput, match="unknown format 'xml'; the formats are: table, csv"):
        rendered(["a"], [], "xml")


def test_parquet_is_refused_on_a_terminal(con):
    with pytest.raises(BadInput, match="terminal"):
        write_query(con, "SELECT 1", "parquet", Terminal(), note=pytest.fail)


# --- hostile text


@pytest.mark.parametrize("fmt", TEXT_FORMATS)
@pytest.mark.parametrize("column", ["text", HOSTILE])
def test_nothing_controls_a_terminal(fmt, column, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    text = rendered([column], [(HOSTILE,)], fmt, Terminal())
    assert not UNSEEN.search(text)


@pytest.mark.slow
@given(st.text())
def test_visible_text_is_one_printable_line(text):
    shown = formatting.visible(text)
    assert all(char.isprintable() or char.isspace() for char in shown)
    assert len(shown.splitlines()) <= 1


def test_csv_in_a_file_is_exact():
    text = rendered(["a"], [(HOSTILE,), ("=1+1",)], "csv")
    assert [row[0] for row in csv.reader(io.StringIO(text, newline=""))] == ["a", HOSTILE, "=1+1"]


def test_lone_surrogates_survive_in_json():
    assert json.loads(rendered(["a"], [("\ud800",)], "jsonl")) == {"a": "\ud800"}
    assert rendered(["a"], [("\ud800",)], "csv") == "a\n\\ud800\n"


def test_rich_markup_in_data_is_text():
    assert "[red]x[/red]" in rendered(["a"], [("[red]x[/red]",)], "table")


@given(st.lists(st.text(), min_size=2, max_size=2))
def test_no_cell_breaks_a_markdown_table(row):
    lines = rendered(["a", "b"], [row], "markdown").split("\n")
    assert len(lines) == 4
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", lines[2])) == 3
    bare = lines[2].replace("<br>", "")
    assert not re.search(r"[<>]|(?<!\\)(?:\\\\)*[`\[\]*]", bare)


def test_markdown_reads_as_the_text():
    row = [("pass_rate", "_x_", "a\r\nb", "C:\\d", "&lt;", -1.5)]
    line = rendered("abcdef", row, "markdown").splitlines()[2]
    assert line == r"| pass_rate | \_x\_ | a<br>b | C:\\d | &amp;lt; | -1.5 |"


def test_columns_of_a_file_align_whatever_the_script():
    rows = [("plain", 7, "x"), ("日本語", 12, "y"), ("e\u0301", 123, "z")]
    _, rule, *lines = rendered(["name", "number", "last"], rows, "table").splitlines()
    end = rule.rindex(" ") + 1
    assert [cell_len(line) for line in lines] == [end + 1] * 3


# --- tables in a terminal


@pytest.mark.usefixtures("narrow")
def test_long_text_is_cropped_and_numbers_are_not():
    row = ("gpt", "日本 語" * 50, 12345678901234567890)
    lines = rendered(["model", "answer", "n"], [row], "table", Terminal()).splitlines()
    assert all(cell_len(line) <= 40 for line in lines)
    assert "…" in lines[2]
    assert lines[2].endswith(" 12345678901234567890")


@pytest.mark.usefixtures("narrow")
def test_columns_that_do_not_fit_are_named():
    notes = []
    columns = [f"column_{n}" for n in range(12)]
    text = rendered(columns, [["x" * 20] * 12], "table", Terminal(), notes)
    assert max(map(cell_len, text.splitlines())) <= 40
    (note,) = notes
    assert note.startswith("not shown: column_4, column_5")
    assert note.endswith("column_11 (--wide shows all, --columns A,B chooses)")


def test_a_terminal_gets_the_first_rows_and_a_note():
    notes = []
    text = rendered(["n"], ((n,) for n in count()), "table", Terminal(), notes)
    assert text.splitlines()[-1].strip() == str(SHOWN - 1)
    assert notes == ["only the first 1,000 rows are shown; --format csv gives all of them"]


def test_no_note_if_all_rows_are_shown():
    notes = []
    rendered(["n"], ((n,) for n in range(SHOWN)), "table", Terminal(), notes)
    assert notes == []


@pytest.mark.usefixtures("narrow")
def test_a_pipe_gets_every_row_and_cell_in_plain_text():
    rows = [(n, "x" * 500) for n in range(SHOWN + 1)]
    lines = rendered(["n", "text"], rows, "table").splitlines()
    assert len(lines) == SHOWN + 3
    assert lines[-1] == "1000  " + "x" * 500
    assert "".join(lines).isascii()


# --- streaming


@pytest.mark.parametrize("fmt", TEXT_FORMATS)
def test_the_first_bytes_come_before_the_last_row(fmt):
    numbers = count()
    endless = of_values(["n"], ((n,) for n in numbers))
    chunks = FORMATS[fmt](endless, Screen(None, pytest.fail))
    assert any(b"255" in chunk for chunk in islice(chunks, 100))
    assert next(numbers) <= 2 * BATCH


@pytest.mark.slow
@pytest.mark.parametrize("fmt", TEXT_FORMATS)
def test_memory_is_bounded(con, fmt):
    sql = "SELECT range AS n, repeat('x', 1000) AS text FROM range(20000)"  # 20 MB
    with Path(os.devnull).open("wb") as out:
        write_query(con, "SELECT 1", fmt, out, note=pytest.fail)
        tracemalloc.start()
        write_query(con, sql, fmt, out, note=pytest.fail)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 16 * BATCH * 1000


def test_an_error_in_the_middle_keeps_the_rows_before_it(con):
    out = io.BytesIO()
    sql = "SELECT CASE WHEN range = 50000 THEN error('late') ELSE range END AS n FROM range(60000)"
    with pytest.raises(duckdb.Error, match="late"):
        write_query(con, sql, "csv", out, note=pytest.fail)
    assert out.getvalue().startswith(b"n\n")


# --- processes

PROGRAM = """
import sys, duckdb
from warehouse.app.output.writers import write_query
sql, fmt = sys.argv[1:]
with duckdb.connect() as con:
    write_query(con, sql, fmt, sys.stdout.buffer, note=lambda text: print(text, file=sys.stderr))
heavy = {"pyarrow", "polars", "pandas", "numpy", "rich.table"}
print(sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


def program(sql, fmt, **options):
    command = [sys.executable, "-c", PROGRAM, sql, fmt]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, **options)


@pytest.mark.parametrize("fmt", ["table", "csv", "json", "parquet"])
def test_head_ends_the_output_quietly(fmt):
    sql = "SELECT range AS n, repeat('x', 1000) AS t FROM range(1000000000)"
    with program(sql, fmt, stdout=subprocess.PIPE) as process:
        process.stdout.read(10)
        process.stdout.close()
        complaint = process.stderr.read()
    assert process.returncode == 0
    assert complaint.startswith(b"[")
    assert complaint.count(b"\n") == 1


@pytest.mark.parametrize("fmt", ["table", "csv", "json"])
def test_small_queries_import_nothing_heavy(fmt):
    with program("SELECT now() AS t, [1] AS l", fmt, stdout=subprocess.DEVNULL) as process:
        assert process.stderr.read() == b"[]\n"


def test_a_real_terminal_gets_a_table():
    ours, theirs = pty.openpty()
    with program("SELECT 'x' AS model", "table", stdout=theirs) as process:
        process.stderr.read()
    os.close(theirs)
    pieces = []
    with suppress(OSError):  # at the end
        while piece := os.read(ours, 1000):
            pieces.append(piece)
    os.close(ours)
    shown = b"".join(pieces).decode()
    assert shown.splitlines() == ["model", "─────", "x"]


# --- progress


def test_progress_is_shown_on_terminals_only(capsys):
    assert list(track(range(100), 100, "files")) == list(range(100))
    assert capsys.readouterr() == ("", "")


def test_progress_shows_in_a_terminal(monkeypatch):
    class Seen(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", seen := Seen())
    assert list(track(range(20), 20, "few")) == list(range(20))
    assert seen.getvalue() == ""
    assert list(track(range(21), 21, "importing [b]files")) == list(range(21))
    assert "importing [b]files" in seen.getvalue()
