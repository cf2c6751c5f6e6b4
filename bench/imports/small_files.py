"""The import of a folder of many small logs, in files per second and per CPU second."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.data.openclaw_rows import record
from bench.ratios import Ratio
from ingest.importer import import_paths
from ingest.reading import ImportOptions
from warehouse.lake.lake import Lake

_FILES, _QUICK_FILES, _ROWS, _ROUNDS = 20_000, 200, 5, 3
_FILES_PER_SECOND = 2000


def measure(*, quick: bool) -> list[Ratio]:
    """Compare the import, including the written store, with a wanted rate and with parsing."""
    count = _QUICK_FILES if quick else _FILES
    with TemporaryDirectory(prefix="evalstore-bench-") as name:
        folder = Path(name)
        _write_logs(folder / "logs", count)
        _write_logs(folder / "few", 3)
        # The first use imports libraries, which is not measured.
        _import(folder / "few", folder / "first")
        rounds = []
        for n in range(_ROUNDS):
            seconds, cpu = _import(folder / "logs", folder / f"store{n}")
            rounds.append((seconds, cpu, _parsing_cpu(folder / "logs")))
    seconds, cpu, parsing = (min(column) for column in zip(*rounds, strict=True))
    work = f"import of {count:,} OpenClaw logs of {_ROWS} rows in a folder"
    figures = f"{count / seconds:,.0f} files per second, {count / cpu:,.0f} per CPU second"
    return [
        Ratio(
            work,
            f"{_FILES_PER_SECOND:,} files per second",
            count / seconds / _FILES_PER_SECOND,
            figures,
            at_least=1,
        ),
        Ratio(
            work,
            "`json.loads` of their lines (relative CPU time)",
            cpu / parsing,
            f"{cpu:.1f} s / {parsing:.1f} s",
        ),
    ]


def _write_logs(folder: Path, count: int) -> None:
    folder.mkdir()
    for n in range(count):
        chance = random.Random(n)
        rows = (record(chance, row, f"run{n}") for row in range(_ROWS))
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"run{n:05}.jsonl").write_text(text, "utf-8")


def _import(logs: Path, store: Path) -> tuple[float, float]:
    """Return the wall time and the CPU time of the import of a folder, in seconds."""
    start, start_cpu = time.perf_counter(), time.process_time()
    summary = import_paths(Lake(store), [logs], ImportOptions())
    seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    count = sum(1 for _ in logs.iterdir())
    if (len(summary.runs), summary.n_results) != (count, _ROWS * count):
        raise SystemExit(f"{count} logs gave {len(summary.runs)} runs")
    return seconds, cpu


def _parsing_cpu(logs: Path) -> float:
    start = time.process_time()
    for path in logs.iterdir():
        for line in path.read_bytes().splitlines():
            json.loads(line)
    return time.process_time() - start
