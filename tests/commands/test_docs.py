"""The docs are true: generated pages are current, and what README and guides show works."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import BROKEN_SAMPLE, ROOT, command, import_into, new_store

import evalstore
from tools.docs_site import site_page
from tools.generate_docs import DOCS, PAGES
from tools.screens import shown_on_terminal
from warehouse.app.store import Store
from warehouse.core.schemas import LAKE_FORMAT
from warehouse.engine.views.sql_files import shipped_sql
from warehouse.lake.batch import evalstore_version

SAMPLES = ROOT / "examples" / "palindrome"
GUIDES = [ROOT / "README.md"]
GUIDES += [DOCS / f"{name}.md" for name in ("importing", "queries", "running", "exporting")]
OWN_PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("examples/*.md")])
FORMAT_PAGES = sorted(DOCS.glob("formats/*.md"))


def sql_of(page):
    return re.findall(r"^```sql\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def blocks(language):
    """Return the blocks of code of the README and the guides, in this order."""
    text = "".join(page.read_text("utf-8") for page in GUIDES)
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """Return a folder with the samples like a user's, and `evalstore` on the PATH."""
    folder = tmp_path_factory.mktemp("workspace")
    shutil.copytree(SAMPLES, folder, dirs_exist_ok=True)
    (folder / "benchmark_logs" / BROKEN_SAMPLE).unlink()
    script = folder / "bin" / "evalstore"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m evalstore "$@"\n')
    script.chmod(0o755)
    assert run(folder, "sh", "-euc", blocks("sh")[0]) == 0
    return folder


def run(folder, *words):
    environment = {
        **os.environ,
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    environment.pop("EVALSTORE_DIR", None)
    ended = subprocess.run(
        words, cwd=folder, env=environment, check=False, stderr=subprocess.PIPE, text=True
    )
    assert "Traceback" not in ended.stderr, ended.stderr
    return ended.returncode


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_generated_page_is_current(page):
    assert (DOCS / page).read_text("utf-8") == PAGES[page](), "run `make docs`"


@pytest.mark.slow
@pytest.mark.parametrize("commands", blocks("sh"))
def test_shell_block_of_guides_works(workspace, commands):
    assert run(workspace, "sh", "-euc", commands) == 0


@pytest.mark.slow
@pytest.mark.parametrize("query", blocks("sql"))
def test_query_of_guides_returns_rows(workspace, query):
    rows = Store(workspace / "store", on_warning=pytest.fail).sql(query).fetchall()
    figures = [value for row in rows for value in row if isinstance(value, int | float)]
    assert any(figures), rows  # a count of 0 is a row, too


@pytest.fixture(scope="module")
def empty_store(tmp_path_factory):
    return new_store(tmp_path_factory.mktemp("empty") / "store")


@pytest.mark.parametrize("page", FORMAT_PAGES, ids=lambda page: page.stem)
def test_queries_of_the_pages_of_formats_run(empty_store, page):
    queries = sql_of(page)
    assert queries
    for query in queries:
        assert empty_store.sql(query).fetchall() == []


@pytest.mark.slow
def test_monthly_costs_of_queries_leave_rehearsals_out(tmp_path):
    (query,) = (query for query in blocks("sql") if "AS month" in query)
    store = new_store(tmp_path / "store")
    replay = ("--model", "example/aurora-2", "--provider", "replay", "--limit", "2")
    assert command(store.path, "run", "palindrome", *replay).code == 0
    assert len(store.sql("FROM results").fetchall()) == 2
    assert store.sql(query).fetchall() == []


RECORDING, QUERIES = blocks("python")


@pytest.mark.slow
def test_python_of_queries_works(workspace, monkeypatch):
    monkeypatch.chdir(workspace)
    names = {}
    exec(QUERIES, names)
    assert names["store"].path == Path("store")
    assert names["best"].height
    assert names["mine"].height


@pytest.mark.slow
def test_recording_of_readme_works(tmp_path, monkeypatch):
    store = new_store(tmp_path / "store")
    monkeypatch.chdir(tmp_path)
    exec(RECORDING, {})
    rows = store.sql("SELECT model, n_tasks, pass_rate FROM leaderboard WHERE is_main")
    assert rows.fetchall() == [("example/aurora-2", 1, 1.0)]


@pytest.mark.slow
def test_output_shown_in_readme_is_current(tmp_path):
    shown = next(block for block in blocks("console") if "$ evalstore sql" in block)
    _import, query, output = re.fullmatch(
        r"(\$ .*\n)\$ evalstore (.*?\"\n)(.*)", shown, re.DOTALL
    ).groups()
    store = new_store(tmp_path / "store")
    logs = (SAMPLES / "benchmark_logs").iterdir()
    import_into(store, *(path for path in logs if path.name != BROKEN_SAMPLE))
    assert shown_on_terminal(store.path, shlex.split(query), 100) == output


@pytest.mark.slow
def test_demo_works_with_files_of_an_earlier_one(workspace):
    shutil.copytree(ROOT / "examples", workspace / "examples", dirs_exist_ok=True)
    demo = workspace / "build" / "demo"
    shutil.copytree(workspace / "store", demo / "store")
    (demo / "export" / "benchmark_logs").mkdir(parents=True)
    (demo / "export" / "benchmark_logs" / "of-old.yaml").write_text("date: x\n")
    assert run(workspace, "sh", "examples/demo.sh", "build/demo") == 0
    logs = {path.name for path in (demo / "export").glob("benchmark_logs/*.yaml")}
    assert logs
    assert "of-old.yaml" not in logs
    # All three suites were run and exported as specified.
    assert list((demo / "export").glob("runs/*/summary.json"))
    assert list((demo / "export").glob("benchmark/published/*-demo-silver/summary.json"))
    assert (demo / "site" / "index.html").is_file()


def anchors(page):
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", OWN_PAGES, ids=lambda page: page.name)
def test_links_are_not_broken(page):
    for target in re.findall(r"\]\((?!https?:)([^)]+)", page.read_text("utf-8")):
        path, _, anchor = target.partition("#")
        linked = page.parent / path if path else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), target


def test_links_of_the_site_of_docs_lead_to_its_pages(monkeypatch):
    start = site_page(ROOT / "README.md")
    assert "](importing.md)" in start
    assert "](contributing.md)" in start
    assert "](docs/" not in start
    assert "](../scores.md" in site_page(DOCS / "internals" / "figures.md")
    assert "[architecture](architecture.md)" in site_page(ROOT / "README.md")
    # Code is not in the site.
    assert "explore.py]" not in site_page(DOCS / "queries.md")
    broken = DOCS / "broken.md"
    monkeypatch.setattr(Path, "read_text", lambda *_: "[x](nowhere.md)")
    with pytest.raises(FileNotFoundError, match=r"docs/broken.md: link to nowhere.md"):
        site_page(broken)


@pytest.mark.slow
def test_header_of_a_view_describes_its_columns(tmp_path):
    store = new_store(tmp_path, on_warning=pytest.fail)
    with store.reading() as connection:
        described = [
            (file, connection.execute(f"DESCRIBE FROM {file.qualified}").fetchall())
            for file in shipped_sql()
            if not file.is_function
        ]
    for file, rows in described:
        columns = {name for name, *_ in rows}
        assert file.columns.keys() <= columns, file.qualified
        assert file.purpose, file.qualified
        assert file.grain, file.qualified


def test_compatibility_names_the_format_of_this_version():
    major, minor, _ = evalstore_version().split(".")
    row = f"| {major}.{minor} | {LAKE_FORMAT} | 1 to {LAKE_FORMAT} |"
    assert row in (ROOT / "docs" / "compatibility.md").read_text("utf-8").splitlines()


def test_every_command_and_view_is_in_the_docs():
    commands = (DOCS / "commands.md").read_text("utf-8")
    dictionary = (DOCS / "data-dictionary.md").read_text("utf-8")
    for name, _, _ in evalstore._COMMANDS:
        assert f"## `evalstore {name}`" in commands
    for file in shipped_sql():
        heading = file.name if file.schema == "main" else file.qualified
        assert f"### {heading}\n" in dictionary or file.is_function
        assert f"`{file.name}`" in dictionary or not file.is_function


ARCHITECTURE = (DOCS / "architecture.md").read_text("utf-8")


def test_every_folder_of_code_is_described():
    for package in ("ingest", "runners", "exports", "warehouse", "bench", "tools"):
        for path in (ROOT / package).rglob("*.py"):
            folder = path.parent.relative_to(ROOT)
            assert re.search(rf"^\| `{folder}/` \| \w", ARCHITECTURE, re.MULTILINE), folder


def test_architecture_names_existing_files():
    pages = [ARCHITECTURE, *(page.read_text("utf-8") for page in DOCS.glob("internals/*.md"))]
    path = r"`((?:ingest|runners|exports|warehouse|sql|tests)/[\w./]*)`"
    named = [name for page in pages for name in re.findall(path, page)]
    assert len(named) > 100
    assert [name for name in named if not (ROOT / name).exists()] == []


RELIABILITY = (DOCS / "reliability.md").read_text("utf-8")


def test_each_guarantee_names_an_existing_test():
    named = re.findall(r"`(\w+/test_\w+\.py)::(test_\w+)`", RELIABILITY)
    assert len(named) > 40
    for file, test in named:
        assert f"def {test}(" in (ROOT / "tests" / file).read_text("utf-8"), (file, test)


def test_each_guarantee_has_a_test_or_a_campaign():
    guarantees, _, _ = RELIABILITY.partition("## Figures")
    for row in re.findall(r"^\| (?!---).*", guarantees, re.MULTILINE):
        assert re.search(r"\| shown by \||::test_|python -m tests\.campaigns\.", row), row
