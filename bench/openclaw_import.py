"""Measures the import of a large results.jsonl beside two plain ways to read it, in one run.

    python bench/openclaw_import.py FOLDER [--rows 1000000]

Makes the file in FOLDER where it is not there yet (720 MB for 1,000,000 rows) with 100 broken
lines, imports it into a new store, and checks that each broken line is in quarantine at its place.
Then DuckDB's own read_json writes the same file, less its broken lines, to Parquet, and Python's
json.loads reads it line by line. Each runs in a process of its own, so that its memory is its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

from openclaw_rows import write_rows

_ROOT = Path(__file__).resolve().parents[1]
_IMPORT = "import evalstore; evalstore.main(['--store', {store!r}, 'import', {file!r}])"
_READ_JSON = (
    "import duckdb; duckdb.sql(\"copy (from read_json('{file}', format='newline_delimited')) "
    "to '{target}' (format parquet, compression zstd)\")"
)
_LOOP = """
import json
columns = {{}}
for line in open({file!r}, encoding="utf-8"):
    for key, value in json.loads(line).items():
        columns.setdefault(key, []).append(value)
"""


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    arguments = parser.parse_args()
    folder = arguments.folder
    file, clean = folder / "results.jsonl", folder / "clean.jsonl"
    broken = _made(file, clean, arguments.rows)
    store = folder / "store"
    shutil.rmtree(store, ignore_errors=True)
    size = file.stat().st_size / 1e6
    ways = {
        "evalstore import": _IMPORT.format(store=str(store), file=str(file)),
        "DuckDB read_json to Parquet": _READ_JSON.format(file=clean, target=folder / "x.parquet"),
        "Python json.loads, columns": _LOOP.format(file=str(clean)),
    }
    print(f"{arguments.rows:,} rows, {size:,.0f} MB")
    for name, code in ways.items():
        seconds, processor, peak = _measured(code)
        rate = arguments.rows / seconds
        print(
            f"{name:28} {seconds:6.1f} s {size / seconds:6.0f} MB/s {rate:9,.0f} rows/s "
            f"{processor:6.1f} s of processor {peak:6,.0f} MB at most"
        )
    _check(store, broken)


def _made(file: Path, clean: Path, rows: int) -> list[int]:
    places = file.with_suffix(".broken")
    if not places.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        places.write_text(json.dumps(write_rows(file, rows, 100)))
        bad = set(json.loads(places.read_text()))
        with file.open("rb") as source, clean.open("wb") as target:
            target.writelines(line for n, line in enumerate(source, 1) if n not in bad)
    broken: list[int] = json.loads(places.read_text())
    return broken


def _measured(code: str) -> tuple[float, float, float]:
    """Run Python code; give its wall time, its processor time, and its memory in MB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    script = f"{code}\n" if "evalstore" not in code else code
    peak = (
        "import resource, atexit, sys; atexit.register(lambda: print("
        "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, file=sys.stderr))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", peak + script],
        cwd=_ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, processor, float(done.stderr.split()[-1])


def _check(store: Path, broken: list[int]) -> None:
    sys.path.insert(0, str(_ROOT))
    import duckdb

    (path,) = store.glob("lake/*/quarantine.parquet")
    lines = duckdb.sql(f"SELECT line FROM '{path}' ORDER BY line").fetchall()
    print(f"broken lines found: {[n for (n,) in lines] == broken}")


if __name__ == "__main__":
    main()
