"""What has changed since the last publication: rows by run, and the files that hold them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exports.delta.state import Unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb
    import pyarrow as pa

    from exports.delta.state import PublishedFile, UnitKey
    from exports.delta.tables import PublicColumn, PublicTable

# Bytes of texts and rows in a file: about a quarter of it with zstd.
_FILE_BYTES = 512 * 2**20
_ROW_BYTES = 100
# Of a verdict that is not the log's, in `result_scores`.
_COMPUTED_TEXT = "explanation"


@dataclass(frozen=True, slots=True)
class Changes:
    """What a publication has to do about a table.

    Attributes:
        kept: the files whose rows are as they were.
        written: the units of each new file.
        n_bytes: size of the texts and rows of each new file, before compression.
    """

    kept: dict[str, PublishedFile]
    written: list[list[Unit]]
    n_bytes: list[int]

    @property
    def n_rows(self) -> int:
        """Rows of the new files."""
        return sum(unit.n_rows for units in self.written for unit in units)


@dataclass(frozen=True, slots=True)
class Source:
    """Where the rows of a table come from.

    Attributes:
        relation: a relation or query in parentheses, with all columns as published.
        columns: the columns.
        is_temporary: whether it is a table that `close` removes.
    """

    relation: str
    columns: Sequence[PublicColumn]
    is_temporary: bool

    @property
    def has_runs(self) -> bool:
        """Whether its rows are of runs, and not only of suites."""
        return any(column.name == "run_id" for column in self.columns)

    @property
    def key(self) -> str:
        """SQL of the suite and run of a row."""
        return f"suite, {'run_id' if self.has_runs else 'NULL::VARCHAR AS run_id'}"

    def close(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Free what it takes."""
        if self.is_temporary:
            connection.execute(f"DROP TABLE {self.relation}")


def open_source(
    connection: duckdb.DuckDBPyConnection, table: PublicTable, columns: Sequence[PublicColumn]
) -> Source:
    """Return where the rows of a table are read; what a filter does not speed up is computed now.

    Args:
        connection: a connection to the warehouse, which keeps the rows of some tables.
        table: the table.
        columns: its columns.
    """
    query = f"SELECT {', '.join(column.expression for column in columns)} FROM ({table.sql})"
    if table.is_direct:
        return Source(f"({query})", columns, is_temporary=False)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE public_{table.name} AS {query}")
    return Source(f"temp.public_{table.name}", columns, is_temporary=True)


def source_schema(connection: duckdb.DuckDBPyConnection, source: Source) -> pa.Schema:
    """Return the columns as Arrow has them."""
    return connection.sql(f"FROM {source.relation} LIMIT 0").to_arrow_table().schema


def find_units(
    connection: duckdb.DuckDBPyConnection, source: Source, runs: str
) -> dict[UnitKey, Unit]:
    """Return the units of a table, in order.

    Texts of rows that are read directly are not: `batch`, and the id of such a row, which is a
    hash of its record, tell whether they are the same.

    Args:
        connection: a connection to the warehouse.
        source: the rows.
        runs: what else the rows come from, such as the version of evalstore.
    """
    values = ", ".join(
        f'{"text_hash" if column.kind == "VARCHAR" else "hash"}("{column.name}")'
        for column in source.columns
        if source.is_temporary or not column.is_text or column.name == _COMPUTED_TEXT
    )
    rows = connection.execute(
        f"SELECT {source.key}, count(*), sum(hash($runs, {values})::HUGEINT)::VARCHAR "
        f"FROM {source.relation} GROUP BY ALL ORDER BY ALL",
        {"runs": runs},
    ).fetchall()
    return {(suite, run): Unit((suite, run), n, digest) for suite, run, n, digest in rows}


def plan_changes(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    units: Mapping[UnitKey, Unit],
    published: Mapping[str, PublishedFile],
) -> Changes:
    """Return which files of a table stay, and which are written.

    A file stays if all of its units are as they were. Small ones are written again with the new
    rows of their suite, so that their number grows with the logarithm of the publications.

    Args:
        connection: a connection to the warehouse.
        source: the rows of the table.
        units: its units.
        published: its files so far.
    """
    kept = {
        path: file
        for path, file in published.items()
        if all(units.get(unit.key) == unit for unit in file.units)
    }
    rest = _without(units, kept)
    n_new = Counter[str | None]()
    for unit in rest.values():
        n_new[unit.key[0]] += unit.n_rows
    for path, file in sorted(kept.items(), key=lambda item: item[1].n_rows):
        suite = file.units[0].key[0]
        if 0 < file.n_rows <= n_new[suite]:
            del kept[path]
            rest |= {unit.key: unit for unit in file.units}
            n_new[suite] += file.n_rows
    sizes = _sizes(connection, source, rest)
    groups = _grouped(sorted(rest.values(), key=lambda unit: str(unit.key)), sizes)
    n_bytes = [sum(sizes[unit.key] for unit in group) for group in groups]
    return Changes(kept, groups, n_bytes)


def rows_of(source: Source, units: Sequence[Unit]) -> tuple[str, dict[str, object]]:
    """Return a query of the rows of units of one suite, and its parameters."""
    suite = units[0].key[0]
    runs = [run for _, run in (unit.key for unit in units)]
    condition = "suite IS NOT DISTINCT FROM $suite"
    parameters: dict[str, object] = {"suite": suite}
    if source.has_runs:
        of_none = " OR run_id IS NULL" if None in runs else ""
        condition += f" AND (list_contains($runs, run_id){of_none})"
        parameters["runs"] = [run for run in runs if run is not None]
    return f"FROM {source.relation} WHERE {condition}", parameters


def _without(
    units: Mapping[UnitKey, Unit], kept: Mapping[str, PublishedFile]
) -> dict[UnitKey, Unit]:
    keys = {unit.key for file in kept.values() for unit in file.units}
    return {key: unit for key, unit in units.items() if key not in keys}


def _sizes(
    connection: duckdb.DuckDBPyConnection, source: Source, units: Mapping[UnitKey, Unit]
) -> dict[UnitKey, int]:
    """Return the bytes of units before compression; of few rows, whatever their texts, a guess."""
    sizes = {key: unit.n_rows * _ROW_BYTES for key, unit in units.items()}
    texts = [f'coalesce(strlen("{c.name}"::VARCHAR), 0)' for c in source.columns if c.is_text]
    if not texts or not units:
        return sizes
    for suite in {suite for suite, _ in units}:
        of_suite = [unit for unit in units.values() if unit.key[0] == suite]
        query, parameters = rows_of(source, of_suite)
        rows = connection.execute(
            f"SELECT {source.key}, sum({' + '.join(texts)})::BIGINT {query} GROUP BY ALL",
            parameters,
        ).fetchall()
        for key_suite, run, n_bytes in rows:
            sizes[key_suite, run] += n_bytes
    return sizes


def _grouped(units: Sequence[Unit], sizes: Mapping[UnitKey, int]) -> list[list[Unit]]:
    groups: list[list[Unit]] = []
    room = 0
    for unit in units:
        if not groups or groups[-1][0].key[0] != unit.key[0] or sizes[unit.key] > room:
            groups.append([])
            room = _FILE_BYTES
        groups[-1].append(unit)
        room -= sizes[unit.key]
    return groups
