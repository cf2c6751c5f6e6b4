"""Help where people look for it: similar names, unknown suites, completion, messages."""

import duckdb
import pytest
from click.shell_completion import ShellComplete
from support import command

import evalstore
from warehouse.app.console.cli import TableOptions, print_rows
from warehouse.core.errors import BadInput


@pytest.fixture
def run(examples):
    """Return a function that runs a command over the examples."""
    return lambda *arguments: command(examples.path, *arguments)


def completions(store, *words):
    """Return what a shell offers for the last word."""
    complete = ShellComplete(evalstore._cli, {}, "evalstore", "_EVALSTORE_COMPLETE")
    words = ["--store", str(store.path), *words]
    return [item.value for item in complete.get_completions(words[:-1], words[-1])]


def test_no_arguments_show_the_help(capfd):
    with pytest.raises(SystemExit) as end:
        evalstore.main([])
    assert not end.value.code
    out, err = capfd.readouterr()
    assert (out.startswith("Usage: evalstore"), err) == (True, "")


@pytest.mark.parametrize(
    ("arguments", "question"),
    [
        (["impotr"], "there is no command 'impotr'; did you mean 'import'"),
        (["annotate", "adjudicat"], "did you mean 'adjudicate'?"),
        (["export", "opneclaw"], "did you mean 'openclaw'?"),
        (["xyzzy"], "--help lists the commands"),
        (["show", "leaderbord"], "did you mean 'leaderboard'"),
        (["runs", "--suite", "palindrom"], "did you mean 'palindrome'?"),
        (["compare", "example/aurora2", "example/kaamos-mini"], "did you mean 'example/aurora-2'?"),
        (["forget", "2026-03-04/models/example-usva.yaml"], "usva-3.yaml'"),
        (
            ["export", "palindrome", "--to", "x", "--run", "2026-03-04/models/example"],
            "usva-3.yaml",
        ),
    ],
)
def test_a_name_that_is_not_known_gets_the_similar_ones(run, arguments, question):
    ended = run(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert question in ended.err


@pytest.mark.parametrize(
    "arguments", [["runs"], ["compare", "example/aurora-2", "example/kaamos-mini"], ["forget", "x"]]
)
def test_an_unknown_suite_is_an_error(run, arguments):
    ended = run(*arguments, "--suite", "muu")
    assert (ended.code, ended.out) == (2, "")
    assert "the store has no runs of suite 'muu'; its suites are: palindrome" in ended.err


def test_an_empty_store_has_no_suite(cli):
    assert "it has no runs at all" in cli("runs", "--suite", "palindrome").err


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ("SELECT x::INT, now() FROM (SELECT 'a' AS x)", "LINE 1: SELECT x::INT, now()"),
        ("SELECT now(),\n x::INT FROM (SELECT 'a' AS x)", "LINE 2:  x::INT FROM"),
        ("SELECT x::INT FROM (SELECT 'a' AS x)", "LINE 1: SELECT x::INT FROM"),
    ],
)
@pytest.mark.parametrize("fmt", ["csv", "parquet"])
def test_an_error_quotes_the_query_as_written(run, query, line, fmt):
    ended = run("sql", query, "--format", fmt)
    # For Parquet, DuckDB 1.5 quotes the query as it has parsed it, in one line.
    is_parsed = fmt == "parquet" and duckdb.__version__.startswith("1.")
    assert ("CAST(x AS INTEGER)" if is_parsed else line) in ended.err
    assert "AS " not in ended.err.replace("AS x", "").replace("AS INTEGER", "")


def test_an_error_never_quotes_our_own_queries(examples):
    with pytest.raises(BadInput, match="Referenced column") as error:
        print_rows(examples.path, "SELECT nope FROM runs", TableOptions())
    assert "LINE" not in str(error.value)


# --- shell completion

MARCH = ["2026-03-03/models/esimerkki-routa-7b.yaml", "2026-03-04/models/example-usva-3.yaml"]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["sho"], ["show"]),
        (["show", "leaderboard_p"], ["leaderboard_pooled"]),
        (["show", "checks.viol"], ["checks.violations"]),
        (["compare", "example/a"], ["example/aurora-2"]),
        (["compare", "example/aurora-2", "example/k"], ["example/kaamos-mini"]),
        (["runs", "--suite", ""], ["palindrome"]),
        (["forget", "2026-03-04"], MARCH[1:]),
        (["export", "palindrome", "--run", "2026-03-0"], sorted(MARCH, reverse=True)),
        (["export", "openclaw", "--run", ""], []),
        (["run", "posters-t"], ["posters-truth"]),
        (["run", "palindrome", "--model", "AL"], ["ALL"]),
        (["sync", "--en"], ["--engine", "--environment"]),
    ],
)  # fmt: skip
def test_names_are_completed(examples, words, offered):
    assert completions(examples, *words) == offered


def test_the_shell_completes_names_of_files():
    complete = ShellComplete(evalstore._cli, {}, "evalstore", "_EVALSTORE_COMPLETE")
    (item,) = complete.get_completions(["sync", "--environment"], "env")
    assert (item.type, item.value) == ("file", "env")
    assert complete.get_completions(["sync", "--engine"], "sc:") == []


def test_views_are_completed_with_their_purpose():
    complete = ShellComplete(evalstore._cli, {}, "evalstore", "_EVALSTORE_COMPLETE")
    (item,) = complete.get_completions(["show"], "leaderboard_p")
    assert item.help.endswith(".")


@pytest.mark.parametrize("content", [None, b"", b"not a warehouse"])
def test_completion_without_a_warehouse_offers_nothing(tmp_path, content):
    if content is not None:
        (tmp_path / "warehouse.duckdb").write_bytes(content)

    class Folder:
        path = tmp_path

    assert completions(Folder, "compare", "a") == []


def test_completion_offers_no_control_characters(examples, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    for name, text in {"a": "plain", "b": "\\e[2Jcleared", "c": "two\\nlines"}.items():
        (tmp_path / "models" / f"{name}.yaml").write_text(f'name: "{text}"\n')
    offered = completions(examples, "run", "palindrome", "--model", "")
    assert "plain" in offered
    assert all(name.isprintable() for name in offered)


def test_completion_with_an_impossible_path_offers_nothing(tmp_path):
    class Folder:
        path = tmp_path / ("a" * 300)

    assert completions(Folder, "compare", "a") == []
