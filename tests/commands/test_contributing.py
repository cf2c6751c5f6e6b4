"""The recipes of CONTRIBUTING.md: their code is run as it is written there."""

import asyncio
import json
import re
import sys
from shutil import copytree
from types import ModuleType

import pytest
from support import ROOT, command, digests, import_into

import ingest.readers
from exports.site import rendering, report
from exports.site.addresses import slug
from exports.site.registry import PAGE_TYPES
from exports.site.report import write_site
from ingest import formats
from ingest.discovery import find_files
from ingest.readers import find_formats, in_order
from ingest.reading import Candidate
from runners.providers.base import Reply, Request
from runners.providers.registry import PROVIDERS, make_provider
from runners.suites.registry import SUITES
from warehouse.core.errors import BadInput

TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def blocks(heading, language):
    """Return the blocks of code below a heading."""
    section = TEXT.partition(f"\n### {heading}\n")[2].partition("\n### ")[0]
    return re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)


@pytest.fixture
def recipe(monkeypatch):
    """Make a module of the code below a heading; return its name."""

    def made(heading):
        code = blocks(heading, "python")[0]
        module = ModuleType(f"recipe_{heading.split()[-1]}")
        exec(compile(code, heading, "exec"), vars(module))
        monkeypatch.setitem(sys.modules, module.__name__, module)
        return module.__name__

    return made


@pytest.fixture
def toys(monkeypatch, tmp_path):
    """The folder of a format, as the recipe writes it, next to those that are shipped."""
    recognition, reader = blocks("A format", "python")
    folder = tmp_path / "formats" / "toys"
    folder.mkdir(parents=True)
    for name, code in (("__init__", ""), ("recognition", recognition), ("files", reader)):
        (folder / f"{name}.py").write_text(code)
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(folder.parent)])
    found = tuple(find_formats(formats.__path__))
    monkeypatch.setattr(ingest.readers, "READERS", in_order(found))
    yield next(each for each in found if each.name == "toys")
    for name in [name for name in sys.modules if name.startswith("ingest.formats.toys")]:
        del sys.modules[name]


@pytest.mark.slow
def test_the_format_reads_its_files_and_becomes_no_fallback(toys, store, tmp_path):
    [reader] = toys.readers.values()
    assert len(ingest.readers.READERS) == 1 + len(in_order(ingest.readers.FORMATS))
    files = [tmp_path / name for name in ("a.toy", "damaged.toy", "broken.yaml", "noise")]
    contents = (b"toy spoon fork", b"toy \xff", b"tasks: [", bytes(range(256)))
    for file, data in zip(files, contents, strict=True):
        file.write_bytes(data)
    assert ingest.readers.reader_of(Candidate(files[0])) is reader
    for others in ("benchmark_logs", "models", "tasks"):
        found = find_files([ROOT / "examples" / "palindrome" / others])
        assert reader not in found.readers.values()
    ran = command(store.path, "import", *files)
    assert ran.code == 2
    assert "not everything was imported: of 4 files, 3 quarantined" in ran.err
    questions = "SELECT question FROM lake.tasks ORDER BY seq"
    assert store.sql(questions).fetchall() == [("What is a spoon?",), ("What is a fork?",)]
    before = digests(store)
    assert command(store.path, "import", *files[:1]).lines["unchanged"] == "1"
    assert digests(store) == before


def test_the_provider_answers(recipe, monkeypatch):
    monkeypatch.setitem(PROVIDERS, "echo", recipe("A provider"))
    reply = asyncio.run(make_provider("echo").call(Request("m", "Hi")))
    assert isinstance(reply, Reply)
    assert reply.text == "Hi"


@pytest.mark.slow
def test_the_suite_runs(recipe, monkeypatch, store, tmp_path):
    monkeypatch.setitem(SUITES, "capitals", recipe("A suite"))
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps({"task": "fr", "text": " Paris\n"}))
    options = ("--model", "m/one", "--provider", "replay", "--answers", answers)
    ran = command(store.path, "run", "capitals", *options)
    assert ran.code == 0, ran.err
    found = store.sql("SELECT suite, task_id, answer, objective_pass FROM results").fetchall()
    assert found == [("capitals", "fr", "Paris", True)]


@pytest.mark.slow
def test_the_exporter_writes(recipe, store, tmp_path):
    import_into(store, ROOT / "examples" / "openclaw" / "runs")
    exporter = sys.modules[recipe("An exporter")].EXPORTER
    exported = exporter.export(store, tmp_path / "out", run=None)
    ids = [row[0] for row in store.sql("SELECT run_id FROM runs ORDER BY run_id").fetchall()]
    assert [path.name for path in exported.paths] == ["runs.txt"]
    assert sorted(exported.paths[0].read_text("utf-8").split()) == ids
    with pytest.raises(BadInput, match="no such run"):
        exporter.export(store, tmp_path / "out", run="none")


@pytest.mark.slow
def test_the_page_is_written(recipe, monkeypatch, store, tmp_path):
    import_into(store, ROOT / "examples" / "openclaw" / "runs")
    page_type = sys.modules[recipe("A page of the site")].PAGE_TYPE
    (template,) = blocks("A page of the site", "html")
    monkeypatch.setattr(report, "PAGE_TYPES", (*PAGE_TYPES, page_type))
    templates = copytree(rendering.TEMPLATES, tmp_path / "templates")
    (templates / "toy.html").write_text(template)
    with monkeypatch.context() as patch:
        patch.setattr(rendering, "TEMPLATES", templates)
        rendering.page_template.cache_clear()
        write_site(store, tmp_path / "site")
    rendering.page_template.cache_clear()
    text = (tmp_path / "site" / "toy" / f"{slug('openclaw')}.html").read_text()
    assert "2 runs, on the <a" in text
    assert (tmp_path / "site" / "toy" / "../runs/index.html").is_file()
