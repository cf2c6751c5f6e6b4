"""How commands end: one table of exit codes, which every place that exits uses."""

import json
import re

import pytest
from serving import chat, http, serving
from support import ROOT, child, command, new_store

from warehouse.core.errors import ExitCode
from warehouse.lake.journal.run_lock import run_lock

PACKAGES = ("warehouse", "runners", "ingest", "exports")
INTERRUPTED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import evalstore
from warehouse.app.commands import runs
runs.print_rows = lambda *_, **__: os.kill(os.getpid(), signal.SIGINT)
evalstore.main(sys.argv[1:])
"""
CRASHING = INTERRUPTED.replace("os.kill(os.getpid(), signal.SIGINT)", "1 / 0")


def _suite(tmp_path, monkeypatch):
    """Write a suite of three tasks and a model with a price, and enter their folder."""
    monkeypatch.chdir(tmp_path)
    tasks = [{"id": f"t{n}", "prompt": "?", "reference": "yes"} for n in range(3)]
    (tmp_path / "mine.json").write_text(json.dumps({"suite": "mine", "tasks": tasks}))
    (tmp_path / "models").mkdir()
    (tmp_path / "models/m.yaml").write_text("name: m\nprice: {input: 0.01, output: 0.01}\n")
    return ("run", "mine.json", "--model", "m", "--provider", "ollama_openai", "--run-id", "r")


@pytest.mark.slow
def test_what_a_script_can_tell_apart(tmp_path, monkeypatch):
    store = tmp_path / "store"
    new_store(store)
    run = _suite(tmp_path, monkeypatch)
    with serving(http(200, chat("yes"))) as server:
        run = (*run, "--base-url", server.base)
        spent = command(store, *run, "--max-cost-usd", "0.01")
        done = command(store, "run", "--resume", "r")
        with run_lock(store, "mine", "r"):
            busy = command(store, "run", "--resume", "r")
    gate = ("gate", "--candidate", "run:r", "--suite", "mine")
    ends = {
        ExitCode.DONE: done,
        ExitCode.FAILED: command(store, *gate, "--min-value", "2", "--min-tasks", "1"),
        ExitCode.BAD_INPUT: command(store, "show", "nothing"),
        ExitCode.INCONCLUSIVE: command(store, *gate, "--min-value", "0.5"),
        ExitCode.BUDGET_SPENT: spent,
        ExitCode.BUG: child("-c", CRASHING, "--store", store, "runs", crashes=True),
        ExitCode.BUSY: busy,
        ExitCode.INTERRUPTED: child("-c", INTERRUPTED, "--store", store, "runs"),
    }
    assert {code: ended.code for code, ended in ends.items()} == {code: code for code in ExitCode}
    assert ends[ExitCode.INTERRUPTED].err.strip() == "interrupted"


def test_the_codes_are_those_that_scripts_rely_on():
    assert [int(code) for code in ExitCode] == [0, 1, 2, 3, 4, 70, 75, 130]


def test_no_other_code_is_written_anywhere():
    # `evalstore.py` says why it has one.
    written = re.compile(r"\b(?:exit|Exit|exit_code)(?:\(| = )-?\d")
    paths = (path for name in PACKAGES for path in (ROOT / name).rglob("*.py"))
    assert [path for path in paths if written.search(path.read_text())] == []


def test_there_is_one_table_of_them():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    tables = [path.name for path in pages if "| exit code |" in path.read_text()]
    assert tables == ["commands.md"]
