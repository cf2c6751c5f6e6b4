"""The plan of the shards: which runs are computed together, from the descriptions of batches only.

A run is in one shard, with all of its batches. Large runs have a shard each, small ones share
one with their neighbours in the lake, so that a merged batch is read by few shards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.core.schemas import TABLES
from warehouse.engine.tables.insertion import insert_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import duckdb

    from warehouse.lake.batch import Batch, RunKey

# A shard of this size takes a worker about half a gigabyte and a few seconds.
_ROWS, _BYTES = 250_000, 256 * 2**20
# A run of this part of a shard has one of its own; kept shards of less may be put together again.
_LARGE = 0.5
_MOST_SMALL = 16
_AT_ONCE, _SHARDS_AT_ONCE = 10_000, 2_000

_OF_RUN = frozenset(table.name for table in TABLES if table.of_run)

_TABLES = """
-- A lake may have a million batches: the folder of one that was not merged, which is the batch, is
-- NULL, and hashes are numbers.
CREATE TEMP TABLE parts (
    batch VARCHAR, folder VARCHAR, rewritten_by VARCHAR, suite VARCHAR, run_id VARCHAR,
    generation VARCHAR, n_rows DOUBLE, n_bytes DOUBLE
);
CREATE TEMP TABLE replaced (batch VARCHAR);
CREATE TEMP TABLE former (suite VARCHAR, run_id VARCHAR, content UUID, shard VARCHAR);
"""
# What a run is made from; the folders that hold its rows may change without changing it.
_RUNS = """
DELETE FROM parts WHERE coalesce(folder, batch) IN (FROM replaced);
CREATE TEMP TABLE runs AS
    SELECT
        suite,
        run_id,
        md5(string_agg(concat_ws(' ', batch, generation, coalesce(rewritten_by, '')), chr(10)
            ORDER BY batch, generation, rewritten_by))::UUID AS content,
        min(coalesce(folder, batch)) AS folder,
        greatest(sum(n_rows) / $most_rows, sum(n_bytes) / $most_bytes) AS cost
    FROM parts
    GROUP BY suite, run_id
"""
# Shards whose runs are all as they were, but for small ones where there are many.
_KEPT = """
CREATE TEMP TABLE kept AS
    WITH shards AS (
        SELECT former.shard, bool_and(runs.content IS NOT DISTINCT FROM former.content) AS is_same,
            sum(runs.cost) AS cost
        FROM former LEFT JOIN runs USING (suite, run_id)
        GROUP BY former.shard
    ),
    same AS (
        SELECT shard, count(*) FILTER (cost < $large) OVER () AS n_small, cost < $large AS is_small
        FROM shards WHERE is_same
    )
    SELECT shard FROM same WHERE NOT is_small OR n_small <= $most_small
"""
_SHARDS = """
CREATE TEMP TABLE planned AS
    WITH kept_runs AS (SELECT suite, run_id, former.shard FROM former SEMI JOIN kept USING (shard)),
    open_runs AS (
        SELECT *, cost >= $large AS is_large
        FROM runs ANTI JOIN kept_runs USING (suite, run_id)
    ),
    placed AS (
        SELECT
            *,
            sum(CASE WHEN is_large THEN 0 ELSE cost END)
                OVER (ORDER BY folder, suite, run_id ROWS UNBOUNDED PRECEDING)
                - CASE WHEN is_large THEN 0 ELSE cost END AS before
        FROM open_runs
    ),
    numbered AS (
        SELECT
            suite, run_id, content,
            dense_rank() OVER (ORDER BY
                CASE WHEN is_large THEN -1 ELSE floor(before / $size + 1e-9) END,
                CASE WHEN is_large THEN (folder, suite, run_id) END
            ) AS number
        FROM placed
    )
    SELECT suite, run_id, runs.content, kept_runs.shard, true AS is_kept
    FROM kept_runs JOIN runs USING (suite, run_id)
    UNION ALL
    SELECT suite, run_id, content, printf('%s-%05d', $name, number), false FROM numbered
"""
_OF_SHARDS = """
WITH wanted AS (
    SELECT suite, run_id, shard
    FROM planned SEMI JOIN (SELECT unnest($names) AS shard) USING (shard)
),
folders AS (
    SELECT shard, list_sort(list(DISTINCT coalesce(folder, batch))) AS folders
    FROM parts JOIN wanted USING (suite, run_id)
    GROUP BY shard
)
SELECT
    shard,
    list(suite ORDER BY suite, run_id),
    list(run_id ORDER BY suite, run_id),
    any_value(folders)
FROM wanted JOIN folders USING (shard)
GROUP BY shard
ORDER BY shard
"""


@dataclass(frozen=True, slots=True)
class Shard:
    """Runs that are computed together.

    Attributes:
        name: its name, of this plan only.
        runs: the runs.
        folders: the folders of the lake that have their batches.
    """

    name: str
    runs: tuple[RunKey, ...]
    folders: tuple[str, ...]


class Planner:
    """Plans shards of the batches that it is given, in a database of its own.

    Args:
        connection: an empty database in memory.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._parts: list[tuple[object, ...]] = []
        connection.execute(_TABLES)

    def add(self, folder: Batch, n_bytes: int) -> None:
        """Add a folder of the lake, whose files have this size; replaced ones may come too."""
        n_rows = [sum(f.rows for t, f in p.files.items() if t in _OF_RUN) for p in folder.contents]
        bytes_per_row = n_bytes / max(sum(n_rows), 1)
        for part, n in zip(folder.contents, n_rows, strict=True):
            for each in part.generations:
                rows = n / len(part.generations)
                of = None if folder.name == part.name else folder.name
                names = (part.name, of, part.rewritten_by)
                run = (each.suite, each.run_id, each.generation)
                self._parts.append((*names, *run, rows, rows * bytes_per_row))
        if folder.replaces:
            insert_rows(self._connection, "replaced", [(name,) for name in folder.replaces])
        if len(self._parts) >= _AT_ONCE:
            self._flush()

    def plan(self, name: str, former: str | None = None, n_shards: int | None = None) -> None:
        """Assign each run to a shard.

        Args:
            name: the start of the names of new shards.
            former: path of the plan of an earlier version (Parquet); shards with the same runs, of
                the same content, are kept.
            n_shards: number of shards, where runs are small enough; by default, as many as needed.
        """
        self._flush()
        limits = {"most_rows": _ROWS, "most_bytes": _BYTES}
        self._connection.execute(_RUNS, limits)
        if former is not None:
            query = "INSERT INTO former BY NAME FROM read_parquet($path)"
            self._connection.execute(query, {"path": former})
        small = {"large": _LARGE, "most_small": _MOST_SMALL}
        self._connection.execute(_KEPT, small)
        size, large = 1.0, _LARGE
        if n_shards is not None:
            [(total,)] = self._connection.execute("SELECT sum(cost) FROM runs").fetchall()
            size = large = max((total or 0.0) / n_shards, 1e-9)
        self._connection.execute(_SHARDS, {"size": size, "large": large, "name": name})

    def kept(self) -> set[str]:
        """Return the names of the shards of the earlier version that are kept."""
        return {shard for (shard,) in self._connection.execute("FROM kept").fetchall()}

    def is_any_gone(self) -> bool:
        """Return whether the earlier version has runs that are not in the lake any more."""
        query = "SELECT true FROM former ANTI JOIN runs USING (suite, run_id) LIMIT 1"
        return bool(self._connection.execute(query).fetchall())

    def shards(self, names: Iterable[str]) -> Iterator[Shard]:
        """Yield the shards with these names."""
        every = sorted(names)
        for start in range(0, len(every), _SHARDS_AT_ONCE):
            some = every[start : start + _SHARDS_AT_ONCE]
            cursor = self._connection.execute(_OF_SHARDS, {"names": some})
            while rows := cursor.fetchmany(100):
                for shard, suites, run_ids, folders in rows:
                    yield Shard(shard, tuple(zip(suites, run_ids, strict=True)), tuple(folders))

    def suites(self) -> dict[str, list[str]]:
        """Return the suites of each shard, by its name."""
        query = "SELECT shard, list(DISTINCT suite ORDER BY suite) FROM planned GROUP BY shard"
        return dict(self._connection.execute(query).fetchall())

    def n_rows(self) -> float:
        """Return about how many rows the runs have, of all tables."""
        [(n,)] = self._connection.execute("SELECT coalesce(sum(n_rows), 0) FROM parts").fetchall()
        return float(n)

    def write(self, path: Path) -> Path:
        """Write the plan as Parquet: suite, run_id, content (hash of the run's parts), shard."""
        rows = """
            SELECT suite, run_id, replace(content::VARCHAR, '-', '') AS content, shard
            FROM planned ORDER BY shard, suite, run_id
        """
        self._connection.execute(f"COPY ({rows}) TO '{quoted(path)}' (FORMAT parquet)")
        return path

    def _flush(self) -> None:
        if self._parts:
            insert_rows(self._connection, "parts", self._parts)
            self._parts = []


def quoted(path: Path) -> str:
    """Return a path for a statement of DuckDB that takes no parameters, such as COPY."""
    return str(path).replace("'", "''")
