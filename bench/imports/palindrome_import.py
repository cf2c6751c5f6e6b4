"""The import of many palindrome logs, compared with parsing them with PyYAML's SafeLoader."""

from __future__ import annotations

import re
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from bench.processes import ROOT
from bench.ratios import Ratio
from ingest.importer import import_paths
from ingest.reading import ImportOptions
from warehouse.lake.lake import Lake

_LOGS, _QUICK_LOGS, _ROUNDS = 1000, 50, 3
_SAMPLES = ROOT / "examples" / "palindrome" / "benchmark_logs"


def measure(*, quick: bool) -> list[Ratio]:
    """Compare the import, including the written store, with parsing."""
    count = _QUICK_LOGS if quick else _LOGS
    with TemporaryDirectory(prefix="evalstore-bench-") as name:
        folder = Path(name)
        logs = _write_logs(folder / "benchmark_logs", count)
        # The first use of each imports libraries, which is not measured.
        _import_seconds(folder / "first", logs[:3])
        rounds = [
            (_read_seconds(logs), _import_seconds(folder / f"store{n}", logs))
            for n in range(_ROUNDS)
        ]
    plain, ours = (min(column) for column in zip(*rounds, strict=True))
    return [
        Ratio(
            f"import of {count:,} palindrome logs into a new store",
            "parsing with PyYAML's SafeLoader (speedup)",
            plain / ours,
            f"{plain:.2f} s / {ours:.2f} s",
            at_least=5,
        )
    ]


def _write_logs(folder: Path, count: int) -> list[Path]:
    """Write copies of the samples, each with its own date and model."""
    folder.mkdir()
    samples = [path.read_text("utf-8") for path in sorted(_SAMPLES.glob("*.yaml"))]
    paths = []
    for n in range(count):
        date = f"{2024 + n // 336}-{1 + n // 28 % 12:02}-{1 + n % 28:02}"
        text = re.sub(r"(?m)^date:.*$", f'date: "{date}"', samples[n % len(samples)], count=1)
        text = re.sub(r"(?m)^model:.*$", f"model: models/example-{n}-1.yaml", text, count=1)
        path = folder / f"{date}-example-{n}-1.yaml"
        path.write_text(text, "utf-8")
        paths.append(path)
    return paths


def _read_seconds(logs: list[Path]) -> float:
    start = time.perf_counter()
    for path in logs:
        yaml.load(path.read_bytes(), yaml.SafeLoader)
    return time.perf_counter() - start


def _import_seconds(store: Path, logs: list[Path]) -> float:
    start = time.perf_counter()
    summary = import_paths(Lake(store), logs, ImportOptions())
    seconds = time.perf_counter() - start
    if len(summary.runs) != len(logs):
        raise SystemExit(f"{len(logs)} logs gave {len(summary.runs)} runs")
    return seconds
