"""The command line: streams, exit codes, help, start-up time, and the rules of the code base."""

import ast
import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from support import (
    EXAMPLES,
    ROOT,
    add_rows,
    child,
    command,
    environment,
    import_into,
    log,
    new_store,
    shell,
    write_log,
)

import evalstore
from warehouse.app.console.cli import FORMATS, note
from warehouse.core.text.text_width import width_of
from warehouse.engine.scoring.registry import UDFS
from warehouse.engine.views.sql_files import shipped_sql, shown_views

EVALSTORE = (sys.executable, "-m", "evalstore", "--store")
COMMANDS = [name for name, _, _ in evalstore._COMMANDS]


@pytest.fixture
def run(examples):
    """Return a function that runs a command over the examples."""
    return lambda *arguments: command(examples.path, *arguments)


def rows_of(ended):
    return list(csv.DictReader(io.StringIO(ended.out)))


# --- import


def test_import_prints_a_summary(cli):
    ended = cli("import", EXAMPLES)
    assert ended.code == 0
    summary = ended.lines
    assert summary["files"] == "28  (28 imported)"
    assert (summary["runs"], summary["results"]) == ("16", "218 new")
    assert (summary["unchanged"], summary["quarantined"]) == ("0", "0")
    assert int(summary["rules"].split()[-1]) > 0
    assert "rule broken:" in ended.err
    again = cli("import", EXAMPLES)
    assert (again.code, again.lines["results"], again.lines["unchanged"]) == (0, "0 new", "28")


def test_import_counts_other_files(cli):
    assert cli("import", EXAMPLES.parent).lines["other"].startswith("files   ")


def test_messages_about_many_files_are_shortened(cli, tmp_path):
    for n in range(60):
        (tmp_path / f"{n}.yaml").write_text("\n" * n + "broken: [")
    ended = cli("import", tmp_path)
    assert ended.code == 2
    assert ended.err.count("quarantined:") == 50
    assert "… and 10 more" in ended.err


# --- sql


@pytest.mark.slow
def test_a_query_from_an_argument_a_file_or_stdin(examples, run, tmp_path):
    query = "SELECT count(*) AS n FROM results"
    (tmp_path / "q.sql").write_text(query + ";\n-- ä\n", "utf-8")
    expected = (0, "n\n218\n", "")
    for ended in (
        run("sql", query, "--format", "csv"),
        run("sql", "--file", tmp_path / "q.sql", "--format", "csv"),
        shell(examples.path, "sql", "--format", "csv", input=query.encode()),
    ):
        assert (ended.code, ended.out, ended.err) == expected


@pytest.mark.slow
@pytest.mark.parametrize("fmt", FORMATS)
def test_every_format_contains_every_row(examples, fmt):
    query = "SELECT seq, answer FROM results"
    ended = subprocess.run(
        [*EVALSTORE, examples.path, "sql", f"{query} ORDER BY run_id, seq", "--format", fmt],
        capture_output=True,
        check=True,
        env=environment(),
        cwd=ROOT,
    )
    if fmt == "parquet":
        assert pq.read_table(io.BytesIO(ended.stdout)).num_rows == 218
        return
    text = ended.stdout.decode()
    if fmt == "json":
        assert len(json.loads(text)) == 218
    elif fmt == "csv":
        assert len(list(csv.reader(io.StringIO(text)))) == 219
    else:
        assert len(text.splitlines()) >= 218


@pytest.mark.parametrize(
    ("value", "kind", "shown"),
    [
        ("5", "INTEGER", "5"),
        ("0.25", "DOUBLE", "0.25"),
        ("true", "BOOLEAN", "true"),
        ("null", None, ""),
        ("teksti", "VARCHAR", "teksti"),
        ("a=b'; DROP", "VARCHAR", "a=b'; DROP"),
        ("", "VARCHAR", '""'),
        ('"5"', "VARCHAR", '"""5"""'),
        ("[1]", "VARCHAR", "[1]"),
        ("2026-01-01", "VARCHAR", "2026-01-01"),
    ],
)
def test_parameters_have_types(run, value, kind, shown):
    ended = run("sql", "SELECT 1 AS one, $x AS x", "-p", f"x={value}", "--format", "csv")
    assert (ended.code, ended.out) == (0, f"one,x\n1,{shown}\n")
    if kind is not None:
        ended = run("sql", "SELECT typeof($x) AS t", "-p", f"x={value}", "--format", "csv")
        assert ended.out == f"t\n{kind}\n"


@pytest.mark.parametrize("text", ["x", "=5", "1x=5", "a b=5"])
def test_an_invalid_parameter(run, text):
    ended = run("sql", "SELECT 1", "-p", text)
    assert (ended.code, "NAME=VALUE" in ended.err) == (2, True)


@pytest.mark.parametrize("value", [str(10**60), "1e999", "NaN", "-0.0"])
def test_a_parameter_with_an_unusual_number(run, value):
    ended = run("sql", "SELECT $x AS x", "-p", f"x={value}")
    assert (ended.code in {0, 2}, "Traceback" in ended.err) == (True, False)


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("SELECT answr FROM results", "^"),
        ("SELEC 1", "^"),
        ("FROM leaderbord", "leaderboard"),
        ("", "no statement"),
        ("SELECT $x", "x"),
        ("INSERT INTO lake.meta VALUES ('a', 'b')", "read-only"),
        ("FROM read_csv('/etc/passwd')", "disabled"),
    ],
)
def test_an_invalid_query_is_marked_without_a_traceback(run, query, place):
    ended = run("sql", query)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: ")
    assert place in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.slow
def test_a_query_that_is_not_utf8(examples):
    for arguments in (["\udcff"], ["SELECT $a", "-p", "a=\udcff"]):
        ended = shell(examples.path, "sql", *arguments)
        assert (ended.code, "Traceback" in ended.err) == (2, False)
        assert "not UTF-8" in ended.err
    ended = shell(examples.path, "sql", "--format", "csv", input=b"SELECT '\xff' AS a")
    assert (ended.code, ended.out) == (0, "a\n\ufffd\n")


def test_a_query_file_that_is_not_utf8(run, tmp_path):
    (tmp_path / "q.sql").write_bytes(b"SELECT '\xff'")
    ended = run("sql", "--file", tmp_path / "q.sql")
    assert (ended.code, "UTF-8" in ended.err) == (2, True)


def test_a_query_and_a_file_are_refused_together(run, tmp_path):
    (tmp_path / "q.sql").write_text("SELECT 1")
    assert run("sql", "SELECT 1", "--file", tmp_path / "q.sql").code == 2


def test_functions_by_name(run):
    query = "SELECT palindrome_answer('<PALINDROMI>Ii</PALINDROMI>') AS a"
    assert run("sql", query, "--format", "csv").out == "a\nIi\n"


@pytest.mark.slow
def test_head_ends_quietly_and_immediately(examples):
    # Ten billion rows: reading all of them would take all day.
    query = "SELECT r.answer, n.range FROM results AS r, range(50000000) AS n"
    with subprocess.Popen(
        [*EVALSTORE, examples.path, "sql", query, "--format", "csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        cwd=ROOT,
    ) as process:
        assert process.stdout.readline() == b"answer,range\n"
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(300) == 0


@pytest.mark.slow
def test_control_characters_do_not_reach_the_terminal(store, tmp_path):
    hostile = "\x1b]0;otsikko\x07\x1b[2J\u202e"
    import_into(store, write_log(tmp_path / "a.yaml", log(model=hostile)))
    for arguments in (["runs"], ["show", "results"], ["show", "checks.violations"]):
        ended = command(store.path, *arguments)
        assert ended.code == 0
        assert not any(mark in ended.out + ended.err for mark in "\x1b\x07\u202e")


# --- show, runs, info, sync


def test_show_lists_every_view_with_its_purpose(run):
    listed = {row["view"]: row for row in rows_of(run("show", "--format", "csv"))}
    assert {"leaderboard", "palindrome_accuracy", "checks.violations"} <= listed.keys()
    assert listed.keys() == shown_views().keys()
    assert all(row["purpose"].endswith(".") for row in listed.values())


def test_views_are_listed_by_group(run):
    lines = run("show").out.splitlines()
    groups = [line for line in lines if line and not line.startswith(" ")]
    assert groups[0] == "All suites: Rankings, costs, times and histories of every suite."
    assert len(groups) == 8
    shared = lines[: lines.index(groups[1])]
    assert any(line.startswith("  leaderboard ") for line in shared)


@pytest.mark.slow
def test_every_view_can_be_shown(run):
    names = [row["view"] for row in rows_of(run("show", "--format", "csv"))]
    assert len(names) >= 20
    for name in names:
        ended = run("show", name, "--limit", "3", "--format", "csv")
        assert ended.code == 0, name
        # The store has no two task sets to compare, which is said.
        assert bool(ended.err) == (name == "suite_agreement"), name
        assert ended.out


def test_an_unknown_view_gets_a_suggestion(run):
    ended = run("show", "leaderbord")
    assert (ended.code, "did you mean 'leaderboard'" in ended.err) == (2, True)
    ended = run("show", "xyzzy; DROP")
    assert (ended.code, "`evalstore show` lists them" in ended.err) == (2, True)


def test_limit_is_respected(run):
    for n in (0, 1, 5):
        assert len(rows_of(run("show", "results", "-n", n, "--format", "csv"))) == n


def test_runs_are_listed(run):
    assert len(rows_of(run("runs", "--format", "csv"))) == 16
    assert len(rows_of(run("runs", "--suite", "palindrome", "--format", "csv"))) == 16


def test_info_counts(run):
    ended = run("info")
    assert ended.code == 0
    assert ended.lines["runs"] == "16"
    assert ended.lines["results"] == "218"
    assert ended.lines["palindrome"] == "16 runs, 218 results"


def test_info_counts_one_run_and_one_result(tmp_path):
    store = new_store(tmp_path / "store")
    run = {"suite": "own", "run_id": "r", "generation": "root", "content_id": "r"}
    add_rows(store.lake, runs=[run], results=[{**run, "seq": 0, "model": "m", "task_id": "t"}])
    assert "own            1 run, 1 result\n" in command(store.path, "info").out


def test_info_is_in_columns_whatever_the_names(tmp_path):
    store = new_store(tmp_path / "store")
    suites = ["own", "a suite of a longer name", "名前" * 4, "x" * 90]
    run = {"run_id": "r", "generation": "root", "content_id": "r"}
    add_rows(store.lake, runs=[{**run, "suite": suite} for suite in suites])
    lines = command(store.path, "info").out.splitlines()
    for name in suites[:3]:
        assert f"{name}{' ' * (24 - width_of(name))} 1 run, 0 results" in lines
    assert f"runs{' ' * 20} 4" in lines
    # One that would leave no room for figures moves its own line only.
    assert f"{suites[3]} 1 run, 0 results" in lines


@pytest.mark.slow
def test_sync_says_what_it_did(run, examples, tmp_path):
    assert run("sync").err == "loaded 0 batches\n"
    import_into(examples, write_log(tmp_path / "a.yaml"))
    assert run("sync").err == "loaded 1 batch\n"
    assert run("sync", "--rebuild").err == "rebuilt from 2 batches\n"


def test_the_store_comes_from_the_environment(examples):
    ended = child("-m", "evalstore", "info", env=environment(EVALSTORE_DIR=str(examples.path)))
    assert (ended.code, str(examples.path) in ended.out) == (0, True)


# --- help and start-up


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_every_command_has_an_example(run, name):
    ended = run(name, "--help")
    assert ended.code == 0
    assert f"evalstore {name}" in ended.out
    assert "\\" not in ended.out.replace("\\$", "").replace("\\\n", "")


def test_help_names_every_command(run):
    ended = run("--help")
    assert all(f"\n  {name} " in ended.out for name in COMMANDS)


def test_misuse_is_exit_code_2(run):
    for arguments in (["nothing"], ["show", "--nothing"], ["import"], ["sql", "a", "b"]):
        ended = run(*arguments)
        assert (ended.code, ended.out) == (2, "")


# --- rules of the code base

FOLDERS = ("ingest", "runners", "exports", "warehouse")
MAY_IMPORT = {
    "ingest": {"warehouse"},
    "runners": {"warehouse"},
    "exports": {"warehouse"},
    "warehouse": set(),
}
MODULES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            yield node.module


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS)
def test_packages_follow_the_import_rules(folder):
    for path in (ROOT / folder).rglob("*.py"):
        for module in imports_of(path):
            top = module.partition(".")[0]
            assert top not in {"evalstore", "tests", "sql", "tasks", "models"}, path
            if top in FOLDERS and top != folder:
                assert top in MAY_IMPORT[folder], f"{path} imports {module}"


def test_tests_import_neither_benchmarks_nor_other_tests():
    wrong = re.compile(r"^\s*(?:from|import) (?:bench\b|(?:[\w.]+\.)?test_\w+)", re.MULTILINE)
    paths = list((ROOT / "tests").rglob("*.py"))
    assert len(paths) > 100
    assert [path for path in paths if wrong.search(path.read_text("utf-8"))] == []


def test_files_and_memory_are_opened_in_one_module_each():
    users = [path for path in MODULES if "duckdb.connect(" in path.read_text("utf-8")]
    assert sorted(path.name for path in users) == ["connection.py", "in_memory.py"]


def prints(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        if name in {"print", "click.echo", "note", "sys.stdout.write", "sys.stderr.write"}:
            yield name


@pytest.mark.slow
def test_only_the_command_layer_prints():
    allowed = {path for folder in FOLDERS for path in (ROOT / folder).rglob("command.py")}
    allowed |= {ROOT / "ingest" / "annotate.py", ROOT / "ingest" / "labels.py"}
    # Progress is printed while a run or report goes on, on stderr.
    allowed |= {ROOT / "runners" / "progress.py", ROOT / "exports" / "site" / "progress.py"}
    # The columns of a table are shown, and confirmed, before it is read.
    allowed |= {ROOT / "ingest" / "formats" / "tables" / "columns" / "confirmation.py"}
    allowed |= {
        ROOT / "warehouse/app/console/cli.py",
        *(ROOT / "warehouse/app/commands").rglob("*.py"),
    }
    assert {path for path in MODULES if list(prints(path))} <= allowed


def test_commands_are_in_the_command_layer():
    for _, place, text in evalstore._COMMANDS:
        module = place.partition(":")[0]
        assert module.endswith(".command") or module.startswith(
            ("ingest.", "warehouse.app.commands.")
        )
        assert text.endswith((".", "…"))


def test_data_folders_contain_no_python():
    for folder in ("sql", "tasks", "models"):
        assert list((ROOT / folder).rglob("*.py")) == []


def test_every_function_is_documented_and_tested():
    docs = (ROOT / "docs" / "data-dictionary.md").read_text("utf-8")
    scores = "".join(file.sql for file in shipped_sql())
    tests = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    for udf in UDFS:
        assert f"`{udf.name}(" in docs, udf.name
        # A function used by a shipped score is tested by the views of the score.
        named = (f"{udf.name}(" in tests, udf.batch.__name__ in tests, f"{udf.name}(" in scores)
        assert any(named), udf.name


def test_every_sql_file_is_described():
    files = shipped_sql()
    assert len(files) > 25
    for file in files:
        assert file.purpose.endswith("."), file.qualified
        assert file.is_function or file.grain, file.qualified
        assert file.is_materialised == bool(file.key) == bool(file.suite), file.qualified


def test_errors_become_exit_codes_in_one_place():
    sources = [(path, path.read_text("utf-8")) for path in MODULES]
    exits = ("sys.exit", "raise SystemExit")
    assert [path for path, text in sources if any(way in text for way in exits)] == []


# --- closed and full standard streams

STREAMS = [
    ("runs", ">&-", 0),
    ("sql", "<&-", 2),
    ("runs", "2>&-", 0),
    ("models", ">&-", 0),
    ("runs", ">/dev/full", 2),
    ("info", ">/dev/full", 2),
    ("--help", ">/dev/full", 2),
]


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "streams", "code"), STREAMS)
def test_closed_or_full_standard_streams(examples, arguments, streams, code):
    line = f"exec {shlex.join(EVALSTORE)} {shlex.quote(str(examples.path))} {arguments} {streams}"
    ended = subprocess.run(
        ["sh", "-c", line], capture_output=True, env=environment(), check=False, text=True
    )
    assert (ended.returncode, "Traceback" in ended.stderr) == (code, False), ended.stderr
    if streams == ">/dev/full":
        assert "output truncated: No space left" in ended.stderr


def test_closed_stderr_does_not_stop_a_command(monkeypatch):
    read, write = os.pipe()
    os.close(read)
    with io.TextIOWrapper(io.FileIO(write, "w"), write_through=True) as unread:
        monkeypatch.setattr(sys, "stderr", unread)
        note("one")
        note("two")
