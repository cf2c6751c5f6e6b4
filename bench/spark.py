"""The sync of a made-up lake on a Spark cluster of two workers, next to that of one process.

    build/tools/spark/bin/python -m bench.spark [--sizes 1000000 10000000] [--shards N]

`make spark` installs what it needs. Master, workers and server run on this machine, each worker
with one core. Seconds are CPU time of processes, from `/proc`: the Python of the workers, Spark's
Java and the command are counted apart. The leaderboard of the tables must be that of the
warehouse. Each size is measured once.
"""

from __future__ import annotations

import argparse
import json
import os
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from bench.data.long_history import make_history
from bench.processes import python
from tests.spark_cluster import SparkCluster, spark_cluster
from warehouse.engine.scale.snapshot import current_snapshot
from warehouse.lake.table_location import FolderLocation

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZES = (1_000_000, 10_000_000)
_RESULTS_PER_BATCH = 100_000
_MOST_RATIO, _MOST_MB = 2.5, 600
_POLL_SECONDS = 0.2
_SYNC = """
import sys, time
from pathlib import Path
from warehouse.app.store import Store
Store(Path(sys.argv[1])).sync()
print()
print(time.process_time())
"""
# DuckDB's progress may come before the last line.
_BOARD = """
import hashlib, sys, time
import evalstore
rows = evalstore.open(sys.argv[1]).sql("FROM leaderboard ORDER BY ALL").fetchall()
assert rows
print()
print(time.process_time(), hashlib.sha256(repr(rows).encode()).hexdigest())
"""


def main() -> None:
    """Measure sizes on one cluster, print the figures of each, and compare them with the limits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N")
    parser.add_argument("--shards", type=int, metavar="N", help="by default as many as sizes need")
    asked = parser.parse_args()
    for size in asked.sizes:
        with TemporaryDirectory(prefix="evalstore-bench-") as folder:
            figures = measure_size(size, Path(folder), asked.shards)
        print(json.dumps(figures, indent=1), flush=True)
        verdict = "met" if is_met(figures) else "MISSED"
        print(f"at most {_MOST_RATIO} × and {_MOST_MB} MB: {verdict}", flush=True)


def is_met(figures: dict[str, Any]) -> bool:
    """Return whether figures are within the limits."""
    return bool(figures["ratio"] <= _MOST_RATIO and figures["worker_peak_mb"] <= _MOST_MB)


def measure_size(results: int, folder: Path, n_shards: int | None = None) -> dict[str, Any]:
    """Return the figures of a lake with this number of results: CPU seconds and MB.

    Args:
        results: a multiple of `_RESULTS_PER_BATCH`.
        folder: an empty folder.
        n_shards: number of shards; None for as many as their sizes need.
    """
    store, tables = folder / "store", folder / "tables"
    make_history(store, results, n_batches=max(1, results // _RESULTS_PER_BATCH))
    alone = python(_SYNC, str(store))
    shards = [] if n_shards is None else ["--shards", str(n_shards)]
    (folder / "cluster").mkdir()
    with spark_cluster(folder / "cluster", dict(os.environ)) as cluster:
        # Spark compiles and its workers import before the first task; of a small store.
        small = folder / "small"
        make_history(small, 1_000, 10)
        _command(small, folder / "small-tables", cluster, [])
        before = _spent(cluster)
        with _watched(cluster) as peaks:
            command_seconds, command_mb = _command(store, tables, cluster, shards)
        after = _spent(cluster)
    boards = [python(_BOARD, str(path)).output.split()[-2:] for path in (store, tables)]
    if boards[0][1] != boards[1][1]:
        raise AssertionError("the leaderboards of the warehouse and of the tables differ")
    alone_seconds = float(alone.output.split()[-1])
    workers = after["python"] - before["python"]
    return {
        "results": results,
        "shards": current_snapshot(FolderLocation(tables)).n_shards(),
        "one_process_seconds": round(alone_seconds, 1),
        "one_process_peak_mb": round(alone.megabytes),
        "workers_seconds": round(workers, 1),
        "ratio": round(workers / alone_seconds, 2),
        "worker_peak_mb": round(max(peaks.values())),
        "java_seconds": round(after["java"] - before["java"], 1),
        "command_seconds": round(command_seconds, 1),
        "command_peak_mb": round(command_mb),
        "lake_mb": _megabytes(store / "lake"),
        "warehouse_mb": _megabytes(store / "warehouse.duckdb"),
        "tables_mb": _megabytes(tables),
        "leaderboard_seconds": [round(float(seconds), 1) for seconds, _ in boards],
    }


def _command(
    store: Path, tables: Path, cluster: SparkCluster, more: list[str]
) -> tuple[float, float]:
    """Have the cluster write tables; return the CPU seconds and peak MB of the command."""
    code = (
        "import sys, time, evalstore\n"
        "try:\n    evalstore.main(sys.argv[1:])\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n"
        "print()\nprint(time.process_time())"
    )
    to = ("--to", str(tables), "--engine", cluster.address)
    spent = python(code, "--store", str(store), "sync", *to, *more)
    return float(spent.output.split()[-1]), spent.megabytes


def _spent(cluster: SparkCluster) -> dict[str, float]:
    """Return the CPU seconds of a cluster's processes so far, children that ended included."""
    tick = os.sysconf("SC_CLK_TCK")
    found = {"python": 0.0, "java": 0.0}
    for pid, name in cluster.processes().items():
        try:
            # After the name: state, parent, …; user and system time are fields 14 and 15.
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        # Python's daemons have waited for their workers; Java counts no children.
        is_python = "pyspark.daemon" in name
        times = fields[11:15] if is_python else fields[11:13]
        found["python" if is_python else "java"] += sum(map(int, times)) / tick
    return found


@contextmanager
def _watched(cluster: SparkCluster) -> Iterator[dict[int, float]]:
    """Yield the peak memory of each Python worker in MB, as far as it has come."""
    peaks: dict[int, float] = {}
    done = Event()

    def watch() -> None:
        while True:
            for pid in cluster.pythons():
                peaks[pid] = max(peaks.get(pid, 0.0), _peak_mb(pid))
            if done.wait(_POLL_SECONDS):
                return

    thread = Thread(target=watch)
    thread.start()
    try:
        yield peaks
    finally:
        done.set()
        thread.join()


def _peak_mb(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    lines = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(lines[0].split()[1]) * 1024 / 1e6 if lines else 0.0


def _megabytes(path: Path) -> float:
    paths = path.rglob("*") if path.is_dir() else [path]
    return round(sum(each.stat().st_size for each in paths if each.is_file()) / 1e6, 1)


if __name__ == "__main__":
    main()
