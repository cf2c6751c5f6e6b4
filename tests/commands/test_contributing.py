"""The recipes of CONTRIBUTING.md: their code is run as it is written there."""

import asyncio
import json
import re
import sys
from types import ModuleType

import pytest
from support import ROOT, command, import_into

from runners.providers.base import Reply, Request
from runners.providers.registry import PROVIDERS, make_provider
from runners.suites.registry import SUITES
from warehouse.errors import BadInput

TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


@pytest.fixture
def recipe(monkeypatch):
    """Make a module of the code below a heading; return its name."""

    def made(heading):
        _, _, section = TEXT.partition(f"\n### {heading}\n")
        code = re.search(r"```python\n(.*?)```", section, re.DOTALL).group(1)
        module = ModuleType(f"recipe_{heading.split()[-1]}")
        exec(compile(code, heading, "exec"), vars(module))
        monkeypatch.setitem(sys.modules, module.__name__, module)
        return module.__name__

    return made


def test_the_provider_answers(recipe, monkeypatch):
    monkeypatch.setitem(PROVIDERS, "echo", recipe("A provider"))
    reply = asyncio.run(make_provider("echo").call(Request("m", "Hi")))
    assert isinstance(reply, Reply)
    assert reply.text == "Hi"


def test_the_suite_runs(recipe, monkeypatch, store, tmp_path):
    monkeypatch.setitem(SUITES, "capitals", recipe("A suite"))
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps({"task": "fr", "text": " Paris\n"}))
    options = ("--model", "m/one", "--provider", "replay", "--answers", answers)
    ran = command(store.path, "run", "capitals", *options)
    assert ran.code == 0, ran.err
    found = store.sql("SELECT suite, task_id, answer, objective_pass FROM results").fetchall()
    assert found == [("capitals", "fr", "Paris", True)]


def test_the_exporter_writes(recipe, store, tmp_path):
    import_into(store, ROOT / "examples" / "openclaw" / "runs")
    exporter = sys.modules[recipe("An exporter")].EXPORTER
    exported = exporter.export(store, tmp_path / "out", run=None)
    ids = [row[0] for row in store.sql("SELECT run_id FROM runs ORDER BY run_id").fetchall()]
    assert [path.name for path in exported.paths] == ["runs.txt"]
    assert sorted(exported.paths[0].read_text("utf-8").split()) == ids
    with pytest.raises(BadInput, match="no such run"):
        exporter.export(store, tmp_path / "out", run="none")
