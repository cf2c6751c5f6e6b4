"""The import of a large results.jsonl, compared with two plain programs that convert it to Parquet.

The file has broken lines, each of which must be in quarantine with its line number. The loop keeps
them as well; DuckDB's `read_json` would fail, and reads the same file without them.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.data.openclaw_rows import write_rows
from bench.processes import Spent, evalstore, python
from bench.ratios import Ratio

_ROWS, _BROKEN, _ROUNDS = 1_000_000, 100, 3
_QUICK_ROWS = 20_000

_READ_JSON = """
import sys, duckdb
source, target = sys.argv[1:]
duckdb.sql(f"COPY (FROM read_json('{source}', format = 'newline_delimited')) "
           f"TO '{target}' (FORMAT parquet, COMPRESSION zstd)")
"""
_LOOP = """
import json, sys
import pyarrow as pa
import pyarrow.parquet as pq
rows, broken = [], []
with open(sys.argv[1], encoding="utf-8") as lines:
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
        except ValueError as error:
            broken.append({"line": number, "raw": line, "reason": str(error)})
            continue
        if row["parsed_output"] is not None:  # text, list or object: one column holds it as JSON
            row["parsed_output"] = json.dumps(row["parsed_output"], ensure_ascii=False)
        rows.append(row)
pq.write_table(pa.Table.from_pylist(rows), sys.argv[2], compression="zstd")
pq.write_table(pa.Table.from_pylist(broken), sys.argv[2] + ".broken", compression="zstd")
"""


def measure(*, quick: bool) -> list[Ratio]:
    """Compare times with both, and memory with the loop."""
    rows = _QUICK_ROWS if quick else _ROWS
    with TemporaryDirectory(prefix="evalstore-bench-") as name:
        folder = Path(name)
        log, clean = folder / "results.jsonl", folder / "clean.jsonl"
        broken = write_rows(log, rows, _BROKEN)
        _write_clean(log, clean, set(broken))
        size = log.stat().st_size / 1e6
        ours, plain = [], []
        for _ in range(_ROUNDS):
            plain.append(python(_READ_JSON, str(clean), str(folder / "plain.parquet")))
            ours.append(_import(log, folder / "store", broken))
        loop = python(_LOOP, str(log), str(folder / "loop.parquet"))
    best, best_plain = _fastest(ours), _fastest(plain)
    work = f"strict import of {rows:,} openclaw rows ({size:,.0f} MB), including quarantine"
    memory = max(spent.megabytes for spent in ours)
    return [
        Ratio(
            work,
            "a Python loop that builds dicts and writes Parquet (speedup)",
            loop.seconds / best.seconds,
            f"{loop.seconds:.1f} s / {best.seconds:.1f} s",
            at_least=5,
        ),
        Ratio(
            work,
            "DuckDB's plain `read_json` to Parquet (relative time)",
            best.seconds / best_plain.seconds,
            f"{best.seconds:.1f} s / {best_plain.seconds:.1f} s",
            at_most=4,
        ),
        Ratio(
            work,
            "the loop (memory reduction)",
            loop.megabytes / memory,
            f"{loop.megabytes:,.0f} MB / {memory:,.0f} MB",
            at_least=5,
        ),
    ]


def _write_clean(log: Path, clean: Path, broken: set[int]) -> None:
    with log.open("rb") as source, clean.open("wb") as target:
        target.writelines(line for number, line in enumerate(source, 1) if number not in broken)


def _import(log: Path, store: Path, broken: list[int]) -> Spent:
    """Import into a new store, and check that the broken lines are in quarantine."""
    import duckdb

    shutil.rmtree(store, ignore_errors=True)
    spent = evalstore("--store", str(store), "import", str(log), may_fail=True)
    (path,) = store.glob("lake/*/quarantine.parquet")
    found = duckdb.sql("SELECT line FROM read_parquet(?) ORDER BY line", params=[str(path)])
    if [line for (line,) in found.fetchall()] != broken:
        raise SystemExit("the quarantine lacks broken lines")
    return spent


def _fastest(rounds: list[Spent]) -> Spent:
    return min(rounds, key=lambda spent: spent.seconds)
