"""The examples of `docs/recording.md` work."""

import os
import re
import subprocess
import sys

import pytest
from support import ROOT, new_store

from warehouse.app.recording.recording import Recording
from warehouse.app.store import Store

PAGE = (ROOT / "docs" / "recording.md").read_text("utf-8")
FIRST, GOING_ON, TESTS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_the_examples_record_what_they_say(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    new_store("store")
    names = {}
    exec(FIRST, names)
    shown = capsys.readouterr().out
    assert re.search(r"example/aurora-2\s+temperature 0\s+2\s+50\.0 %|0\.5", shown), shown
    assert re.search(r"exact\s+0\.5", shown), shown
    for _ in range(2):
        exec(GOING_ON, names)
    query = "SELECT task_id, passed FROM verdicts WHERE run_id = 'friday' ORDER BY ALL"
    assert names["store"].sql(query).fetchall() == [("fr", True), ("it", True)]


@pytest.mark.parametrize(("name", "method"), [("record", Store.record), ("log", Recording.log)])
def test_the_page_describes_every_argument(name, method):
    table = re.search(rf"^\| `\w+\.{name}\(…\)`.*\n(?:\|.*\n)*", PAGE, re.MULTILINE)[0]
    described = {word for row in table.splitlines()[2:] for word in _names(row.split("|")[1])}
    assert described == set(method.__kwdefaults__) | _required(method)


def _names(cell):
    return re.findall(r"`(\w+)`", cell)


def _required(method):
    return set(method.__code__.co_varnames[1 : 1 + method.__code__.co_kwonlyargcount])


@pytest.mark.slow
def test_the_tests_are_results(tmp_path):
    (tmp_path / "test_capitals.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "evalstore_pytest"]
    command += ["-p", "no:cacheprovider", "--evalstore-model", "m", "--evalstore-suite", "s"]
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "EVALSTORE"))}
    ended = subprocess.run(
        command,
        cwd=tmp_path,
        env={**env, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 failed, 1 passed" in ended.stdout
    rows = new_store(tmp_path / "store").sql("SELECT task_id, passed FROM verdicts ORDER BY ALL")
    assert rows.fetchall() == [
        ("test_capitals.py::test_capital[France-Paris]", True),
        ("test_capitals.py::test_capital[Italy-Rome]", False),
    ]
