"""The import of a large CSV table, compared with polars' own way from CSV to Parquet.

The import also looks at the columns, searches for secrets, gives each row an id, finds repeated
rows, and writes scores and tasks as tables of their own.
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.processes import evalstore, python
from bench.ratios import Ratio

_ROWS, _QUICK_ROWS, _ROUNDS = 1_000_000, 20_000, 3
_TASKS = 20_000

_POLARS = """
import sys, polars
polars.read_csv(sys.argv[1]).write_parquet(sys.argv[2])
"""


def write_table(path: Path, rows: int) -> None:
    """Write a wide table: ten models, two scores, a verdict, costs, times and texts."""
    chance = random.Random(5)
    names = "model,item,epoch,prompt,output,target,correct,accuracy,f1,cost_usd,latency_ms,time"
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{names},note\n")
        for n in range(rows):
            task = n % _TASKS
            file.write(
                f"model-{n * 10 // rows},q{task},{n // _TASKS % 5 + 1},"
                f'"What is {task} plus {task}, and why? Explain it in a few words",'
                f"It is {2 * task} because of addition {n},{2 * task},"
                f"{'true' if n % 3 else 'false'},{chance.random():.4f},{chance.random():.3f},"
                f"{chance.random() / 1000:.6f},{chance.randrange(50, 9000)},"
                f"2026-03-{n % 28 + 1:02}T10:{n % 60:02}:{n // 60 % 60:02}Z,n{n % 7}\n"
            )


def measure(*, quick: bool) -> list[Ratio]:
    """Compare times."""
    rows = _QUICK_ROWS if quick else _ROWS
    with TemporaryDirectory(prefix="evalstore-bench-") as name:
        folder = Path(name)
        table, store = folder / "table.csv", folder / "store"
        write_table(table, rows)
        plain, ours = [], []
        for _ in range(_ROUNDS):
            plain.append(python(_POLARS, str(table), str(folder / "plain.parquet")))
            shutil.rmtree(store, ignore_errors=True)
            ours.append(evalstore("--store", str(store), "import", str(table), "--yes"))
        best, best_plain = min(s.seconds for s in ours), min(s.seconds for s in plain)
        memory = max(spent.megabytes for spent in ours)
        size = table.stat().st_size / 1e6
    return [
        Ratio(
            f"import of a CSV table of {rows:,} rows ({size:,.0f} MB)",
            "polars' `read_csv` and `write_parquet` (relative time)",
            best / best_plain,
            f"{best:.1f} s / {best_plain:.1f} s; peak memory {memory:,.0f} MB",
            at_most=15.5,
        )
    ]
