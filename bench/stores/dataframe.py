"""All results of some runs as a data frame, compared with reading their logs into pandas."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pandas as pd

from bench.data.openclaw_rows import write_rows
from bench.ratios import Ratio
from ingest.importer import import_paths
from ingest.reading import ImportOptions
from warehouse.app.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

_RUNS, _QUICK_RUNS, _RESULTS, _ROUNDS = 20, 2, 1000, 7


def measure(*, quick: bool) -> list[Ratio]:
    """Compare the two with the same runs and all columns."""
    runs = _QUICK_RUNS if quick else _RUNS
    with TemporaryDirectory(prefix="evalstore-bench-") as name:
        folder = Path(name)
        logs = [_write_log(folder / "runs" / f"run{n:02}", n) for n in range(runs)]
        store = Store(folder / "store")
        import_paths(store.lake, [folder / "runs"], ImportOptions())
        store.sync()
        query = store.sql("SELECT * FROM results")

        def from_logs() -> pd.DataFrame:
            return pd.concat([pd.read_json(log, lines=True) for log in logs])

        ways = (from_logs, query.pl, query.df)
        if len({len(make()) for make in ways}) > 1:
            raise SystemExit("the frames have different numbers of results")
        rounds = [[_seconds(make) for make in ways] for _ in range(_ROUNDS)]
    theirs, polars, pandas = (min(column) for column in zip(*rounds, strict=True))
    # `df` spends most of its time on nullable pandas types, which DuckDB fills value by value.
    return [
        Ratio(
            f"data frame (`{call}`) of {runs} runs with {_RESULTS:,} results each, all columns",
            "reading the JSON logs into pandas (speedup)",
            theirs / ours,
            f"{theirs * 1000:.0f} ms / {ours * 1000:.0f} ms",
            at_least=wanted,
        )
        for call, ours, wanted in (("pl", polars, 3.5), ("df", pandas, None))
    ]


def _write_log(folder: Path, number: int) -> Path:
    folder.mkdir(parents=True)
    log = folder / "results.jsonl"
    write_rows(log, _RESULTS, 0, run_id=folder.name, seed=number)
    return log


def _seconds(make: Callable[[], object]) -> float:
    start = time.perf_counter()
    make()
    return time.perf_counter() - start
