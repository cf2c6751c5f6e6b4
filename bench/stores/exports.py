"""Exports of many small runs, compared with that of one run: the queries must not be per run."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from bench.data.openclaw_rows import write_rows
from bench.processes import evalstore
from bench.ratios import Ratio
from ingest.importer import import_paths
from ingest.reading import ImportOptions
from warehouse.app.store import Store

_RUNS, _QUICK_RUNS, _RESULTS, _ROUNDS = 200, 5, 10, 3
# With queries of their own, each run took 0.2 s.
_AT_MOST = 5


def measure(*, quick: bool) -> list[Ratio]:
    """Compare the processor time of an export of all runs with that of an export of one."""
    runs = _QUICK_RUNS if quick else _RUNS
    with TemporaryDirectory(prefix="evalstore-bench-") as name:
        folder = Path(name)
        for n in range(runs):
            log = folder / "runs" / f"run{n:03}" / "results.jsonl"
            log.parent.mkdir(parents=True)
            write_rows(log, _RESULTS, 0, run_id=log.parent.name, seed=n)
        store = Store(folder / "store")
        import_paths(store.lake, [folder / "runs"], ImportOptions())
        store.sync()
        return [_compared(folder, kind, runs) for kind in ("inspect", "eee")]


def _compared(folder: Path, kind: str, runs: int) -> Ratio:
    ways = ((), ("--run", "run000"))
    rounds = [[_seconds(folder, kind, *way) for way in ways] for _ in range(_ROUNDS)]
    everything, one = (min(column) for column in zip(*rounds, strict=True))
    return Ratio(
        f"`evalstore export {kind}` of {runs} runs with {_RESULTS} results each, CPU",
        "the export of one of them, CPU (relative time)",
        everything / one,
        f"{everything:.2f} s / {one:.2f} s",
        at_most=_AT_MOST,
    )


def _seconds(folder: Path, kind: str, *arguments: str) -> float:
    to = ("--to", str(folder / "out"))
    done = evalstore("--store", str(folder / "store"), "export", kind, *to, *arguments)
    return float(done.output.split()[-1])
