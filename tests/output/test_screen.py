"""Tables on a terminal: what is shown first, in how many cells, and through which pager."""

import contextlib
import io
import os
import pty
import re
import subprocess
import sys

import duckdb
import pytest
from rendering import rendered
from rich.cells import cell_len
from support import ROOT, command, environment, new_store

from tools.screens import shown_on_terminal
from warehouse.app.output.screen_columns import screen_columns
from warehouse.app.output.tables import heaviest
from warehouse.app.output.terminal import Layout
from warehouse.app.output.writers import write_query, write_rows
from warehouse.core.errors import BadInput
from warehouse.core.text.text_width import crop, fold, fold_apart
from warehouse.engine.views.sql_files import shipped_sql

WIDTHS = [40, 80, 100, 160]


class Terminal(io.BytesIO):
    def isatty(self):
        return True


def shown(names, rows, width, monkeypatch, notes=None, **layout):
    """Return the lines of a table on a terminal."""
    monkeypatch.setenv("COLUMNS", str(width))
    out = Terminal()
    notes = [] if notes is None else notes
    write_rows(names, rows, "table", out, note=notes.append, layout=Layout(**layout))
    return out.getvalue().decode().splitlines()


# --- values


def test_a_rate_is_a_percentage_with_its_interval(monkeypatch):
    columns = ["model", "pass_rate", "pass_rate_low", "pass_rate_high"]
    rows = [("a", 0.6288, 0.531, 0.7179), ("b", 1.0, 0.565518, 1.0), ("c", None, None, None)]
    assert shown(columns, rows, 80, monkeypatch) == [
        "model  pass_rate [low, high]",
        "─────  ─────────────────────",
        "a       62.9 % [53.1, 71.8]",
        "b      100.0 % [56.6, 100.0]",
        "c",
    ]


def test_an_interval_stays_with_any_figure(monkeypatch):
    lines = shown(["score", "score_low", "score_high"], [(98.04381, 96.95, 99.2)], 80, monkeypatch)
    assert [line.strip() for line in lines[::2]] == ["score [low, high]", "98.04 [96.95, 99.2]"]


def test_an_interval_that_finds_no_place_leaves_its_figure(monkeypatch):
    notes = []
    names = ["model", "score", "score_low", "score_high"]
    lines = shown(names, [("x" * 30, 98.04381, 96.95, 99.2)], 22, monkeypatch, notes)
    assert lines[0].split() == ["model", "score"]
    assert lines[2].endswith(" 98.04")
    assert notes[0].startswith("not shown: score_low, score_high (")


def test_shares_of_something_else_are_not_percentages(monkeypatch):
    # A rate of 1.5 is not a share of anything.
    assert shown(["rate"], [(0.5,), (1.5,)], 80, monkeypatch)[2:] == [" 0.5", " 1.5"]
    assert shown(["pass_rate_difference"], [(-0.125,)], 80, monkeypatch)[2].strip() == "-12.5 pp"


def test_unknown_costs_are_unknown_and_partial_totals_are_lower_bounds(monkeypatch):
    columns = ["total_cost_usd", "n_cost_known", "n_results"]
    rows = [(0.000052, 2, 2), (0.25, 1, 2), (None, 0, 2), (0.0, 1, 1)]
    lines = shown(columns, rows, 80, monkeypatch)
    assert [line[:14].strip() for line in lines[2:]] == ["0.000052", "≥ 0.25", "unknown", "0"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(3211.9, "3212"), (0.00115165, "0.001152"), (1e-12, "1e-12"), (12345678901, "12345678901")],
)
def test_numbers_are_short(value, text, monkeypatch):
    assert shown(["n"], [(value,)], 80, monkeypatch)[2].strip() == text


def test_lists_are_read_without_quotes():
    with duckdb.connect() as con:
        out = Terminal()
        write_query(con, "SELECT ['a', 'b'] AS models", "table", out, note=pytest.fail)
    assert out.getvalue().decode().splitlines()[2] == "a, b"


# --- which columns


def test_columns_that_answer_come_first(monkeypatch):
    notes = []
    columns = [f"key_{n}" for n in range(9)] + ["pass_rate"]
    rows = [["x" * 30] * 9 + [0.5]]
    lines = shown(columns, rows, 80, monkeypatch, notes, answer=("key_8", "pass_rate"))
    assert lines[0].split()[:2] == ["key_8", "pass_rate"]
    left_out = ", ".join(columns[1:8])
    assert notes == [f"not shown: {left_out} (--wide shows all, --columns A,B chooses)"]


def test_columns_without_values_are_left_out_and_named(monkeypatch):
    notes = []
    rows = [("a", None, "", []), ("b", None, None, [])]
    assert shown(["m", "x", "y", "z"], rows, 80, monkeypatch, notes)[0] == "m"
    assert notes == ["empty: x, y, z"]


def test_a_column_that_is_asked_for_is_shown(monkeypatch):
    lines = shown(["m", "n"], [("a", None)], 80, monkeypatch, columns=("n", "m"))
    assert lines[0].split() == ["n", "m"]


@pytest.mark.parametrize("fmt", ["csv", "jsonl", "markdown", "html"])
def test_columns_are_chosen_in_every_format(fmt):
    out = io.BytesIO()
    layout = Layout(columns=("b", "a"))
    write_rows(["a", "b", "hidden"], [(1, 2, 3)], fmt, out, note=pytest.fail, layout=layout)
    text = out.getvalue().decode()
    assert "hidden" not in text
    assert text.index("b") < text.index("a") or fmt == "html"


def test_parquet_has_the_chosen_columns(tmp_path):
    out = io.BytesIO()
    with duckdb.connect() as con:
        sql = "SELECT 1 AS a, 'x' AS b, [1] AS c"
        write_query(con, sql, "parquet", out, note=pytest.fail, layout=Layout(columns=("c", "a")))
    (tmp_path / "x.parquet").write_bytes(out.getvalue())
    assert duckdb.read_parquet(str(tmp_path / "x.parquet")).columns == ["c", "a"]


def test_an_unknown_column_gets_the_similar_names():
    with pytest.raises(BadInput, match="no column 'pass_rat'; did you mean 'pass_rate'"):
        write_rows(["pass_rate"], [(1,)], "csv", io.BytesIO(), note=pytest.fail,
                   layout=Layout(columns=("pass_rat",)))  # fmt: skip


def test_wide_is_what_a_file_gets(monkeypatch):
    columns, rows = ["name", "pass_rate", "empty"], [("x" * 300, 0.123456, None)]
    wide = shown(columns, rows, 40, monkeypatch, is_wide=True)
    assert wide == rendered(columns, rows, "table").splitlines()


def test_ids_of_our_own_runs_are_not_folded(monkeypatch):
    columns = ["run_id", *(f"name_{n}" for n in range(8))]
    rows = [(run_id, *["x" * 30] * 8) for run_id in ("20261122_090727", "2026-03-04/models/m.yaml")]
    ids = [line.split()[0] for line in shown(columns, rows, 60, monkeypatch)[2:]]
    assert ids == ["20261122_090727", "2026-03…/m.yaml"]


@pytest.mark.slow
def test_a_list_of_runs_marks_rehearsals_at_80_columns(tmp_path):
    store = new_store(tmp_path / "store")
    replay = ("--model", "example/aurora-2", "--provider", "replay", "--limit", "1")
    assert command(store.path, "run", "palindrome", *replay).code == 0
    header, _, row, *_ = shown_on_terminal(store.path, ["runs"], 80).splitlines()
    assert "is_replay" in header
    assert "true" in row


def test_rows_that_are_not_comparable_are_marked_at_80_columns():
    page = (ROOT / "docs" / "screens.md").read_text("utf-8")  # generated, and tested to be current
    screen = page.partition("show leaderboard, 80 columns")[2].partition("```\n\n")[0]
    block = screen.partition("palindrome · palindrome")[2].partition("\n\n")[0]
    marks = [cell for cell in block.split() if cell in {"true", "false"}]
    assert marks == ["true"] * 5 + ["false"] * 3


def test_an_empty_table_says_so(monkeypatch):
    for width in (None, 80):
        notes = []
        if width is None:
            rendered(["a"], [], "table", notes=notes)
        else:
            shown(["a"], [], width, monkeypatch, notes)
        assert notes == ["0 rows"]


def test_what_all_figures_of_a_block_are_is_said_once(monkeypatch):
    columns = ["task_set", "metric", "filter", "model", "score"]
    rows = [
        ("a", "f1", "strict", "x", 1),
        ("a", "f1", "strict", "y", 2),
        ("b", "f1", None, "x", 3),
        ("b", "em", None, "x", 4),
    ]
    layout = {"answer": ("metric", "model", "score"), "blocks": ("task_set",)}
    lines = shown(columns, rows, 80, monkeypatch, **layout)
    assert [lines[0], lines[1].split()] == ["a · f1 · strict", ["model", "score"]]
    assert [lines[6], lines[7].split()] == ["b", ["metric", "model", "score"]]


def test_figures_of_one_metric_are_told_apart_by_what_differs(monkeypatch):
    columns = ["metric", "scorer", "filter", "model", "score"]
    rows = [("f1", "s", "strict", "x", 1), ("f1", "s", "loose", "x", 2), ("em", "s", None, "x", 3)]
    layout = {"answer": ("metric", "model", "score")}
    lines = shown(columns, rows, 30, monkeypatch, **layout)
    assert lines[0].split() == ["metric", "filter", "model", "score"]
    # A filter for each metric tells nothing apart.
    assert "filter" not in shown(columns, rows[1:], 30, monkeypatch, **layout)[0]


@pytest.mark.slow
def test_columns_that_answer_exist(store):
    files = [file for file in shipped_sql() if file.answer]
    assert len(files) > 10
    with store.reading() as con:
        for file in files:
            columns = {row[0] for row in con.sql(f"DESCRIBE FROM {file.qualified}").fetchall()}
            assert set(file.answer) <= columns, file.name


# --- widths


NAMES = [
    "โมเดลภาษาไทยขนาดใหญ่มาก/รุ่นที่สอง",
    "äyskäröivä-öylättimalli-70b",
    "日本語モデル/版-2",
    "🤖🚀" * 12,
    "e\u0301" * 40,
]


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_terminal(width, monkeypatch):
    rows = [(name, name, 0.5, 12345, name) for name in NAMES]
    lines = shown(["model", "settings", "pass_rate", "n_tasks", "x"], rows, width, monkeypatch)
    assert all(cell_len(line) <= width for line in lines)
    assert len(lines) == 2 + len(NAMES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", range(1, 20))
def test_folded_names_keep_both_ends(name, width):
    folded = fold(name, width)
    assert width - 2 <= cell_len(folded) <= width
    head, _, tail = folded.partition("…")
    assert (name.startswith(head), name.endswith(tail)) == (True, True)


def test_different_names_stay_different():
    names = ["bfcl:live_parallel_multiple", "bfcl:live_multiple", "bfcl:live_parallel"]
    assert len({fold(name, 13) for name in names}) == 2
    folded = fold_apart(names, 13)
    assert len(set(folded)) == 3
    assert all(cell_len(name) <= 13 for name in folded)
    assert fold_apart(["same"] * 3, 2) == ["s…"] * 3


def test_names_that_differ_where_no_one_fold_shows_it_stay_different():
    names = [f"provider/{'a' * 30}{x}{'b' * 30}{y}{'c' * 30}-mini" for x in "12" for y in "12"]
    for width in (9, 13, 24, 40):
        assert len({fold(name, width) for name in names}) == 1
        folded = fold_apart([*names, *names], width)
        assert len(set(folded)) == 4
        assert folded[:4] == folded[4:]
        assert all(cell_len(name) <= width for name in folded)
        assert all(name.startswith("pr") for name in folded)
    others = fold_apart([*names, "other/" + "d" * 99], 24)
    assert len(set(others)) == 5
    assert others[-1].startswith("other/")
    assert all(cell_len(name) <= 3 for name in fold_apart(names, 3))


@pytest.mark.slow
def test_names_that_each_begin_the_next_need_no_deep_stack():
    names = ["a" * n for n in range(1, 2_500)]
    folded = fold_apart(names, 20)
    assert folded[:20] == names[:20]
    assert set(folded[20:]) == {"a" * 19 + "…"}


def test_prose_is_cropped_at_its_end():
    assert crop("one two three", 8) == "one two…"
    assert fold("relay/example/tundra-large", 16) == "relay/ex…a-large"


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("view", ["leaderboard", "run_overview", "paired_comparisons"])
def test_the_figure_is_seen_at_any_width(examples, view, width, monkeypatch):
    wanted = "p_value" if view == "paired_comparisons" else "pass_rate"
    monkeypatch.setenv("COLUMNS", str(width))
    out = Terminal()
    (file,) = (file for file in shipped_sql() if file.qualified == f"main.{view}")
    with examples.reading() as con:
        write_query(con, f"FROM {view}", "table", out, note=[].append, layout=Layout(file.answer))
    lines = out.getvalue().decode().splitlines()
    assert all(cell_len(line) <= width for line in lines)
    if width >= 80:
        assert wanted in lines[0]


SHOWN_TABLES = [
    "show leaderboard",
    "history example/aurora-2",
    "compare example/aurora-2 example/kaamos-mini",
]


@pytest.mark.parametrize("line", SHOWN_TABLES)
def test_commands_have_the_same_tables_and_lines(examples, line, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    lines = shown_on_terminal(examples.path, line.split(), 80).splitlines()
    [(at, rule)] = [(at, text) for at, text in enumerate(lines) if set(text) == {"─", " "}]
    # A line under each title, with two cells between them.
    gaps = [gap.span() for gap in re.finditer(" +", rule)]
    assert {end - start for start, end in gaps} == {2}
    assert {lines[at - 1][start:end] for start, end in gaps} == {"  "}
    assert max(map(cell_len, lines)) <= 80
    assert "\x1b" not in "".join(lines)


@pytest.mark.parametrize("line", SHOWN_TABLES)
def test_colours_are_never_used_in_pipes(examples, line, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    ended = command(examples.path, *line.split())
    assert "\x1b" not in ended.out + ended.err


# --- the pager

PROGRAM = """
import sys
from warehouse.app.output.terminal import Layout
from warehouse.app.output.writers import write_rows
rows, layout = ((n,) for n in range(int(sys.argv[1]))), Layout(is_paged=len(sys.argv) == 2)
write_rows(["n"], rows, "table", sys.stdout.buffer, note=print, layout=layout)
"""


def on_terminal(rows, **variables):
    """Return what a program shows that believes it is read by a person, with a marking pager."""
    ours, theirs = pty.openpty()
    kept = {k: v for k, v in environment().items() if k not in {"CI", "NO_PAGER", "PAGER", "LESS"}}
    ended = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(rows)],
        stdin=theirs, stdout=theirs, cwd=ROOT, env={**kept, "LINES": "24", **variables},
    )  # fmt: skip
    os.close(theirs)
    # What was written reaches this side in pieces, some of them after the program has ended.
    pieces = []
    with contextlib.suppress(OSError):  # at the end
        while piece := os.read(ours, 4096):
            pieces.append(piece)
    os.close(ours)
    ended.wait(300)
    return b"".join(pieces).decode()


@pytest.mark.parametrize(
    ("rows", "variables", "is_paged"),
    [
        (50, {}, True),
        (5, {}, False),
        (50, {"CI": "1"}, False),
        (50, {"NO_PAGER": "1"}, False),
        (50, {"PAGER": ""}, False),
        (50, {"PAGER": "cat"}, False),
    ],
)
def test_long_tables_go_through_the_pager(tmp_path, rows, variables, is_paged):
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho PAGED\nexec cat\n")
    pager.chmod(0o755)
    text = on_terminal(rows, **{"PAGER": str(pager), **variables})
    assert ("PAGED" in text) == is_paged
    assert str(rows - 1) in text


def test_there_is_no_pager_in_a_pipe(examples, monkeypatch):
    monkeypatch.setenv("PAGER", "false")
    assert command(examples.path, "show", "results", "-n", "100").out.count("\n") == 102


def test_screen_columns_keep_the_order_of_rows_without_an_answer():
    from warehouse.engine.rows import of_values

    rows = of_values(["b", "a"], [(1, 2)])
    columns, empty = screen_columns(rows, [(1, 2)], Layout())
    assert ([column.name for column in columns], empty) == (["b", "a"], [])


def test_an_interval_without_an_upper_end_says_more_than():
    columns = ("model", "p95_ms", "p95_ms_low", "p95_ms_high")
    rows = [("a", 620.0, 566.0, None), ("b", 620.0, 566.0, 700.0), ("c", None, None, None)]
    shown = Terminal()
    write_rows(columns, rows, "table", shown, note=[].append)
    lines = shown.getvalue().decode().splitlines()[2:]
    assert [line[1:].strip() for line in lines] == ["620 [> 566]", "620 [566, 700]", ""]


def test_remarks_on_what_moves_figures_most_are_kept(monkeypatch):
    labels = "corrected by 40 labels (people)"
    down = "no answer to {} of 20 calls: not passed"
    missing = "5.0 % if the missing verdicts are failures, 80.0 % if passes"
    said = [labels, down.format(1), *[labels] * 6, down.format(19), missing, down.format(2)]
    rows = [(f"m{at}", "r", 0.5, remark) for at, remark in enumerate(said)]
    notes = []
    names = ["model", "run_id", "pass_rate", "remark"]
    shown(names, rows, 80, monkeypatch, notes, answer=("model", "pass_rate"))
    kept = [0, 1, 2, 8, 9, 10]
    assert notes[:7] == [
        *(f"m{at}: {said[at]}" for at in kept),
        "5 more rows have a remark; --columns model,remark",
    ]
    # Where runs are told apart, so are the remarks on them.
    shown(names, rows[:2], 80, monkeypatch, notes, answer=("run_id", "model"))
    assert notes[-2] == f"m0, r: {labels}"
    # Nor does a model stand for two rows.
    twice = [("m", "r1", 0.5, down.format(1)), ("m", "r2", 0.5, down.format(2))]
    shown(names, twice, 80, monkeypatch, notes, answer=("model", "pass_rate"))
    assert notes[-2:] == [f"m, r{n}: {down.format(n)}" for n in (1, 2)]


def test_remarks_that_only_look_like_ours_weigh_nothing():
    remarks = [
        "no answer to 0 of 0 call",
        "1.2.3 % if the missing verdicts are failures, 3 % if passes",
        f"no answer to {'9' * 5_000} of 1 call",
        "no answer to 1 of 2 calls: not passed",
    ]
    assert heaviest(remarks, 2) == [0, 3]
