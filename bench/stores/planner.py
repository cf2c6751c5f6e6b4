"""The plan of shards, from the descriptions of a million batches: its CPU time and memory.

The descriptions are made up, and their making does not count. Each batch has a run of 10,000
results, so that a million are 10,000,000,000 results.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.ratios import Ratio
from warehouse.core.in_memory import open_in_memory
from warehouse.engine.scale.plan import Planner
from warehouse.lake.batch import batch_from_json

_BATCHES, _QUICK_BATCHES = 1_000_000, 5_000
_ROWS, _BYTES = 10_000, 2_000_000
_MOST_SECONDS, _MOST_MB = 60, 1_000
_RUN = {"suite": "inspect", "generation": "root", "parent": None}
_BATCH = {
    "created_at": "2026-01-01T00:00:00+00:00",
    "command": "import",
    "version": "0.1.0",
    "schema_version": 1,
    "files": {
        "results": {"rows": _ROWS, "sha256": "0" * 64},
        "runs": {"rows": 1, "sha256": "0" * 64},
        "files": {"rows": 1, "sha256": "0" * 64},
    },
    **dict.fromkeys(("replaces", "forgotten", "restored"), ()),
}
_SOURCE = {"sha256": "1" * 64, "run_as": None, "is_clean": True}


def measure(*, quick: bool) -> list[Ratio]:
    """Plan made-up batches, read each shard and write the plan; compare with the limits."""
    n = _QUICK_BATCHES if quick else _BATCHES
    making, start = 0.0, time.process_time()
    with TemporaryDirectory(prefix="evalstore-bench-") as name, open_in_memory() as connection:
        planner = Planner(connection)
        for i in range(n):
            before = time.process_time()
            text = _description(i)
            making += time.process_time() - before
            planner.add(batch_from_json(json.loads(text)), _BYTES)
        planner.plan("000001")
        n_runs = [len(shard.runs) for shard in planner.shards(planner.suites())]
        planner.write(Path(name) / "plan.parquet")
    cpu = time.process_time() - start - making
    if sum(n_runs) != n:
        raise AssertionError(f"{n:,} batches gave {sum(n_runs):,} runs")
    # The system counts bytes on macOS, and units of 1,024 elsewhere.
    unit = 1 if sys.platform == "darwin" else 1024
    mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    work = f"the plan of {n:,} batches ({n * _ROWS:,} results, made up)"
    return [
        Ratio(
            work,
            f"{_MOST_SECONDS} s of CPU (relative time)",
            cpu / _MOST_SECONDS,
            f"{cpu:.1f} s, {len(n_runs):,} shards",
            at_most=1,
        ),
        Ratio(work, f"{_MOST_MB:,} MB (memory)", mb / _MOST_MB, f"{mb:,.0f} MB", at_most=1),
    ]


def _description(i: int) -> str:
    """Return a `batch.json`."""
    runs = [{**_RUN, "run_id": f"run-{i}-of-a-campaign"}]
    source = {**_SOURCE, "name": f"log-{i}.eval", "generations": runs}
    batch = {**_BATCH, "name": f"01ARZ3NDEK{i:016}", "generations": runs, "sources": [source]}
    return json.dumps(batch)
