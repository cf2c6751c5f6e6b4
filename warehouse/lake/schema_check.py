"""Whether the Parquet files of batches have the columns of their tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from warehouse.core.schemas import BATCH, BY_NAME, duckdb_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from warehouse.lake.batch import Batch
    from warehouse.lake.lake import Lake

_COLUMNS = """
SELECT file_name, list((name, duckdb_type, num_children) ORDER BY column_id)
FROM parquet_schema($paths)
GROUP BY file_name
"""
# Of a file in column order: name, type and number of children, the file itself first.
_Column = tuple[str, str | None, int | None]


@dataclass(frozen=True, slots=True)
class Fitness:
    """What the files of batches have.

    Attributes:
        misfits: a message for each batch with a file that does not fit its table, by the batch's
            name. One such file would keep all batches from being loaded.
        columns: names of the columns of each file, by its path.
    """

    misfits: dict[str, str]
    columns: dict[str, frozenset[str]]


def misfits(
    lake: Lake, folders: Sequence[Batch], connection: duckdb.DuckDBPyConnection
) -> dict[str, str]:
    """Return a message for each batch with a file that does not fit its table: see `Fitness`."""
    return fitness(lake, folders, connection).misfits


def fitness(
    lake: Lake,
    folders: Sequence[Batch],
    connection: duckdb.DuckDBPyConnection,
    *,
    tables: Iterable[str] = tuple(BY_NAME),
) -> Fitness:
    """Return which files of batches fit their tables, and the columns that they have.

    Args:
        lake: the lake.
        folders: the batches.
        connection: any database.
        tables: names of the tables whose files are looked at.
    """
    paths = [path for table in tables for path in lake.files(folders, table)]
    columns = _columns(connection, paths)
    return Fitness(
        {
            Path(path).parent.name: f"{path}: its columns are not those of table {Path(path).stem}"
            for path, found in columns.items()
            if not _fit(Path(path).stem, found)
        },
        {path: frozenset(dict(_top_level(found[1:]))) for path, found in columns.items()},
    )


def _columns(
    connection: duckdb.DuckDBPyConnection, paths: Sequence[str]
) -> dict[str, list[_Column]]:
    """Return the columns of each file; none for a file that cannot be read."""
    try:
        return dict(connection.execute(_COLUMNS, {"paths": paths}).fetchall()) if paths else {}
    except duckdb.Error:
        if len(paths) == 1:
            return {paths[0]: []}
        return {
            path: columns for one in paths for path, columns in _columns(connection, [one]).items()
        }


def _fit(table: str, columns: Sequence[_Column]) -> bool:
    """Return whether these are columns of a table, of its types, and all that it requires."""
    types = {c.name: duckdb_type(c) for c in BY_NAME[table].columns} | {BATCH: "VARCHAR"}
    required = {c.name for c in BY_NAME[table].columns if not c.nullable}
    found = dict(_top_level(columns[1:]))
    return required <= found.keys() and all(
        # DuckDB names the types of lists since 2.0.
        name in types and type_ in (types[name], None)
        for name, type_ in found.items()
    )


def _top_level(columns: Sequence[_Column]) -> Iterator[tuple[str, str | None]]:
    n_inner = 0
    for name, type_, n_children in columns:
        if n_inner == 0:
            yield name, type_
        else:
            n_inner -= 1
        n_inner += n_children or 0
