"""The rows of no run, which the driver of a sync writes: tables, columns and hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.core.hashing import content_hash
from warehouse.core.schemas import TABLES
from warehouse.engine.scale.plan import quoted
from warehouse.engine.scale.shard import DUPLICATES, rows_to_store, shard_tables, table_folder
from warehouse.engine.tables.shared_calls import SHARED_COLUMNS
from warehouse.engine.views.sql_files import shipped_sql

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import duckdb
    import pyarrow as pa


def reference_tables() -> tuple[str, ...]:
    """Return the tables whose rows the driver writes, of the whole lake."""
    lake = (f"lake.{table.name}" for table in TABLES if not table.of_run)
    books = ("lake.batches", "lake.replaced_batches", "lake.generations")
    scores = (
        file.qualified
        for file in shipped_sql()
        if file.is_table and not file.is_board and file.qualified != "scores.duplicate_calls"
    )
    return (*lake, *books, *scores)


def table_schemas(connection: duckdb.DuckDBPyConnection, plan: Path) -> dict[str, pa.Schema]:
    """Return the columns of each table, in types that Delta has."""
    tables = dict.fromkeys((*reference_tables(), *shard_tables(), *DUPLICATES))
    rows = {table_folder(table): rows_to_store(connection, table) for table in tables}
    rows["calls"] = rows_to_store(connection, "lake.results", SHARED_COLUMNS)
    rows["plan"] = f"FROM '{quoted(plan)}'"
    return {
        name: connection.sql(f"{query} LIMIT 0").to_arrow_table().schema
        for name, query in rows.items()
    }


def rows_digest(connection: duckdb.DuckDBPyConnection, query: str) -> str:
    """Return a hash of the rows of a query that does not depend on their order."""
    # A sum, not XOR: of equal rows, all count.
    [(n, digest)] = connection.execute(
        f"SELECT count(*), sum(hash(rows)::HUGEINT) FROM ({query}) AS rows"  # noqa: S608 - our own
    ).fetchall()
    return f"{n} {digest}"


def suite_digests(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return hashes of the rows of no run that the scores of each suite depend on.

    Under ``, that of the rows that the scores of every suite depend on: the model files.
    """
    found = {"": rows_digest(connection, "FROM lake.models")}
    own = connection.execute("SELECT DISTINCT suite FROM lake.tasks WHERE scorer IS NOT NULL")
    suites = {suite for (suite,) in own.fetchall() if suite is not None}
    suites |= {file.suite for file in shipped_sql() if file.suite is not None}
    for suite in sorted(suites):
        text = suite.replace("'", "''")
        found[suite] = " ".join(
            rows_digest(connection, f"FROM lake.{table} WHERE suite = '{text}'")
            for table in ("tasks", "annotations")
        )
    return found


def reference_digest(suites: Sequence[str], digests: Mapping[str, str]) -> str:
    """Return a hash of the rows of no run that the scores of some suites depend on."""
    return content_hash([digests.get(suite, "") for suite in ("", *suites)])
