"""A check of a large store: reduced frames from DuckDB, compared with all rows in pandas.

Both sides evaluate the same expectations of the columns of `lake.results`.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.ratios import Ratio
from warehouse.analysis.checking import gx
from warehouse.analysis.checking.check import run_checks
from warehouse.analysis.checking.shipped import shipped_relations
from warehouse.app.store import Store
from warehouse.core.in_memory import open_in_memory
from warehouse.core.schemas import RESULTS, RUNS
from warehouse.lake.batch import Generation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.analysis.checking.expectations import Relation

_RUNS = 100
_ROWS, _FEW_ROWS = 1_000_000, 20_000
_RESULTS = """
SELECT
    'openclaw' AS suite,
    'run' || (i % {runs}) AS run_id,
    'root' AS generation,
    md5(i::VARCHAR) AS content_id,
    i // {runs} + 1 AS seq,
    'ollama_openai' AS provider,
    'model-' || (hash(i) % 20) AS model,
    'P' || (i % 500) AS task_id,
    'prompt ' || (i % 500) AS task_name,
    if(hash(i) % 50 = 0, 'error', 'ok') AS availability_status,
    hash(i) % 50 <> 0 AS success,
    if(hash(i) % 50 = 0, 'http_500', NULL) AS failure_type,
    TIMESTAMP '2026-01-01' + to_milliseconds(i * 1000) AS started_at,
    TIMESTAMP '2026-01-01' + to_milliseconds(i * 1000 + hash(i) % 90000) AS ended_at,
    (hash(i) % 90000)::BIGINT AS e2e_ms,
    (hash(i) % 3000)::BIGINT AS input_tokens,
    (hash(i) % 700)::BIGINT AS output_tokens,
    (hash(i) % 100000) / 1e7 AS cost_usd,
    'answer ' || (hash(i) % 5000) || repeat(' and so on', 20) AS raw_output,
    CASE WHEN hash(i) % 50 <> 0 THEN hash(i) % 3 <> 0 END AS objective_pass,
    '{{"text":"answer"}}' AS parsed_output,
    []::VARCHAR[] AS tool_calls,
    0::BIGINT AS tool_call_count,
    false AS tool_use_success,
    NULL::VARCHAR AS thinking_level,
    NULL::VARCHAR AS prompt,
    NULL::VARCHAR AS answer,
    NULL::DOUBLE AS duration_seconds,
    NULL::VARCHAR AS model_path,
    NULL::VARCHAR AS run_date
FROM range({rows}) AS numbers (i)
"""
_HEADERS = """
SELECT 'openclaw' AS suite, 'run' || i AS run_id, 'root' AS generation, 'header' || i AS content_id,
    'import' AS origin, NULL::VARCHAR AS plan
FROM range({runs}) AS numbers (i)
"""


def measure(*, quick: bool) -> list[Ratio]:
    """Time the whole check, and the expectations of results in both ways."""
    n_rows = _FEW_ROWS if quick else _ROWS
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "store")
        fill(store, n_rows)
        gx.load()
        whole = _timed(store, shipped_relations())
        of_results = [b for b in shipped_relations() if b.name.endswith("lake.results")]
        smallest, all_rows = [], []
        for _ in range(1 if quick else 2):
            smallest.append(_timed(store, of_results))
            all_rows.append(_of_all_rows(store, of_results))
        begun = time.process_time()
        run_checks(store, of_results)
        checked, scanned = time.process_time() - begun, _scan(store, of_results)
    ours, theirs = min(smallest), min(all_rows)
    return [
        Ratio(
            work=f"check of the columns of {n_rows:,} results",
            against="the same expectations on all rows in pandas (speedup)",
            value=theirs / ours,
            figures=f"{theirs:.1f} s / {ours:.1f} s; the whole check {whole:.1f} s",
            at_least=5,
        ),
        Ratio(
            work=f"check of the columns of {n_rows:,} results, CPU",
            against="a scan of these columns, CPU (relative time)",
            value=checked / scanned,
            figures=f"{checked:.2f} s / {scanned:.2f} s",
            # Of a few rows, most of the time is Great Expectations' own.
            at_most=None if quick else 5,
            is_lower_better=True,
        ),
    ]


def fill(store: Store, n_rows: int) -> None:
    """Write a batch of results, and bring the warehouse up to date."""
    with open_in_memory() as connection, store.lake.write("import") as writer:
        for table, query in ((RESULTS, _RESULTS), (RUNS, _HEADERS)):
            connection.execute(
                f"COPY ({query.format(rows=n_rows, runs=_RUNS)}) TO '{writer.path(table)}'"
                "(FORMAT parquet, COMPRESSION zstd)"
            )
        writer.commit(
            generations=[Generation("openclaw", f"run{i}", "root", None) for i in range(_RUNS)]
        )
    store.sync()


def _timed(store: Store, relations: Sequence[Relation]) -> float:
    begun = time.perf_counter()
    results = [o for each in run_checks(store, relations) for o in each.results]
    seconds = time.perf_counter() - begun
    assert all(o.passed or o.expectation.severity != "critical" for o in results)  # noqa: S101
    return seconds


def _of_all_rows(store: Store, relations: Sequence[Relation]) -> float:
    """Time the same expectations on complete columns in pandas."""
    begun = time.perf_counter()
    for relation in relations:
        names = ", ".join(dict.fromkeys(c for e in relation.expectations for c in e.columns))
        frame = store.sql(f"SELECT {names} FROM ({relation.query})").df()
        for expectation in relation.expectations:
            gx.evaluate(gx.prepare(expectation, {}), frame)
    return time.perf_counter() - begun


def _scan(store: Store, relations: Sequence[Relation]) -> float:
    """Return the processor time of one look at each column that is checked."""
    names = {c for relation in relations for e in relation.expectations for c in e.columns}
    columns = (column.name for column in RESULTS.columns if column.name in names)
    query = f"SELECT {', '.join(f'max({name})' for name in columns)} FROM lake.results"
    with store.reading() as connection:
        begun = time.process_time()
        connection.execute(query).fetchall()
        return time.process_time() - begun
