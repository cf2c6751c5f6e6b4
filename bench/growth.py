"""How times and sizes grow with the number of results, from 10⁴ to 10⁷, or as far as asked.

    python -m bench.growth [--to 1e8] [--again] [--memory 4GB]

The sizes are powers of ten, and the last one; at 10⁸ there are 10,000 runs of 50 models in 5
settings on 20 task sets, which take 12 GB. Each size is measured once and kept in `growth.json` as
soon as it is done, so that a run that was interrupted is continued; `--again` measures all of them
again. The table in `RESULTS.md` and `growth.svg` are made from that file, and the exponents are
printed.

Seconds are CPU time, so that a busy machine gives the same figures.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import page
from bench.data.long_history import RESULTS_PER_RUN
from bench.data.openclaw_rows import write_rows
from bench.processes import python

_LEAST = 10_000
_LEAST_RUNS = 100
_IMPORTED = 100_000
# Larger sizes have no report of all pages, which takes hours.
_MOST_REPORTED = 10_000_000
_MAKE = """
import sys
from pathlib import Path
from bench.data.long_history import make_boards
make_boards(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
print(0)
"""
_SYNC = """
import sys, time
from pathlib import Path
from warehouse.app.store import Store
before = time.process_time()
Store(Path(sys.argv[1])).sync()
print(time.process_time() - before)
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
    before = time.process_time()
    Store(Path(sys.argv[1])).sync()
    seconds.append(time.process_time() - before)
print(statistics.median(seconds[1:]))
"""
_IMPORT = """
import sys, time
from pathlib import Path
from ingest.importer import import_paths
from ingest.reading import ImportOptions
from warehouse.app.store import Store
lake = Store(Path(sys.argv[1])).lake
before = time.process_time()
import_paths(lake, [Path(sys.argv[2])], ImportOptions())
print(time.process_time() - before)
"""
_COMMAND = """
import sys, time
import evalstore
before = time.process_time()
try:
    evalstore.main(["--store", *sys.argv[1:]])
except SystemExit as end:
    assert not end.code, end.code
print()
print(time.process_time() - before)
"""
_OVERVIEW = """
import sys, time
from pathlib import Path
from exports.site.pages import overview
from exports.site.registry import PAGE_TYPES
from exports.site.site import opened_site
from warehouse.app.store import Store
before = time.process_time()
with opened_site(Store(Path(sys.argv[1])), PAGE_TYPES, samples="none") as site:
    [page] = site.pages(overview.PAGE_TYPE)
print(time.process_time() - before)
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
_ONE_SET = ("--suite", "questions", "--task-set", "set-0")
# What a person waits for, by name in the table.
_COMMANDS = {
    "leaderboard": ("show", "leaderboard"),
    "runs": ("runs",),
    "history": ("show", "model_history"),
    "compare": ("compare", "example/model-1", "example/model-2", *_ONE_SET, "--format", "json"),
    "gate": (
        *("gate", "--candidate", "example/model-1", "--baseline", "example/model-2", *_ONE_SET),
        *("--max-drop", "0.9"),
    ),
    "costs": ("show", "costs"),
    "metrics": ("show", "metrics"),
}


def main() -> None:
    """Measure the sizes that have no figures yet, and write the table and the chart."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=float, default=1e7, metavar="N", help="results, such as 1e8")
    parser.add_argument("--again", action="store_true", help="also sizes that have figures")
    parser.add_argument("--memory", metavar="SIZE", help="DuckDB's memory limit, such as 4GB")
    asked = parser.parse_args()
    for size in sizes(int(asked.to)):
        points = page.read_growth()
        if asked.again or size not in {point["results"] for point in points}:
            point = measure_size(size, asked.memory)
            print(json.dumps(point), flush=True)
            page.write_growth([*(p for p in points if p["results"] != size), point])
    for title, exponent in page.exponents(page.read_growth()).items():
        print(f"{title}: {exponent:.2f}")


def sizes(last: int) -> list[int]:
    """Return the powers of ten below a number of results, and that number."""
    size, smaller = _LEAST, []
    while size < last:
        smaller.append(size)
        size *= 10
    return [*smaller, last]


@dataclass(frozen=True)
class _Work:
    """How work is measured.

    Attributes:
        memory: DuckDB's memory limit, such as `6GB`; None for its default.
    """

    memory: str | None

    def __call__(self, code: str, store: Path, *arguments: str) -> tuple[float, float]:
        """Run code in a new process; return the seconds that it prints, and its peak in MB."""
        if self.memory is not None:
            code = _LIMITED.format(memory=self.memory) + code
        spent = python(code, str(store), *arguments)
        return float(spent.output.split()[-1]), spent.megabytes


def measure_size(results: int, memory: str | None = None) -> dict[str, Any]:
    """Return the figures of a store with this number of results: seconds, MB, rows per second.

    Args:
        results: a multiple of `_LEAST_RUNS`, and of `RESULTS_PER_RUN` if it is larger.
        memory: DuckDB's memory limit, such as `6GB`; None for its default.
    """
    work = _Work(memory)
    with TemporaryDirectory(prefix="evalstore-bench-") as folder:
        store, log = Path(folder) / "store", Path(folder) / "results.jsonl"
        work(_MAKE, store, str(results), str(min(RESULTS_PER_RUN, results // _LEAST_RUNS)))
        done = {"rebuild": work(_SYNC, store)}
        sizes_mb = {
            "lake_mb": _megabytes(store / "lake"),
            "warehouse_mb": _megabytes(store / "warehouse.duckdb"),
        }
        done["sync"] = work(_SYNCS, store)
        done |= {name: work(_COMMAND, store, *words) for name, words in _COMMANDS.items()}
        done["overview"] = work(_OVERVIEW, store)
        if results <= _MOST_REPORTED:
            site = str(Path(folder) / "site")
            done["report"] = work(_COMMAND, store, "report", "--to", site, "--samples", "none")
        write_rows(log, _IMPORTED, 0)
        import_seconds, import_mb = work(_IMPORT, store, str(log))
        return {
            "results": results,
            "import_rows_per_second": round(_IMPORTED / import_seconds),
            "import_peak_mb": round(import_mb),
            **sizes_mb,
            **{f"{name}_seconds": round(seconds, 3) for name, (seconds, _) in done.items()},
            **{f"{name}_peak_mb": round(megabytes) for name, (_, megabytes) in done.items()},
        }


def _megabytes(path: Path) -> float:
    paths = path.rglob("*") if path.is_dir() else [path]
    return round(sum(each.stat().st_size for each in paths if each.is_file()) / 1e6, 1)


if __name__ == "__main__":
    main()
