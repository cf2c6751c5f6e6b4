"""Ten million results: a sync compared with a rebuild, the leaderboard with data frames.

Polars and pandas read the Parquet files of the lake; all must compute the same figures.
"""

from __future__ import annotations

import json
import math
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.leaderboards import OURS, PANDAS, POLARS
from bench.long_history import add_run, make_history
from bench.processes import Spent, python
from bench.ratios import Ratio
from warehouse.store import Store

_RESULTS, _QUICK_RESULTS = 10_000_000, 200_000
_SYNCS, _NEW = 5, 100
_ROUNDS = 2


def measure(*, quick: bool) -> list[Ratio]:
    """Create the lake once, and measure everything with it."""
    results = _QUICK_RESULTS if quick else _RESULTS
    with TemporaryDirectory(prefix="evalstore-bench-") as name:
        store = Path(name)
        make_history(store, results)
        return [_sync(store, results), *_leaderboard(store, results)]


def _sync(store: Path, results: int) -> Ratio:
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
    return Ratio(
        f"sync of a new run of {_NEW} results into {results:,} results",
        "a rebuild (speedup)",
        rebuild / one,
        f"{rebuild:.1f} s / {one:.3f} s",
        at_least=300,
    )


def _seconds(store: Store) -> float:
    start = time.perf_counter()
    store.sync()
    return time.perf_counter() - start


def _leaderboard(store: Path, results: int) -> list[Ratio]:
    sides: dict[str, list[_Side]] = {"ours": [], "polars": [], "pandas": []}
    for _ in range(_ROUNDS):
        for name, code in (("ours", OURS), ("polars", POLARS), ("pandas", PANDAS)):
            sides[name].append(_Side(python(code, str(store))))
    ours, polars, pandas = (min(rounds, key=lambda s: s.seconds) for rounds in sides.values())
    _check(ours, polars)
    _check(ours, pandas)
    work = f"leaderboard with percentiles over {results:,} results"
    times = [(polars, "polars lazy", 1.5), (pandas, "pandas", 10)]
    return [
        *(
            Ratio(
                work,
                f"{name} (speedup)",
                other.seconds / ours.seconds,
                f"{other.seconds:.2f} s / {ours.seconds:.2f} s",
                at_least=wanted,
            )
            for other, name, wanted in times
        ),
        *(
            Ratio(
                work,
                f"{name} (memory reduction)",
                other.megabytes / ours.megabytes,
                f"{other.megabytes:,.0f} MB / {ours.megabytes:,.0f} MB",
                at_least=5,
            )
            for other, name, _ in times
        ),
    ]


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
