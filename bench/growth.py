"""How times and sizes grow with the number of results, from 10⁴ to 10⁷.

    python -m bench.growth [--sizes 10000 100000 ...] [--again]
    python -m bench.growth --by-hand --sizes 100000000 [--memory 6GB]

Each size is measured once and kept in `growth.json` as soon as it is done, so that a run that was
interrupted is continued. `--again` measures the given sizes again. The table in `RESULTS.md` and
`growth.svg` are made from that file.

`--by-hand` is for sizes that take hours, or a machine that is busy: seconds are CPU time, the row
has the date, and it has no report. It stays when other sizes are measured again.
"""

from __future__ import annotations

import argparse
import json
import statistics
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import page
from bench.data.long_history import RESULTS_PER_RUN
from bench.data.openclaw_rows import write_rows
from bench.processes import python

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
_LEAST_RUNS = 100
_ROUNDS = 3
_IMPORTED = 100_000
_SYNC = """
import sys, time
from pathlib import Path
from warehouse.app.store import Store
before = time.perf_counter()
Store(Path(sys.argv[1])).sync()
print(time.perf_counter() - before)
"""
# Each in the same process: what is measured is the sync, not the start.
_SYNCS = """
import statistics, sys, time
from pathlib import Path
from bench.data.long_history import add_run
from warehouse.app.store import Store
seconds = []
for number in range(5):
    add_run(Path(sys.argv[1]), number, 100)
    before = time.perf_counter()
    Store(Path(sys.argv[1])).sync()
    seconds.append(time.perf_counter() - before)
print(statistics.median(seconds[1:]))
"""
_IMPORT = """
import sys, time
from pathlib import Path
from ingest.importer import import_paths
from ingest.reading import ImportOptions
from warehouse.app.store import Store
lake = Store(Path(sys.argv[1])).lake
before = time.perf_counter()
import_paths(lake, [Path(sys.argv[2])], ImportOptions())
print(time.perf_counter() - before)
"""
_QUERY = """
import sys, time
from pathlib import Path
from warehouse.app.store import Store
store = Store(Path(sys.argv[1]))
before = time.perf_counter()
rows = store.sql("FROM leaderboard").fetchall()
print(time.perf_counter() - before)
assert rows
"""
_COMPARE = """
import sys, time
import evalstore
before = time.perf_counter()
try:
    evalstore.main(["--store", sys.argv[1], "compare", *sys.argv[2:], "--format", "json"])
except SystemExit as end:
    assert not end.code, end.code
print()
print(time.perf_counter() - before)
"""
# All pages except those of samples: they grow with models, runs and tasks.
_REPORT = """
import sys, time
import evalstore
before = time.perf_counter()
try:
    evalstore.main(["--store", sys.argv[1], "report", "--to", sys.argv[2], "--samples", "none"])
except SystemExit as end:
    assert not end.code, end.code
print()
print(time.perf_counter() - before)
"""
# Every connection of the process, those of the generator included.
_LIMITED = """
import duckdb
def limited(*arguments, connect=duckdb.connect, **options):
    connection = connect(*arguments, **options)
    connection.execute("SET GLOBAL memory_limit = '{memory}'")
    return connection
duckdb.connect = limited
"""
_MAKE = """
import sys
from pathlib import Path
from bench.data.long_history import make_history
make_history(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
print(0)
"""
_SIDES = ("example/model-1", "example/model-2", "--suite", "questions")


def main() -> None:
    """Measure the sizes that have no figures yet, and write the table and the chart."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N")
    parser.add_argument("--again", action="store_true", help="also sizes that have figures")
    parser.add_argument("--by-hand", action="store_true", help="CPU time, and no report")
    parser.add_argument("--memory", metavar="SIZE", help="DuckDB's memory limit, such as 6GB")
    asked = parser.parse_args()
    work = _Work(is_cpu_time=asked.by_hand, memory=asked.memory)
    for size in asked.sizes:
        points = page.read_growth()
        if asked.again or size not in {point["results"] for point in points}:
            point = measure_size(size, work)
            print(json.dumps(point), flush=True)
            page.write_growth([*(p for p in points if p["results"] != size), point])


@dataclass(frozen=True)
class _Work:
    """How work is measured.

    Attributes:
        is_cpu_time: whether seconds are CPU time, of all threads.
        memory: DuckDB's memory limit, such as `6GB`; None for its default.
    """

    is_cpu_time: bool
    memory: str | None

    def __call__(self, code: str, store: Path, *arguments: str) -> tuple[float, float]:
        """Run code in a new process; return the seconds that it prints, and its peak in MB."""
        if self.is_cpu_time:
            code = code.replace("time.perf_counter()", "time.process_time()")
        if self.memory is not None:
            code = _LIMITED.format(memory=self.memory) + code
        spent = python(code, str(store), *arguments)
        return float(spent.output.split()[-1]), spent.megabytes


def measure_size(results: int, work: _Work) -> dict[str, Any]:
    """Return the figures of a store with this number of results: seconds, MB, rows per second.

    Args:
        results: a multiple of `_LEAST_RUNS`, and of `RESULTS_PER_RUN` if it is larger.
        work: how to measure; one in CPU time has no report, and its date.
    """
    with TemporaryDirectory(prefix="evalstore-bench-") as folder:
        store, log = Path(folder) / "store", Path(folder) / "results.jsonl"
        work(_MAKE, store, str(results), str(min(RESULTS_PER_RUN, results // _LEAST_RUNS)))
        rebuild_seconds, rebuild_mb = work(_SYNC, store)
        sizes = {
            "lake_mb": _megabytes(store / "lake"),
            "warehouse_mb": _megabytes(store / "warehouse.duckdb"),
        }
        sync_seconds, _ = work(_SYNCS, store)
        boards = [work(_QUERY, store) for _ in range(_ROUNDS)]
        compared = [work(_COMPARE, store, *_SIDES) for _ in range(_ROUNDS)]
        if work.is_cpu_time:
            more: dict[str, Any] = {"by_hand": f"{datetime.now(UTC):%Y-%m-%d}"}
        else:
            seconds, report_mb = work(_REPORT, store, str(Path(folder) / "site"))
            more = {"report_seconds": round(seconds, 3), "report_peak_mb": round(report_mb)}
        write_rows(log, _IMPORTED, 0)
        import_seconds, import_mb = work(_IMPORT, store, str(log))
        return {
            "results": results,
            "import_rows_per_second": round(_IMPORTED / import_seconds),
            "sync_seconds": round(sync_seconds, 4),
            "rebuild_seconds": round(rebuild_seconds, 3),
            "leaderboard_seconds": round(statistics.median(s for s, _ in boards), 4),
            "compare_seconds": round(statistics.median(s for s, _ in compared), 4),
            **sizes,
            "rebuild_peak_mb": round(rebuild_mb),
            "import_peak_mb": round(import_mb),
            "query_peak_mb": round(max(mb for _, mb in (*boards, *compared))),
            **more,
        }


def _megabytes(path: Path) -> float:
    paths = path.rglob("*") if path.is_dir() else [path]
    return round(sum(each.stat().st_size for each in paths if each.is_file()) / 1e6, 1)


if __name__ == "__main__":
    main()
