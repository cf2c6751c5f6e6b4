"""The catalog of a snapshot of tables: a warehouse whose tables are views of the Parquet files."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
from ulid import ULID

from warehouse.core.errors import EvalstoreError, StoreNewer
from warehouse.core.hashing import content_hash
from warehouse.core.paths import cache_folder
from warehouse.engine.connection import open_for_writing
from warehouse.engine.scale.shard import read_files, stored_rows
from warehouse.engine.scale.snapshot import discard_copies
from warehouse.engine.tables.boards import compute_boards
from warehouse.engine.tables.definitions import board_files, create_warehouse, digests
from warehouse.engine.views.sql_files import shipped_sql
from warehouse.lake.locks import WAIT_SECONDS

if TYPE_CHECKING:
    from warehouse.engine.scale.snapshot import Snapshot
    from warehouse.lake.table_location import TableLocation

# Tables of this size are copied into the catalog: a view of Parquet files takes longer to plan.
# Only those without texts, which `forget` would have to find in the caches of other machines.
_COPIED_ROWS = 100_000
_BOOKS = {"lake.batches", "lake.generations", "lake.replaced_batches"}


def make_catalog(place: TableLocation, snapshot: Snapshot) -> tuple[Path, list[str]]:
    """Return the path of a snapshot's catalog, made if it is missing, and the files that it reads.

    Raises:
        StoreNewer: the tables were written by another version of evalstore.
        StoreDamaged: a fetched file is not what was uploaded.
        FileNotFoundError: a file is gone: there is a newer version.
        EvalstoreError: the catalog cannot be written.
    """
    if snapshot.definitions != " ".join(digests()):
        raise StoreNewer(
            f"{place.address}: the tables were written by another version of evalstore "
            f"({snapshot.written_by}); install that one, or write them again with this one: "
            "`evalstore --store STORE sync --to TABLES`"
        )
    paths = {table: read_files(place, files) for table, files in snapshot.by_table().items()}
    every = [path for of_table in paths.values() for path in of_table]
    folder = _folder()
    address = content_hash(place.address)[:12]
    name = content_hash(snapshot.number, every, snapshot.definitions, duckdb.__version__)
    catalog = folder / f"{address}-{name[:20]}.duckdb"
    if not catalog.exists():
        partial = folder / f".{ULID()}.duckdb"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            fill_catalog(partial, snapshot, paths)
            for old in folder.glob(f"{address}-*.duckdb"):
                old.unlink(missing_ok=True)
            partial.replace(catalog)
            discard_copies(place)
        except (OSError, duckdb.Error) as error:
            raise EvalstoreError(
                f"{folder}: the catalog of {place.address} cannot be written ({error}); "
                "EVALSTORE_CACHE names another folder"
            ) from error
        finally:
            partial.unlink(missing_ok=True)
            with suppress(FileNotFoundError):
                partial.with_name(f"{partial.name}.wal").unlink()
    return catalog, every


def fill_catalog(
    path: Path, snapshot: Snapshot, paths: dict[str, list[str]], *, is_copied: bool = False
) -> None:
    """Create a warehouse of Parquet files.

    Args:
        path: a new file.
        snapshot: the snapshot.
        paths: the files of each table.
        is_copied: whether all rows are copied, so that the file can be read without the others.
    """
    create_warehouse(path, WAIT_SECONDS)
    n_rows = {
        table: sum(f["n_rows"] for f in files) for table, files in snapshot.by_table().items()
    }
    scores = (file for file in shipped_sql() if file.is_table and file.family == "shared")
    shared = _BOOKS | {file.qualified for file in scores} | {"scores.shared_calls"}
    with open_for_writing(path, wait_seconds=WAIT_SECONDS, has_functions=False) as connection:
        connection.execute("BEGIN")
        for table, of_table in paths.items():
            rows = stored_rows(connection, table, of_table)
            is_small = n_rows[table] <= _COPIED_ROWS
            if is_copied or (is_small and table in shared):
                connection.execute(f"INSERT INTO {table} BY NAME {rows}")
            else:
                connection.execute(f"DROP TABLE {table}")
                connection.execute(f"CREATE VIEW {table} AS {rows}")
        compute_boards(connection, board_files())
        connection.execute("COMMIT")
        connection.execute("CHECKPOINT")


def _folder() -> Path:
    cache = cache_folder()
    return (Path(tempfile.gettempdir()) / "evalstore" if cache is None else cache) / "catalogs"
