"""The processor time of commands on the samples, compared with an import of duckdb."""

from __future__ import annotations

import resource
import shutil
import statistics
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.processes import ROOT, command
from bench.ratios import Ratio
from ingest.importer import import_paths
from ingest.reading import ImportOptions
from warehouse.app.store import Store

_ROUNDS = 5
_GX = "import great_expectations.expectations.core"
_LOG = "examples/palindrome/benchmark_logs/2026-03-03-esimerkki-routa-7b.yaml"
# Seconds on a quiet machine, where importing duckdb takes 0.09; `check` without the import of Great
# Expectations. Of the import of a log, click and pyarrow.parquet take 0.14 to load.
_WORK = (
    ("the first query after an import", "show leaderboard", 1.0),
    ("`evalstore annotate adjudicate`", "annotate adjudicate --agreed --by Cho", 1.0),
    ("`evalstore forget`", "forget 20260405-090000-first-try --yes", 1.0),
    ("`evalstore models`", "models", 1.0),
    ("`evalstore check`", "check", 2.0),
    ("the import of a small log", f"import {_LOG}", 0.25),
)
_IMPORT_SECONDS = 0.09


def measure(*, quick: bool) -> list[Ratio]:
    """Run each command on a copy of the same store, and import duckdb in turn."""
    seconds: dict[str, list[float]] = {}
    with TemporaryDirectory(prefix="evalstore-bench-") as folder:
        store = Store(Path(folder) / "store")
        samples = [ROOT / "examples" / name for name in ("palindrome", "openclaw", "posters")]
        import_paths(store.lake, samples, ImportOptions())
        Store(Path(folder) / "other").sync()  # puts the empty warehouse into the cache
        unsynced = shutil.copytree(store.path, Path(folder) / "unsynced")
        store.sync()
        sources = {
            "the first query after an import": unsynced,
            "the import of a small log": Path(folder) / "other",
        }
        for _ in range(1 if quick else _ROUNDS):
            seconds.setdefault("duckdb", []).append(_cpu(sys.executable, "-c", "import duckdb"))
            gx = _cpu(sys.executable, "-c", _GX)
            for name, arguments, _ in _WORK:
                copy = shutil.copytree(sources.get(name, store.path), Path(folder) / "copy")
                words = ("-m", "evalstore", "--store", str(copy), *arguments.split())
                spent = _cpu(sys.executable, *words)
                seconds.setdefault(name, []).append(spent - (gx if arguments == "check" else 0))
                shutil.rmtree(copy)
    least = statistics.median(seconds.pop("duckdb"))
    return [
        Ratio(
            f"{name}, CPU" + (" beyond its import" if arguments == "check" else ""),
            "`import duckdb`, CPU",
            statistics.median(seconds[name]) / least,
            f"{statistics.median(seconds[name]):.2f} s / {least:.2f} s",
            at_most=limit / _IMPORT_SECONDS,
        )
        for name, arguments, limit in _WORK
    ]


def _cpu(*words: str) -> float:
    """Run a program, and return its processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command(*words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
