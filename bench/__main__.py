"""Run every benchmark and write `bench/RESULTS.md`.

    python -m bench [--quick] [NAME ...]

Each benchmark is a module in this folder with `measure(*, quick)`, and runs in its own process.
`--quick` uses small sizes to show that the benchmarks work, and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import import_module, metadata
from pathlib import Path

from bench.ratios import Ratio

# In the order of the table.
BENCHMARKS: tuple[str, ...] = (
    "openclaw_import",
    "tables",
    "palindrome_import",
    "history",
    "dataframe",
    "start",
    "first_use",
    "posters",
    "validators",
    "checking",
    "compaction",
    "runner_throughput",
    "recording",
    "pairs",
)
_RESULTS = Path(__file__).with_name("RESULTS.md")
_LIBRARIES = ("duckdb", "pyarrow", "polars", "pandas", "pyyaml", "litellm")
_MARK = "ratios: "


def main() -> None:
    """Run the given benchmarks and print their ratios; if all were run, write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="small sizes; writes nothing")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        measured = import_module(f"bench.{asked.names[0]}").measure(quick=asked.quick)
        print(_MARK + json.dumps([asdict(ratio) for ratio in measured]), flush=True)
        return
    ratios = [r for name in asked.names or BENCHMARKS for r in _in_its_process(name, asked.quick)]
    if not asked.names and not asked.quick:
        _RESULTS.write_text(_page(ratios), encoding="utf-8")
        print(f"written to {_RESULTS.relative_to(Path.cwd())}")


def _in_its_process(name: str, quick: bool) -> list[Ratio]:  # noqa: FBT001
    """Measure in a new process, so that imports and memory of other benchmarks do not count."""
    command = [sys.executable, "-m", "bench", "--one", name, *(["--quick"] if quick else [])]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    line = next(line for line in done.stdout.splitlines() if line.startswith(_MARK))
    ratios = [Ratio(**row) for row in json.loads(line.removeprefix(_MARK))]
    for ratio in ratios:
        verdict = "" if ratio.is_met else "  TARGET MISSED"
        print(f"{ratio.work} / {ratio.against}: {ratio.value:.2f} × ({ratio.target}){verdict}")
        print(f"    {ratio.figures}", flush=True)
    return ratios


def _page(ratios: list[Ratio]) -> str:
    rows = [
        f"| {r.work} | {r.against} | {r.value:.2f} × | {r.target} | "
        f"{'yes' if r.is_met else '**no**'} | {r.figures} |"
        for r in ratios
    ]
    libraries = ", ".join(f"{name} {metadata.version(name)}" for name in _LIBRARIES)
    where = f"{_machine()}, Python {platform.python_version()}, {libraries}"
    return "\n".join(
        [
            "# Benchmarks",
            "",
            "Written by `make bench`. Both sides of a ratio are measured alternately in one run.",
            "",
            f"{datetime.now(UTC):%Y-%m-%d}, {where}.",
            "",
            "| work | compared with | ratio | target | met | figures |",
            "| --- | --- | --- | --- | --- | --- |",
            *rows,
            "",
        ]
    )


def _machine() -> str:
    import os

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GiB"


if __name__ == "__main__":
    main()
