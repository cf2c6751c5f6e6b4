"""What a warehouse was built from, compared with the lake and this version of evalstore."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.engine.tables import definitions, loading

if TYPE_CHECKING:
    from collections.abc import Iterable

    import duckdb

    from warehouse.lake.lake import Lake


@dataclass(frozen=True, slots=True)
class KnownFolders:
    """What a warehouse knows of the folders of the lake.

    Attributes:
        loaded: number of original batches of each folder that it has loaded.
        replaced: the other folders that it knows to be replaced.
    """

    loaded: dict[str, int]
    replaced: frozenset[str]


@dataclass(frozen=True, slots=True)
class State:
    """What a warehouse was built from.

    Attributes:
        schema: hash of what its tables are made from.
        definitions: hash of the SQL files and scoring functions.
        batches: names of the loaded folders of the lake.
    """

    schema: str
    definitions: str
    batches: frozenset[str]


def is_current(connection: duckdb.DuckDBPyConnection, lake: Lake) -> bool:
    """Return whether an open warehouse has all batches of the lake and this version's views.

    Raises:
        duckdb.Error: the file is not a warehouse of evalstore.
    """
    state = read_state(connection)
    return state == target_state(connection, lake, state)


def is_of_this_version(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether an open warehouse has the tables, views and scores of this version.

    Raises:
        duckdb.Error: the file is not a warehouse of evalstore.
    """
    state = read_state(connection)
    return (state.schema, state.definitions) == definitions.digests()


def describe(connection: duckdb.DuckDBPyConnection) -> tuple[str, frozenset[str]]:
    """Return which version built an open warehouse, in words, and its loaded folders.

    Raises:
        duckdb.Error: the file is not a warehouse of evalstore.
    """
    other = "built by another version of evalstore; the next command that reads updates it"
    words = "built by this version" if is_of_this_version(connection) else other
    return words, read_state(connection).batches


def missing_folders(connection: duckdb.DuckDBPyConnection, folders: Iterable[str]) -> set[str]:
    """Return those folders of the lake that an open warehouse should have loaded but has not."""
    new = set(folders) - read_state(connection).batches
    return new - _replaced(connection, new)


def known_folders(connection: duckdb.DuckDBPyConnection, lake: Lake) -> KnownFolders:
    """Return what an open warehouse knows of the folders that the lake has at this moment."""
    names = lake.batch_names()
    rows = connection.execute("SELECT folder, count(*) FROM lake.batches GROUP BY ALL").fetchall()
    loaded = {folder: n_batches for folder, n_batches in rows if folder in names}
    return KnownFolders(loaded, frozenset(_replaced(connection, names - loaded.keys())))


def read_state(connection: duckdb.DuckDBPyConnection) -> State:
    """Return what an open warehouse was built from.

    Raises:
        duckdb.Error: the file is not a warehouse of evalstore.
    """
    # One query: each costs every command a few milliseconds.
    rows = connection.execute(
        "SELECT key, value FROM lake.meta UNION ALL SELECT DISTINCT NULL, folder FROM lake.batches"
    ).fetchall()
    meta = {key: value for key, value in rows if key is not None}
    folders = frozenset(value for key, value in rows if key is None)
    return State(meta.get("schema", ""), meta.get("definitions", ""), folders)


def target_state(connection: duckdb.DuckDBPyConnection, lake: Lake, loaded: State) -> State:
    """Return what this version would build a warehouse from.

    Args:
        connection: the warehouse, which knows the batches that others replaced.
        lake: the lake.
        loaded: the state of the warehouse; none of its folders is replaced.
    """
    names = lake.batch_names()
    new = names - loaded.batches
    return State(
        loading.tables_digest(),
        definitions.digest(),
        frozenset(names - _replaced(connection, new)),
    )


def _replaced(connection: duckdb.DuckDBPyConnection, folders: Iterable[str]) -> set[str]:
    """Return those of some folders that others replaced; there may be a history of them."""
    names = sorted(folders)
    if not names:
        return set()
    query = "FROM lake.replaced_batches WHERE list_contains($names, batch)"
    return {name for (name,) in connection.execute(query, {"names": names}).fetchall()}
