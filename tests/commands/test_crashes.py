"""Errors that nobody foresaw: a message and a report, never a traceback."""

import re
from pathlib import Path

import click
import pytest
from support import child, command, environment

CRASHING = """
import sys, evalstore
from warehouse.app.commands import runs
def fail(*_, **__): raise {error}
runs.print_rows = fail
evalstore.main(sys.argv[1:])
"""
KEY = "sk-proj-Zq8Xk2LmN4pR6tV9wY1bC3dF5gH7jK0aS2eU4iO6"


@pytest.fixture
def crash(tmp_path):
    """Return a function that runs a command with an error in it, and returns result and report."""
    (tmp_path / "store").mkdir()

    def run(error, *arguments, debug="", **variables):
        variables = {"TMPDIR": str(tmp_path), "EVALSTORE_DEBUG": debug, **variables}
        done = child(
            "-c", CRASHING.format(error=error), "--store", tmp_path / "store", "runs", *arguments,
            env=environment(**variables), crashes=True,
        )  # fmt: skip
        return done, [path.read_text() for path in tmp_path.glob("evalstore-crash-*")]

    return run


def test_a_report_instead_of_a_traceback(crash, tmp_path):
    done, (report,) = crash("ZeroDivisionError('no rows')", "--format", "csv")
    assert (done.code, done.out) == (70, "")
    assert "error: evalstore failed unexpectedly (ZeroDivisionError: no rows)" in done.err
    assert "Traceback" not in done.err
    (path,) = re.findall(r"crash report: (\S+)", done.err)
    assert Path(path).parent == tmp_path
    assert Path(path).stat().st_mode & 0o777 == 0o600
    assert "Traceback (most recent call last)" in report
    assert "ZeroDivisionError: no rows" in report
    assert re.search(r"^command +evalstore --store … runs --format …$", report, re.MULTILINE)
    for package in ("evalstore", "duckdb", "Python"):
        assert re.search(rf"{package} [\d.]+", report)


@pytest.mark.slow
def test_debugging_shows_the_report(crash):
    done, (report,) = crash("ZeroDivisionError", debug="1")
    assert done.code == 70
    assert report in done.err
    done, _ = crash("ZeroDivisionError", debug="0")
    assert "Traceback" not in done.err


def test_no_secrets_in_the_report(crash):
    error = f"ValueError('key {KEY} and horsebattery9, password=Tr0ub4dor3x9Qz')"
    done, (report,) = crash(error, "--format=csv", debug="1", MY_API_KEY="horsebattery9")
    for secret in (KEY, "horsebattery9", "Tr0ub4dor3x9Qz"):
        assert secret not in report.partition("Traceback")[0] + done.err
        assert secret not in report
    assert "(redacted)" in report


def test_without_a_place_for_the_report(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left")

    (tmp_path / "store").mkdir()
    monkeypatch.setattr("warehouse.app.commands.runs.print_rows", lambda *_, **__: 1 // 0)
    monkeypatch.setattr("warehouse.app.console.crash.write_report", fail)
    monkeypatch.setenv("EVALSTORE_DEBUG", "")
    with pytest.raises(AssertionError) as crashed:  # of `command`
        command(tmp_path / "store", "runs")
    message = str(crashed.value)
    assert "ZeroDivisionError: " in message
    assert "no crash report was written: [Errno 28] No space left" in message
    assert "Traceback" not in message


def test_an_error_of_a_file_names_it(crash):
    done, reports = crash("PermissionError(13, 'Permission denied', 'somewhere/file')")
    assert (done.code, reports) == (2, [])
    assert done.err == "error: somewhere/file: Permission denied\n"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (click.Abort, 1),
        (EOFError, 1),
        (KeyboardInterrupt, 130),
        (click.UsageError("no"), 2),
        (RuntimeError("Query interrupted"), 130),
    ],
)
def test_what_click_reports_is_not_a_crash(tmp_path, monkeypatch, error, code):
    def fail(*_, **__):
        raise error

    (tmp_path / "store").mkdir()
    monkeypatch.setattr("warehouse.app.commands.runs.print_rows", fail)
    ended = command(tmp_path / "store", "runs")
    assert (ended.code, "crash" in ended.err) == (code, False)


def test_names_that_are_too_long(tmp_path):
    long = "x" * 300
    for arguments in (["runs"], ["sync"], ["info"], ["import", tmp_path], ["check"]):
        ended = command(tmp_path / long, *arguments)
        assert (ended.code, "File name too long" in ended.err) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["[" * 5_000, "[" * 100_000, '{"a":' * 5_000, "-" * 5_000])
def test_values_and_queries_that_are_nested_deeply(tmp_path, text):
    (tmp_path / "store").mkdir()
    query = ["SELECT $m AS m", "-p", f"m={text}", "--format", "csv"]
    ended = command(tmp_path / "store", "sql", *query)
    assert ended.code == 0
    assert ended.out.splitlines()[1].strip('"').replace('""', '"') == text
    ended = command(tmp_path / "store", "sql", f"SELECT {text}")
    assert ended.code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["sql", "\udcff"],
        ["sql", "SELECT $m", "-p", "m=\udcff"],
        ["runs", "--suite", "\udcff"],
        ["export", "palindrome", "--run", "\udcff", "--to", "out"],
        ["publish", "posters", "--run", "x", "--label", "x", "--note", "\udcff"],
        ["import", "--as", "\udcff", "a.yaml"],
        ["annotate", "adjudicate", "x", "--by", "\udcff"],
        ["run", "palindrome", "--option", "temperature", "\udcff"],
    ],
)
def test_arguments_that_are_not_utf8(tmp_path, arguments):
    (tmp_path / "store").mkdir()
    ended = command(tmp_path / "store", *arguments)
    assert (ended.code, "not UTF-8 text" in ended.err) == (2, True)
    assert not (tmp_path / "store" / "lake").exists()
