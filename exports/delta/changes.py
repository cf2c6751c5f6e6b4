"""What has changed since the last publication: rows by run, and the files that hold them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from exports.delta.state import Unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb
    import pyarrow as pa

    from exports.delta.state import PublishedFile, UnitKey
    from exports.delta.tables import PublicColumn, PublicTable

# Bytes of texts and rows in a file: about a quarter of it with zstd. Of a run that is replaced or
# forgotten, a whole file is written again: figures of both sizes are in docs/publishing.md.
_FILE_BYTES = 32 * 2**20
_ROW_BYTES = 100
# Of a verdict that is not the log's, in `result_scores`.
_COMPUTED_TEXT = "explanation"


@dataclass(frozen=True, slots=True)
class Changes:
    """What a publication has to do about a table.

    Attributes:
        kept: the files whose rows are as they were.
        written: the units of each new file.
    """

    kept: dict[str, PublishedFile]
    written: list[list[Unit]]

    @property
    def n_rows(self) -> int:
        """Rows of the new files."""
        return sum(unit.n_rows for units in self.written for unit in units)

    @property
    def n_bytes(self) -> int:
        """Size of their texts and rows, before compression."""
        return sum(unit.n_bytes for units in self.written for unit in units)


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

    A file stays if all of its units are as they were. One of less than half a file is written again
    with as many new bytes of its suite: so a row is written as often as its file doubles, and the
    number of small files grows with the logarithm of the publications.

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
    keys = {unit.key for file in kept.values() for unit in file.units}
    new = _sized(connection, source, [unit for key, unit in units.items() if key not in keys])
    n_new = Counter[str | None]()
    for unit in new:
        n_new[unit.key[0]] += unit.n_bytes
    for path, file in sorted(kept.items(), key=lambda item: item[1].n_unpacked):
        suite = file.units[0].key[0]
        if file.n_unpacked <= min(n_new[suite], _FILE_BYTES // 2):
            del kept[path]
            new += file.units
            n_new[suite] += file.n_unpacked
    return Changes(kept, _grouped(sorted(new, key=lambda unit: str(unit.key))))


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


def _sized(
    connection: duckdb.DuckDBPyConnection, source: Source, units: Sequence[Unit]
) -> list[Unit]:
    """Return units with their sizes; of few rows, whatever their texts, a guess."""
    sizes = Counter({unit.key: unit.n_rows * _ROW_BYTES for unit in units})
    texts = [f'coalesce(strlen("{c.name}"::VARCHAR), 0)' for c in source.columns if c.is_text]
    for suite in {unit.key[0] for unit in units} if texts else ():
        query, parameters = rows_of(source, [unit for unit in units if unit.key[0] == suite])
        rows = connection.execute(
            f"SELECT {source.key}, sum({' + '.join(texts)})::BIGINT {query} GROUP BY ALL",
            parameters,
        ).fetchall()
        sizes.update({(key_suite, run): n_bytes for key_suite, run, n_bytes in rows})
    return [replace(unit, n_bytes=sizes[unit.key]) for unit in units]


def _grouped(units: Sequence[Unit]) -> list[list[Unit]]:
    groups: list[list[Unit]] = []
    room = 0
    for unit in units:
        if not groups or groups[-1][0].key[0] != unit.key[0] or unit.n_bytes > room:
            groups.append([])
            room = _FILE_BYTES
        groups[-1].append(unit)
        room -= unit.n_bytes
    return groups
