"""The batches that are being written, as others see them."""

import subprocess
import sys

from support import ROOT

from warehouse.core.schemas import QUARANTINE
from warehouse.lake.lake import Lake
from warehouse.lake.staging import staged_batches

_KILLED = """
import os, sys
from pathlib import Path
from warehouse.lake.lake import Lake
Lake(Path(sys.argv[1])).write("import")
os._exit(0)
"""


def test_a_batch_is_told_while_it_is_written(tmp_path):
    lake = Lake(tmp_path / "store")
    assert list(staged_batches(lake)) == []
    with lake.write("import") as writer:
        (writer.scratch / "results.parquet").write_bytes(b"12345")
        [batch] = staged_batches(Lake(lake.store_path))
        assert (batch.name, batch.command, batch.n_bytes) == (writer.name, "import", 5)
        (writer.scratch / "results.parquet").unlink()
        writer.add(QUARANTINE, [{"content_id": "1", "path": "x", "reason": "y"}])
        writer.commit()
    assert list(staged_batches(lake)) == []


def test_what_a_killed_process_left_is_not_being_written(tmp_path):
    subprocess.run([sys.executable, "-c", _KILLED, tmp_path], cwd=ROOT, check=True)
    lake = Lake(tmp_path)
    assert len(list(lake.staging.iterdir())) == 2
    assert list(staged_batches(lake)) == []
