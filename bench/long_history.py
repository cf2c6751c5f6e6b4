"""A lake of ten million results, made at once by DuckDB: years of many people's runs."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import duckdb

from warehouse.lake.batch import Generation
from warehouse.lake.lake import Lake
from warehouse.schemas import RESULTS, RUNS, duckdb_type

if TYPE_CHECKING:
    from pathlib import Path

    from warehouse.schemas import Table
    from warehouse.types import Row

RESULTS_PER_RUN = 10_000
_ROWS_PER_GROUP = 100_000

# Every tenth run is OpenClaw's, whose answers sync scores; the others are of a user's own suite.
# `run` counts runs, `n` results.
_RUN_COLUMNS = {
    "suite": "if(run % 10 = 0, 'openclaw', 'questions')",
    "run_id": "strftime(TIMESTAMP '2020-01-01' + to_hours(run * 6), '%Y%m%d_%H%M%S')",
    "generation": "'root'",
}
_COLUMNS = {
    **_RUN_COLUMNS,
    "content_id": "md5(n::VARCHAR)",
    "seq": f"n % {RESULTS_PER_RUN} + 1",
    "provider": "if(run % 3 = 0, 'ollama_openai', 'litellm')",
    "model": "'example/model-' || (run // 10 % 20)",
    "thinking_level": "CASE run // 200 % 3 WHEN 0 THEN 'low' WHEN 1 THEN 'high' END",
    "task_id": "'q' || (n % 1000)",
    "availability_status": "if(hash(n, 1) % 50 = 0, 'error', 'ok')",
    "success": "hash(n, 1) % 50 <> 0",
    "started_at": "TIMESTAMP '2020-01-01' + to_hours(run * 6) + to_milliseconds(n % 10000 * 400)",
    "e2e_ms": "100 + (hash(n, 2) % 30000)::BIGINT",
    "input_tokens": "(hash(n, 3) % 400)::BIGINT",
    "output_tokens": "(hash(n, 4) % 900)::BIGINT",
    "cost_usd": "(hash(n, 5) % 1000) / 1e6",
    "raw_output": "'The answer to question ' || n || ' is ' || (hash(n, 6) % 1000) || '.'",
    "objective_pass": "CASE WHEN hash(n, 1) % 50 <> 0 THEN hash(n, 7) % 10 < 7 END",
}


def make_history(store: Path, results: int) -> None:
    """Write a lake of one batch.

    Args:
        store: the folder.
        results: how many, a multiple of `RESULTS_PER_RUN`.
    """
    runs = results // RESULTS_PER_RUN
    with Lake(store).write("bench") as writer, duckdb.connect() as connection:
        connection.execute(
            f"""
            COPY (
                SELECT {_typed(RESULTS, _COLUMNS)}
                FROM (SELECT n, n // {RESULTS_PER_RUN} AS run FROM range({results}) AS t(n))
            ) TO '{writer.path(RESULTS)}'
            (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {_ROWS_PER_GROUP})
            """
        )
        columns = ", ".join(_RUN_COLUMNS.values())
        keys = connection.sql(f"SELECT {columns} FROM range({runs}) AS t(run)").fetchall()
        writer.add(RUNS, [_header(suite, run_id) for suite, run_id, _ in keys])
        writer.commit(generations=[Generation(suite, run_id) for suite, run_id, _ in keys])


def add_run(store: Path, number: int, results: int) -> None:
    """Add a batch with a run of OpenClaw's, some days later than all others."""
    start = datetime(2030, 1, 1) + timedelta(days=number)  # noqa: DTZ001 - naive UTC, as all
    run_id = f"{start:%Y%m%d_%H%M%S}"
    shared = {"suite": "openclaw", "run_id": run_id, "generation": "root"}
    rows = [
        {
            **shared,
            "content_id": f"{run_id}-{n}",
            "seq": n,
            "provider": "ollama_openai",
            "model": "example/model-3",
            "task_id": f"q{n}",
            "availability_status": "ok",
            "success": True,
            "started_at": start + timedelta(seconds=n),
            "e2e_ms": 100 + n,
            "cost_usd": n / 1e6,
            "raw_output": f"`df -h` says {n}",
            "objective_pass": True,
        }
        for n in range(1, results + 1)
    ]
    with Lake(store).write("bench") as writer:
        writer.add(RESULTS, rows)
        writer.add(RUNS, [_header("openclaw", run_id)])
        writer.commit(generations=[Generation("openclaw", run_id)])


def _header(suite: str, run_id: str) -> Row:
    return {
        "suite": suite,
        "run_id": run_id,
        "generation": "root",
        "content_id": f"header of {run_id}",
    }


def _typed(table: Table, columns: dict[str, str]) -> str:
    return ", ".join(
        f"CAST({columns.get(c.name, 'NULL')} AS {duckdb_type(c)}) AS {c.name}"
        for c in table.columns
    )
