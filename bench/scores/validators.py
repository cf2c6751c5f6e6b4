"""Tools and verdicts of OpenClaw answers as sync computes them, compared with a loop over rows.

Both read the same temporary table and write temporary tables, so that disks do not matter. The
tables must be equal.
"""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pyarrow as pa

from bench.data.outputs import make_outputs
from bench.ratios import Ratio
from bench.scores.plain_validators import plain_tools, plain_verdict
from warehouse.engine.connection import open_for_writing
from warehouse.engine.views.sql_files import shipped_sql

if TYPE_CHECKING:
    from collections.abc import Callable

    import duckdb

_ROWS, _QUICK_ROWS = 1_000_000, 2_000
_ROUNDS = 2
_TOOLS = "SELECT content_id, openclaw_tools(raw_output) AS tools FROM inputs"
_DIFFERENT = """
    SELECT count(*)
    FROM answer_tools AS tools
    JOIN openclaw_verdicts AS verdicts USING (content_id)
    FULL JOIN plain USING (content_id)
    WHERE plain.tools IS DISTINCT FROM tools.tools
        OR plain.objective_pass IS DISTINCT FROM verdicts.objective_pass
        OR plain.violation IS DISTINCT FROM verdicts.violation
        OR plain.parsed_output IS DISTINCT FROM verdicts.parsed_output
"""


def measure(*, quick: bool) -> list[Ratio]:
    """Score the outputs in both ways, alternately.

    Raises:
        ValueError: the results of the two differ.
    """
    rows = _QUICK_ROWS if quick else _ROWS
    with (
        TemporaryDirectory() as folder,
        open_for_writing(Path(folder) / "warehouse.duckdb", wait_seconds=0) as connection,
    ):
        _prepare(connection, rows)
        ours, plain = [], []
        for _ in range(_ROUNDS):
            ours.append(_seconds(_score, connection))
            plain.append(_seconds(_score_plainly, connection))
        if connection.execute(_DIFFERENT).fetchone() != (0,):
            raise ValueError("the verdicts or tools differ")
    return [
        Ratio(
            work=f"verdicts and tools of {rows:,} outputs",
            against="a plain Python loop over the same rows (speedup)",
            value=min(plain) / min(ours),
            figures=f"{min(plain):.1f} s with the loop, {min(ours):.1f} s with the SQL of sync",
            at_least=4.0,
        )
    ]


def _prepare(connection: duckdb.DuckDBPyConnection, rows: int) -> None:
    """Create our functions, and the table `inputs` that the SQL of a score reads."""
    for file in shipped_sql():
        if file.is_function:
            connection.execute(file.sql)
    texts, validators = make_outputs(rows)
    connection.register("outputs", pa.table({"raw_output": texts, "validator": validators}))
    connection.execute(
        "CREATE TEMP TABLE inputs AS SELECT 'openclaw' AS suite, 'run' AS run_id, "
        "CAST(row_number() OVER () AS VARCHAR) AS content_id, * FROM outputs"
    )
    connection.unregister("outputs")


def _seconds(
    score: Callable[[duckdb.DuckDBPyConnection], None], connection: duckdb.DuckDBPyConnection
) -> float:
    start = time.perf_counter()
    score(connection)
    return time.perf_counter() - start


def _score(connection: duckdb.DuckDBPyConnection) -> None:
    [verdicts] = [file.sql for file in shipped_sql() if file.name == "openclaw_verdicts"]
    for name, query in {"answer_tools": _TOOLS, "openclaw_verdicts": verdicts}.items():
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {query}")


def _score_plainly(connection: duckdb.DuckDBPyConnection) -> None:
    rows = connection.execute("SELECT content_id, raw_output, validator FROM inputs").fetchall()
    scored = pa.Table.from_pylist(
        [
            {"content_id": row, "tools": plain_tools(text), **plain_verdict(text, validator)}
            for row, text, validator in rows
        ]
    )
    connection.register("scored", scored)
    connection.execute("CREATE OR REPLACE TEMP TABLE plain AS FROM scored")
    connection.unregister("scored")
