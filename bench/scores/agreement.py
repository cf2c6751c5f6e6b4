"""The agreement of raters, of a million ratings: the CPU time that sync adds for it.

Three raters of many answers, a person among them; and ten judges of fewer. Intervals take as long
for few ratings as for many, and are part of it.
"""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from bench.data.long_history import typed
from bench.ratios import Ratio
from warehouse.app.store import Store
from warehouse.core.schemas import RATINGS, RUNS
from warehouse.engine.connection import open_for_writing
from warehouse.engine.tables.raters.judge_agreement import update_judge_agreement
from warehouse.lake.batch import Generation
from warehouse.lake.lake import Lake

_RATINGS, _QUICK_RATINGS = 1_000_000, 3_000
_SECONDS = 2.0
_RATERS = {3: "a person and 2 judges", 10: "10 judges"}
# `n` numbers the ratings; the last rater of three is a person. All report an item's label in two
# of three ratings.
_COLUMNS = {
    "suite": "'arena'",
    "run_id": "'r'",
    "generation": "'root'",
    "content_id": "md5(n::VARCHAR)",
    "seq": "n + 1",
    "task_set": "'core'",
    "task_id": "'t' || (n // $raters // 10)",
    "model": "'model-' || (n // $raters % 10)",
    "criterion": "'correct'",
    "rater": "'rater-' || (n % $raters)",
    "rater_kind": "if($raters = 3 AND n % 3 = 2, 'human', 'judge')",
    "status": "'ok'",
    "value": "(if(hash(n) % 3 = 0, hash(n, 1), hash(n // $raters, 2)) % 2)::DOUBLE",
    "scale_low": "0.0",
    "scale_high": "1.0",
}


def measure(*, quick: bool) -> list[Ratio]:
    """Compute all rows of the table in a warehouse of made-up ratings; compare with the limit."""
    n = _QUICK_RATINGS if quick else _RATINGS
    return [_measured(n, n_raters, who) for n_raters, who in _RATERS.items()]


def _measured(n: int, n_raters: int, who: str) -> Ratio:
    with TemporaryDirectory(prefix="evalstore-bench-") as name:
        folder = Path(name) / "store"
        make_ratings(folder, n, n_raters)
        with open_for_writing(Store(folder).warehouse, wait_seconds=0) as connection:
            start = time.process_time()
            update_judge_agreement(connection, everything=True)
            seconds = time.process_time() - start
    return Ratio(
        work=f"agreement of {who} in {n:,} ratings, CPU",
        against=f"{_SECONDS:g} s",
        value=seconds / _SECONDS,
        figures=f"{seconds:.2f} s",
        at_most=1.0,
    )


def make_ratings(store: Path, n: int, n_raters: int) -> None:
    """Write a lake with ratings of answers by some raters, and bring the warehouse up to date."""
    with Lake(store).write("bench") as writer, duckdb.connect() as connection:
        connection.execute(
            f"""
            COPY (SELECT {typed(RATINGS, _COLUMNS)} FROM range({n}) AS t(n))
            TO '{writer.path(RATINGS)}' (FORMAT parquet, COMPRESSION zstd)
            """,
            {"raters": n_raters},
        )
        run = {"suite": "arena", "run_id": "r", "generation": "root", "content_id": "header"}
        writer.add(RUNS, [run])
        writer.commit(generations=[Generation("arena", "r", "root")])
    Store(store).sync()
