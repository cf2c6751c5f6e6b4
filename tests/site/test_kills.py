"""A report that is killed: no page is half written, and the next one gives the same bytes."""

import signal
import subprocess
import sys

import pytest
from support import ROOT, new_store

from exports.site.folder import JOURNAL, MANIFEST
from exports.site.report import write_site

# Writes the site, and dies at the n-th file that it writes, when half of it has been written.
KILLED = """
import os, signal, sys
from pathlib import Path
from exports.site import folder
from exports.site.report import write_site
from warehouse.app.store import Store
from warehouse.lake.targets import write_lines

written = 0

def write(path, data):
    global written
    written += 1
    write_lines(path, halves(data) if written == int(sys.argv[3]) else [data])

def halves(data):
    yield data[: len(data) // 2]
    os.kill(os.getpid(), signal.SIGKILL)

folder.write_whole = write
write_site(Store(Path(sys.argv[1])), Path(sys.argv[2]))
"""


def pages(folder):
    """Return the files of a site, without what is only about how it was written."""
    found = {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".") and path.name not in {MANIFEST, JOURNAL}
    }
    return {path: data for path, data in found.items() if b"still being written" not in data}


def everything(folder):
    return {path.relative_to(folder) for path in folder.rglob("*")}


@pytest.mark.campaign
def test_report_after_killed_ones_is_that_of_an_undisturbed_one(tmp_path):
    store = new_store(tmp_path / "store")
    for model in ("a", "b"):
        with store.record(suite="tours", model=model, task_set="sights", run_id=model) as run:
            for task in range(3):
                run.log(task_id=f"t{task}", prompt="?", output="!", passed=f"t{task}" != model)
    whole = write_site(store, tmp_path / "whole")
    expected = pages(tmp_path / "whole")
    found = {}
    # Each begins where the one before was killed: the third is killed at the first new file.
    for moment in (3, whole.n_files // 2, 1, whole.n_files // 3):
        killed = subprocess.run(
            [sys.executable, "-c", KILLED, store.path, tmp_path / "site", str(moment)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        before, found = found, pages(tmp_path / "site")
        assert found.items() <= expected.items()
        assert before.items() <= found.items()
    assert 0 < len(found) < len(expected)
    write_site(store, tmp_path / "site")
    assert pages(tmp_path / "site") == expected
    assert everything(tmp_path / "site") == everything(tmp_path / "whole")
    assert (tmp_path / "site" / MANIFEST).read_bytes() == (
        tmp_path / "whole" / MANIFEST
    ).read_bytes()
