"""The matrix and the work list of 1,000 systems by 10,000 items, a tenth asked: CPU time."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import duckdb

from bench.data.long_history import typed
from bench.ratios import Ratio
from warehouse.analysis.items.responses import read_responses
from warehouse.analysis.items.work_list import work_lists
from warehouse.app.store import Store
from warehouse.core.schemas import RESULTS, RUNS, TASKS
from warehouse.lake.batch import Generation
from warehouse.lake.lake import Lake

if TYPE_CHECKING:
    from collections.abc import Callable

_SIZE, _QUICK_SIZE = (1_000, 10_000), (20, 100)
_SECONDS = {"matrix": 2.0, "work list": 4.0}
# A system passes an item as chance has it; if not, it gives one of nine answers.
_RESULTS = {
    "suite": "'quiz'",
    "run_id": "'r' || system",
    "generation": "'root'",
    "content_id": "md5(system || '-' || item)",
    "seq": "item",
    "task_set": "'mcq'",
    "task_id": "'t' || item",
    "task_hash": "'h' || item",
    "model": "'m' || system",
    "objective_pass": "passed",
    "answer": "if(passed, 'key', 'answer ' || hash(system, item, 2) % 9)",
}
_TASKS = {
    "suite": "'quiz'",
    "task_set": "'mcq'",
    "task_set_hash": "'v'",
    "task_id": "'t' || item",
    "task_hash": "'h' || item",
    "content_id": "'t' || item",
    "seq": "item",
    "question": "'Which is number ' || item || '?'",
    "target": "'key'",
}
_ASKED = """
    SELECT system, item, hash(system, item, 1) % 3000 < system + 1000 AS passed
    FROM range({n_systems}) AS s(system), range({n_items}) AS i(item)
    WHERE hash(system, item) % 10 = 0
"""


def measure(*, quick: bool) -> list[Ratio]:
    """Read the matrix, and make the work list, of made-up answers; compare with the limits."""
    n_systems, n_items = _QUICK_SIZE if quick else _SIZE
    with TemporaryDirectory(prefix="evalstore-bench-") as name:
        store = make_answers(Path(name) / "store", n_systems, n_items)
        with store.reading("item_responses item_answers flaky_tasks") as connection:
            works: dict[str, Callable[[], object]] = {
                "matrix": lambda: read_responses(connection, "quiz"),
                "work list": lambda: work_lists(connection, "quiz"),
            }
            seconds = {name: _cpu_seconds(work) for name, work in works.items()}
    return [
        Ratio(
            work=f"{name} of {n_systems:,} systems by {n_items:,} items, a tenth asked, CPU",
            against=f"{limit:g} s",
            value=seconds[name] / limit,
            figures=f"{seconds[name]:.2f} s",
            at_most=1.0,
        )
        for name, limit in _SECONDS.items()
    ]


def _cpu_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def make_answers(folder: Path, n_systems: int, n_items: int) -> Store:
    """Write a lake of a run for each system, and bring the warehouse up to date."""
    asked = _ASKED.format(n_systems=n_systems, n_items=n_items)
    with Lake(folder).write("bench") as writer, duckdb.connect() as connection:
        for table, columns, rows in (
            (RESULTS, _RESULTS, f"({asked})"),
            (TASKS, _TASKS, f"range({n_items}) AS t(item)"),
        ):
            connection.execute(
                f"COPY (SELECT {typed(table, columns)} FROM {rows}) "
                f"TO '{writer.path(table)}' (FORMAT parquet, COMPRESSION zstd)"
            )
        names = [f"r{system}" for system in range(n_systems)]
        key = {"suite": "quiz", "generation": "root"}
        writer.add(RUNS, [{**key, "run_id": name, "content_id": name} for name in names])
        writer.commit(generations=[Generation("quiz", name, "root") for name in names])
    store = Store(folder)
    store.sync()
    return store
