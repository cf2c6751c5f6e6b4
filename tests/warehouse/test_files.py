"""Files are opened in one place, which refuses what is not a regular file."""

import ast
import os
from pathlib import Path

from support import ROOT

from warehouse.core.files import real_path

# The only others, and what they open.
OPENERS = {
    "warehouse/core/files.py": "the place",
    "warehouse/lake/targets.py": "what it writes",
    "warehouse/app/console/cli.py": "/dev/null",
    "warehouse/app/output/terminal.py": "/dev/null",
    "warehouse/engine/connection.py": "/proc/self/statm",
    "warehouse/lake/atomic.py": "files of a batch that is being written",
    "warehouse/lake/journal/journal.py": "the reserve of a new journal",
    "warehouse/engine/views/template.py": "our own code",
    "warehouse/engine/views/sql_files.py": "our own code",
    "warehouse/analysis/checking/shipped.py": "files that ship with evalstore",
    "warehouse/app/output/check_page.py": "files that ship with evalstore",
    "warehouse/app/output/html.py": "files that ship with evalstore",
    "warehouse/core/formats/secrets/contexts.py": "files that ship with evalstore",
    "warehouse/core/formats/secrets/search.py": "files that ship with evalstore",
    "runners/starter/starter.py": "files that ship with evalstore, and new ones",
    "runners/models/prices.py": "files of an installed package",
    "runners/suites/custom/functions.py": "a module that Python has read",
    "warehouse/analysis/charts/panels.py": "files that ship with evalstore",
    "warehouse/analysis/charts/theme.py": "files that ship with evalstore",
    "ingest/formats/promptfoo/database.py": "its own copy of a database",
    "exports/site/rendering.py": "files that ship with evalstore",
    "warehouse/lake/remote/objects.py": "a file of a batch that it downloads",
    "warehouse/app/labelling/sheets.py": "files that ship with evalstore",
    "warehouse/lake/writer.py": "the meanings of columns, which it writes",
    "exports/posters/publication.py": "a folder, to lock it",
    "exports/site/folder.py": "a folder, to lock it",
    "warehouse/lake/places.py": "a folder, to lock it",
    "warehouse/lake/cache_limit.py": "the lock of a cache",
    "runners/command.py": "a new model file",
    "warehouse/core/formats/task_lists.py": "a new list of tasks",
    "exports/view/command.py": "a browser",
    "exports/view/server.py": "files that ship with evalstore",
}
READS = {"open", "read_text", "read_bytes", "read_parquet"}


def opens(path):
    """Return whether a module opens files by their path."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in READS:
                return True
    return False


def test_files_are_opened_in_one_place():
    folders = ("warehouse", "ingest", "runners", "exports")
    modules = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    found = {path.relative_to(ROOT).as_posix() for path in modules if opens(path)}
    assert sorted(found - OPENERS.keys()) == []
    assert sorted(OPENERS.keys() - found) == []


def test_the_real_path_of_many_files_is_that_of_each(tmp_path, monkeypatch):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").touch()
    (tmp_path / "folder").symlink_to(tmp_path / "a" / "b")
    (tmp_path / "a" / "link").symlink_to("b/file")
    (tmp_path / "a" / "circle").symlink_to("circle")
    monkeypatch.chdir(tmp_path / "folder")
    paths = [tmp_path / "a" / name for name in ("b/file", "link", "circle", "b", "b/..", "absent")]
    paths += [
        Path("file"),
        Path(),
        Path(".."),
        Path("../link"),
        tmp_path / "folder" / "file",
        Path("a" * 5000),
    ]
    known = {}
    for path in paths * 2:
        assert real_path(path, known) == os.path.realpath(path)
