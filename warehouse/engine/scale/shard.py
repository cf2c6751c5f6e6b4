"""The work of one shard: its runs, loaded and scored in a warehouse of its own, as Parquet files.

Plain functions of plain values, for any engine: the tasks and replies are JSON. Each attempt
writes files of new names, so that a repeated task leaves nothing that counts twice; the files that
the driver names in a version count.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ulid import ULID

from warehouse.core.errors import BadInput, EvalstoreError, StoreDamaged
from warehouse.core.hashing import file_sha256
from warehouse.core.schemas import TABLES
from warehouse.engine.connection import open_for_writing
from warehouse.engine.scale.plan import quoted
from warehouse.engine.scale.snapshot import File, discard_copies, file_key
from warehouse.engine.tables import loading
from warehouse.engine.tables.definitions import create_warehouse, digests
from warehouse.engine.tables.derivation import derive
from warehouse.engine.tables.shared_calls import SHARED_COLUMNS, find_all_shared_calls
from warehouse.engine.views.sql_files import shipped_sql
from warehouse.lake.lake import Lake
from warehouse.lake.locks import WAIT_SECONDS
from warehouse.lake.remote.objects import open_objects
from warehouse.lake.schema_check import fitness
from warehouse.lake.table_location import open_location

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import duckdb

    from warehouse.lake.batch import Batch
    from warehouse.lake.table_location import TableLocation

# The rows of no run that scores are computed from.
REFERENCE = (
    "lake.tasks",
    "lake.models",
    "lake.annotations",
    "lake.batches",
    "scores.model_files",
)
DUPLICATES = ("scores.shared_calls", "scores.duplicate_calls")
_OF_RUN = frozenset(table.name for table in TABLES if table.of_run)
_ROW_GROUP = 50_000
# Types that Delta lacks, or that not every engine reads. A decimal of 20 digits would hold an
# unsigned number, too, and take fifty times as long to read.
_TO_DELTA = {
    "TIMESTAMP": "{} AT TIME ZONE 'UTC'",
    "UBIGINT": "({}::HUGEINT - 9223372036854775808)::BIGINT",
}
_FROM_DELTA = {
    "TIMESTAMP": "{} AT TIME ZONE 'UTC'",
    "UBIGINT": "({}::HUGEINT + 9223372036854775808)::UBIGINT",
}


def shard_tables() -> tuple[str, ...]:
    """Return the tables whose rows shards write: of a run each."""
    # Small tables that depend on more than a run are left to the driver.
    scores = (
        file.qualified
        for file in shipped_sql()
        if file.is_table and not file.is_board and (file.is_by_run or not file.is_refreshed)
    )
    lake = (f"lake.{table.name}" for table in TABLES if table.of_run)
    return (*lake, *scores)


def compute_duplicates(task: Mapping[str, Any]) -> dict[str, Any]:
    """Find the calls that several runs hold, of one part of all calls' hashes.

    Args:
        task: `to`, `definitions`, `threads`, `part` and `n_parts`; `calls`, `run_headers` and
            `model_files`: files.

    Returns:
        `files` of `scores.shared_calls` and `scores.duplicate_calls`.

    Raises:
        EvalstoreError: this process has another version of evalstore than the driver.
    """
    _check_version(task)
    to = open_location(task["to"])
    with suppress(BadInput):  # of the sync before, on this machine; workers may lack deltalake
        discard_copies(to)
    with (
        tempfile.TemporaryDirectory(prefix="evalstore-") as scratch,
        new_warehouse(Path(scratch), task["threads"]) as connection,
    ):
        connection.execute("BEGIN")
        _read_calls(connection, read_files(to, task["calls"]), task["n_parts"], task["part"])
        find_all_shared_calls(connection)
        for name in ("run_headers", "model_files"):
            if task[name]:
                rows = stored_rows(connection, f"scores.{name}", read_files(to, task[name]))
                only = "SEMI JOIN scores.shared_calls USING (suite, run_id)"
                connection.execute(
                    f"INSERT INTO scores.{name} BY NAME FROM ({rows}) "
                    + (only if name == "run_headers" else "")
                )
        [found] = [file for file in shipped_sql() if file.qualified == "scores.duplicate_calls"]
        connection.execute(f"INSERT INTO {found.qualified} {found.sql}")
        connection.execute("COMMIT")
        return {"files": write_tables(connection, to, DUPLICATES, Path(scratch))}


def compute_shard(task: Mapping[str, Any]) -> dict[str, Any]:
    """Load and score the runs of a shard, and write their rows.

    Args:
        task: `lake` (folder or address), `to` (folder or address of the tables), `definitions`,
            `runs` (pairs of suite and run), `folders`, `reference` and `duplicates` (files),
            `n_parts` (of the calls) and `threads`.

    Returns:
        `files`: of the tables, and of the calls' hashes, one per part.

    Raises:
        StoreDamaged: a file of the lake is not what was written.
        EvalstoreError: this process has another version of evalstore than the driver.
    """
    _check_version(task)
    to = open_location(task["to"])
    runs = [(suite, run_id) for suite, run_id in task["runs"]]
    with (
        tempfile.TemporaryDirectory(prefix="evalstore-") as scratch,
        _lake(task["lake"], task["folders"], Path(scratch)) as lake,
        new_warehouse(Path(scratch), task["threads"]) as connection,
    ):
        folders = [lake.read(name) for name in task["folders"]]
        columns = checked_columns(lake, folders, connection, _OF_RUN)
        connection.execute("BEGIN")
        loading.load(connection, lake, folders, columns, runs=runs, has_content=False)
        _load_reference(connection, to, task["reference"], {suite for suite, _ in runs})
        duplicates = _duplicates(connection, to, task["duplicates"])
        derive(connection, emptied=set(), changed=set(), duplicates=duplicates)
        connection.execute("COMMIT")
        files = write_tables(connection, to, shard_tables(), Path(scratch))
        files += _write_calls(connection, to, task["n_parts"], Path(scratch))
    return {"files": files}


@contextmanager
def new_warehouse(scratch: Path, threads: int) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield an empty warehouse in a folder."""
    path = scratch / "warehouse.duckdb"
    create_warehouse(path, WAIT_SECONDS)
    with open_for_writing(path, wait_seconds=WAIT_SECONDS) as connection:
        connection.execute(f"SET threads = {threads:d}")
        connection.execute("SET TimeZone = 'UTC'")  # as Delta's schemas have it
        connection.execute(f"SET temp_directory = '{quoted(scratch / 'spilled')}'")
        yield connection


def checked_columns(
    lake: Lake,
    folders: Sequence[Batch],
    connection: duckdb.DuckDBPyConnection,
    tables: frozenset[str],
) -> dict[str, frozenset[str]]:
    """Check the files of some tables in batches; return the columns of each file, by its path.

    Raises:
        StoreDamaged: a file is not what was written, or does not fit its table.
    """
    for folder in folders:
        lake.verify(folder, tables=tables)
    found = fitness(lake, folders, connection, tables=sorted(tables))
    for problem in found.misfits.values():
        raise StoreDamaged(problem)
    return found.columns


def read_files(to: TableLocation, files: Sequence[File]) -> list[str]:
    """Return the paths of files of the tables, fetched where that is necessary."""
    return [str(to.local(file_key(file), file["sha256"])) for file in files]


def rows_to_store(
    connection: duckdb.DuckDBPyConnection, table: str, columns: str = "COLUMNS(*)"
) -> str:
    """Return a query of the rows of a table, or some columns of it, in types that Delta has."""
    return f"SELECT {_converted(connection, table, columns, _TO_DELTA)} FROM {table}"  # noqa: S608


def stored_rows(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    paths: Sequence[str],
    columns: str = "COLUMNS(*)",
) -> str:
    """Return a query of the rows that files of a table have, in the types of the table."""
    files = ", ".join(f"'{quoted(Path(path))}'" for path in paths)
    return (
        f"SELECT {_converted(connection, table, columns, _FROM_DELTA)} "  # noqa: S608 - our own
        f"FROM read_parquet([{files}], hive_partitioning = false)"
    )


def _converted(
    connection: duckdb.DuckDBPyConnection, table: str, columns: str, how: Mapping[str, str]
) -> str:
    rows = connection.execute(f"DESCRIBE SELECT {columns} FROM {table}").fetchall()  # noqa: S608
    return ", ".join(
        how.get(kind, "{}").format(f'"{name}"') + f' AS "{name}"' for name, kind, *_ in rows
    )


def write_tables(
    connection: duckdb.DuckDBPyConnection, to: TableLocation, tables: Sequence[str], scratch: Path
) -> list[File]:
    """Write the rows of tables that have any as Parquet files; return the files."""
    files = []
    for table in tables:
        columns = {name for name, *_ in connection.execute(f"DESCRIBE {table}").fetchall()}
        order = [name for name in ("suite", "run_id", "seq") if name in columns]
        query = rows_to_store(connection, table)
        query += f" ORDER BY {', '.join(order)}" if "run_id" in order else ""
        if file := write_file(connection, to, table, query, scratch=scratch):
            files.append(file)
    return files


def write_file(
    connection: duckdb.DuckDBPyConnection,
    to: TableLocation,
    table: str,
    query: str,
    *,
    scratch: Path,
) -> File | None:
    """Write the rows of a query as a file of a new name; None if there are none."""
    path = scratch / "written.parquet"
    options = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {_ROW_GROUP}"
    written = connection.execute(f"COPY ({query}) TO '{quoted(path)}' ({options})").fetchall()
    file = upload_file(to, path, table_folder(table)) if written[0][0] else None
    path.unlink()
    return file


def table_folder(table: str) -> str:
    """Return the name of the folder of a table."""
    return table.removeprefix("lake.")


def upload_file(to: TableLocation, path: Path, table: str) -> File:
    """Copy a Parquet file of a new name to the folder of a table."""
    import pyarrow.parquet as pq

    file = {
        "table_name": table,
        "path": f"{ULID()}.parquet",
        "n_rows": pq.read_metadata(path).num_rows,
        "n_bytes": path.stat().st_size,
        "sha256": file_sha256(path),
    }
    to.upload(path, file_key(file))
    return file


def _check_version(task: Mapping[str, Any]) -> None:
    if task["definitions"] != list(digests()):
        raise EvalstoreError(
            "a worker has another version of evalstore than the command: install the same one"
        )


def _load_reference(
    connection: duckdb.DuckDBPyConnection,
    to: TableLocation,
    reference: Sequence[File],
    suites: set[str],
) -> None:
    """Load the rows of no run that scores of some suites depend on."""
    of_suites = "WHERE list_contains($suites, suite)"
    # What scores of annotations need of their batches.
    of_annotations = """
        WHERE batch IN (SELECT batch FROM lake.annotations)
            AND batch NOT IN (SELECT batch FROM lake.batches)
    """
    filters = {"lake.models": "", "scores.model_files": "", "lake.batches": of_annotations}
    for table in REFERENCE:
        files = [file for file in reference if file["table_name"] == table_folder(table)]
        if files:
            where = filters.get(table, of_suites)
            values = {"suites": sorted(suites)} if where == of_suites else {}
            rows = stored_rows(connection, table, read_files(to, files))
            connection.execute(f"INSERT INTO {table} BY NAME FROM ({rows}) {where}", values)


def _duplicates(
    connection: duckdb.DuckDBPyConnection, to: TableLocation, files: Sequence[File]
) -> str:
    """Return a query for the duplicate calls among the runs of this shard."""
    if not files:
        return "FROM scores.duplicate_calls LIMIT 0"
    rows = stored_rows(connection, "scores.duplicate_calls", read_files(to, files))
    return f"FROM ({rows}) SEMI JOIN changed_runs USING (suite, run_id)"


def _write_calls(
    connection: duckdb.DuckDBPyConnection, to: TableLocation, n_parts: int, scratch: Path
) -> list[File]:
    """Write what finds the same call in other runs, in parts by its hash."""
    rows = rows_to_store(connection, "lake.results", SHARED_COLUMNS)
    files = []
    for part in range(n_parts):
        query = f"{rows} WHERE call_hash % {n_parts:d} = {part:d}"
        if file := write_file(connection, to, "calls", query, scratch=scratch):
            files.append({**file, "part": part, "n_parts": n_parts})
    return files


def _read_calls(
    connection: duckdb.DuckDBPyConnection, paths: Sequence[str], n_parts: int, part: int
) -> None:
    """Let the results be a part of the calls: read from their files, not loaded."""
    if paths:
        rows = stored_rows(connection, "lake.results", paths, SHARED_COLUMNS)
        connection.execute("DROP TABLE lake.results")
        connection.execute(
            f"CREATE VIEW lake.results AS FROM ({rows}) WHERE call_hash % {n_parts:d} = {part:d}"
        )


@contextmanager
def _lake(text: str, folders: Sequence[str], scratch: Path) -> Iterator[Lake]:
    """Yield the lake, or a copy of some of its folders from an object store."""
    if "://" not in text:
        yield Lake(Path(text))
        return
    objects = open_objects(text)
    for name in folders:
        folder = scratch / "lake" / name
        folder.mkdir(parents=True)
        try:
            objects.download(f"batches/{name}.json", folder / "batch.json")
        except FileNotFoundError:
            (folder / "batch.json").unlink(missing_ok=True)
            objects.download(f"merges/{name}.json", folder / "batch.json")
        batch: Batch = Lake(scratch).read(name)
        for table in batch.files:
            path = folder / f"{table}.parquet"
            objects.download(f"lake/{name}/{path.name}", path)
    yield Lake(scratch)
