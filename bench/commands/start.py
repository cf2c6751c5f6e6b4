"""The time the command line takes, compared with the minimum that its libraries take."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.processes import ROOT, medians
from bench.ratios import Ratio
from ingest.importer import import_paths
from ingest.reading import ImportOptions
from warehouse.app.store import Store

_ROUNDS, _QUICK_ROUNDS = 25, 3
_QUERY = "SELECT suite, run_id, n_results FROM runs ORDER BY run_date LIMIT 5"
_EMPTY = """
import click

@click.group()
def main():
    pass

main()
"""
_DUCKDB = """
import sys, duckdb
with duckdb.connect(sys.argv[1], read_only=True) as connection:
    print(connection.sql(sys.argv[2]))
"""


def measure(*, quick: bool) -> list[Ratio]:
    """Compare the help with an empty click program, and a query with the same query in DuckDB."""
    rounds = _QUICK_ROUNDS if quick else _ROUNDS
    python = sys.executable
    program = (python, "-m", "evalstore")
    with TemporaryDirectory(prefix="evalstore-bench-") as name:
        store = Store(Path(name) / "store")
        import_paths(store.lake, [ROOT / "examples" / "palindrome"], ImportOptions())
        store.sync()
        ours = (*program, "--store", str(store.path), "sql", _QUERY)
        help_, empty, query, plain = medians(
            rounds,
            (*program, "--help"),
            (python, "-c", _EMPTY, "--help"),
            ours,
            (python, "-c", _DUCKDB, str(store.warehouse), _QUERY),
        )
    return [
        Ratio(
            "`evalstore --help`",
            "an empty click program (relative time)",
            help_ / empty,
            f"{help_ * 1000:.0f} ms / {empty * 1000:.0f} ms",
            at_most=1.1,
        ),
        Ratio(
            "a small query with `evalstore sql`",
            "DuckDB in Python (relative time)",
            query / plain,
            f"{query * 1000:.0f} ms / {plain * 1000:.0f} ms",
            at_most=1.2,
        ),
    ]
