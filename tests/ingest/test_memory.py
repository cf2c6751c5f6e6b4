"""Logs of other tools are read in parts: an import takes the same memory for logs of any size."""

import subprocess
import sys

import pytest
from large_logs import WRITERS
from support import ROOT, digests, import_into, new_store

from ingest import streamed_runs
from ingest.reconciliation import FileOutcome

MEGABYTE = 2**20
# Buffers are made small, so that small files fill them. `VmHWM` is the peak of this process only.
# On a machine of many cores, DuckDB and Arrow would take memory for each of them.
IMPORT = """
import os, sys
from pathlib import Path
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
from ingest import provenance, streamed_runs
from ingest.formats.common import collector, elements, json_spans, lines
from ingest.formats.lm_eval import samples
from ingest.importer import import_paths
from ingest.reading import ImportOptions
from warehouse.app.store import Store
provenance.LARGEST_KEPT_BYTES = 0
streamed_runs._BUFFERED_BYTES = 2**20
lines._BLOCK_BYTES = elements._BLOCK_BYTES = elements._SEARCHED_CHARACTERS = 2**18
json_spans.BLOCK_BYTES = samples._BLOCK_BYTES = 2**18
samples._STREAM_BYTES = 2**20
collector._ROWS = 200
summary = import_paths(Store(Path(sys.argv[1])).lake, [Path(sys.argv[2])], ImportOptions())
assert not summary.n_quarantined, summary.messages
with open("/proc/self/status") as status:
    (peak,) = (line.split()[1] for line in status if line.startswith("VmHWM"))
print(summary.n_results, peak)
"""


def peak_of_import(folder, write, n_bytes):
    """Return the peak memory of an import of a log of some bytes, in bytes."""
    n_samples = write(folder / "runs" / "log", n_bytes)
    done = subprocess.run(
        [sys.executable, "-c", IMPORT, folder / "store", folder / "runs"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    n_results, kilobytes = map(int, done.stdout.split())
    assert n_results == n_samples
    return kilobytes * 1024


@pytest.mark.campaign
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read as on Linux")
@pytest.mark.parametrize("name", WRITERS)
def test_memory_does_not_grow_with_a_log(tmp_path, name):
    # What DuckDB takes for a small log of lm-eval differs by 20 MB from one process to the next.
    small, large = 6 * MEGABYTE, (126 if name == "lm-eval" else 66) * MEGABYTE
    before = peak_of_import(tmp_path / "small", WRITERS[name], small)
    after = peak_of_import(tmp_path / "large", WRITERS[name], large)
    assert after - before < (large - small) * 2 / 3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["BFCL", "HELM"])
def test_places_in_files_are_the_same(tmp_path, monkeypatch, name):
    logs = tmp_path / "runs"
    WRITERS[name](logs / "log", 60_000)
    in_memory = new_store(tmp_path / "memory")
    import_into(in_memory, logs)
    monkeypatch.setattr(streamed_runs, "_PLACES_IN_MEMORY", 3)
    in_files = new_store(tmp_path / "files")
    import_into(in_files, logs)
    assert digests(in_files) == digests(in_memory)
    assert set(import_into(in_files, logs).outcomes) == {FileOutcome.UNCHANGED}
    log = next(logs.rglob("*_result.json"), None) or next(logs.rglob("scenario_state.json"))
    text = log.read_text().replace("river", "stream", 1)
    log.write_text(text)
    assert FileOutcome.CONFLICT in import_into(in_files, logs).outcomes
