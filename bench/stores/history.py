"""Ten million results: a sync compared with a rebuild, both leaderboards with data frames.

Polars and pandas read the Parquet files of the lake; all must compute the same figures.
"""

from __future__ import annotations

import json
import math
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from bench.data.long_history import add_run, make_history
from bench.processes import Spent, python
from bench.ratios import Ratio
from bench.stores.leaderboards import (
    LATEST_OURS,
    LATEST_PANDAS,
    LATEST_POLARS,
    OURS,
    PANDAS,
    POLARS,
)
from warehouse.app.store import Store

_RESULTS, _QUICK_RESULTS = 10_000_000, 200_000
_SYNCS, _NEW = 5, 100
_ROUNDS = 2
# Each is to take less than a second.
_VIEWS = ("model_history", "metrics")
_POOLED = {"ours": OURS, "polars lazy": POLARS, "pandas": PANDAS}
_LATEST = {"ours": LATEST_OURS, "polars lazy": LATEST_POLARS, "pandas": LATEST_PANDAS}


_QUERY = """
import json, sys, time
import duckdb, evalstore
store = evalstore.open(sys.argv[1])
start = time.perf_counter()
rows = store.sql(f"FROM {sys.argv[2]}").fetchall()
print(json.dumps([time.perf_counter() - start, len(rows)]))
"""


def measure(*, quick: bool) -> list[Ratio]:
    """Create the lake once, and measure everything with it but the pairs of 20 models."""
    results = _QUICK_RESULTS if quick else _RESULTS
    with TemporaryDirectory(prefix="evalstore-bench-") as name:
        store = Path(name)
        make_history(store, results)
        size = f"over {results:,} results"
        return [
            *_sync(store, results),
            *_against_frames(store, f"leaderboard with percentiles {size}", _POOLED),
            *_against_frames(store, f"leaderboard of the latest full runs {size}", _LATEST),
            *(_view(store, view, size) for view in _VIEWS),
            _pairs(results),
        ]


def _pairs(results: int) -> Ratio:
    """Compare 20 models in each of two suites."""
    with TemporaryDirectory(prefix="evalstore-bench-") as name:
        make_history(Path(name), results, is_plain=True)
        Store(Path(name)).sync()
        size = f"of 20 models in two suites over {results:,} results"
        return _view(Path(name), "paired_comparisons", size)


def _sync(store: Path, results: int) -> list[Ratio]:
    opened = Store(store)
    rebuild = _seconds(opened)
    syncs = []
    for n in range(_SYNCS):
        add_run(store, n, _NEW)
        syncs.append(_seconds(opened))
    ((held,),) = opened.sql("SELECT count(*) FROM lake.results").fetchall()
    if held != results + _SYNCS * _NEW:
        raise SystemExit(f"the warehouse holds {held:,} results")
    one = statistics.median(syncs)
    load = _plain_load(store)
    return [
        Ratio(
            f"sync of a new run of {_NEW} results into {results:,} results",
            "a rebuild (speedup)",
            rebuild / one,
            f"{rebuild:.1f} s / {one:.3f} s",
            at_least=300,
        ),
        Ratio(
            f"rebuild of {results:,} results",
            "DuckDB's plain load of the same Parquet files (relative time)",
            rebuild / load,
            f"{rebuild:.1f} s / {load:.1f} s",
            at_most=1.2,
        ),
    ]


def _plain_load(store: Path) -> float:
    """Return the seconds that DuckDB takes to copy the results into a file of its own."""
    with TemporaryDirectory(prefix="evalstore-bench-") as folder:
        start = time.perf_counter()
        with duckdb.connect(f"{folder}/plain.duckdb") as connection:
            connection.execute(
                "CREATE TABLE results AS FROM read_parquet($paths, union_by_name = true)",
                {"paths": [str(path) for path in store.glob("lake/*/results.parquet")]},
            )
        return time.perf_counter() - start


def _seconds(store: Store) -> float:
    start = time.perf_counter()
    store.sync()
    return time.perf_counter() - start


def _against_frames(store: Path, work: str, programs: dict[str, str]) -> list[Ratio]:
    sides: dict[str, list[_Side]] = {name: [] for name in programs}
    for _ in range(_ROUNDS):
        for name, code in programs.items():
            sides[name].append(_Side(python(code, str(store))))
    ours, *others = (min(rounds, key=lambda side: side.seconds) for rounds in sides.values())
    ratios = []
    for name, other, wanted in zip(list(programs)[1:], others, (5, 20), strict=True):
        _check(ours, other)
        times = f"{other.seconds:.2f} s / {ours.seconds:.2f} s"
        sizes = f"{other.megabytes:,.0f} MB / {ours.megabytes:,.0f} MB"
        faster, smaller = other.seconds / ours.seconds, other.megabytes / ours.megabytes
        ratios += [
            Ratio(work, f"{name} (speedup)", faster, times, at_least=wanted),
            Ratio(work, f"{name} (memory reduction)", smaller, sizes, at_least=5),
        ]
    return ratios


def _view(store: Path, view: str, size: str) -> Ratio:
    sides = [_Side(python(_QUERY, str(store), view)) for _ in range(_ROUNDS)]
    best = min(sides, key=lambda side: side.seconds)
    figures = f"{best.rows:,} rows; {best.seconds:.2f} s, {best.megabytes:,.0f} MB"
    return Ratio(f"`{view}` {size}", "a second (relative time)", best.seconds, figures, at_most=1)


class _Side:
    """The resources of a process, and the seconds and rows that it printed as JSON."""

    def __init__(self, spent: Spent) -> None:
        self.megabytes = spent.megabytes
        self.seconds, self.rows = json.loads(spent.output)


def _check(ours: _Side, theirs: _Side) -> None:
    for mine, other in zip(ours.rows, theirs.rows, strict=True):
        if not all(map(_same, mine, other)):
            raise SystemExit(f"the figures differ:\n{mine}\n{other}")


def _same(mine: object, other: object) -> bool:
    if isinstance(mine, float) and isinstance(other, int | float):
        return math.isclose(mine, other, rel_tol=1e-9)
    return mine == other
