"""Connections to the warehouse file, with our functions registered; the only place to open it.

DuckDB allows one writer or many readers, so the file is never kept open: a connection lives for one
query or one sync, and its functions are removed before it is closed.
"""

from __future__ import annotations

import os
import re
import resource
import time
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from inspect import Parameter, Signature
from threading import Lock
from typing import TYPE_CHECKING

import duckdb
from duckdb.func import FunctionNullHandling, PythonUDFType

from warehouse.core.errors import EvalstoreError, StoreBusy
from warehouse.core.files import NotRegularError, check_regular
from warehouse.core.formats.values import arrow_array
from warehouse.core.in_memory import open_in_memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from warehouse.engine.scoring.registry import Udf

# A file format that every DuckDB client since 1.2 can open.
_STORAGE = "v1.2.0"
_PAUSE_SECONDS = 0.05
_MEGABYTE = 10**6
# An optimizer that takes a third of the time of planning our views, and makes none of them faster.
_NOT_WORTH_ITS_TIME = "projection_pullup"
# A checkpoint takes longer than a sync of a small run, and replaying the log of one a few
# milliseconds at each open: changes stay in the log file until it is larger than this.
_LOG_BYTES = 128 * 2**10
# Version 1 computes all rows of a query before it returns the first of them.
RETURNS_FIRST_ROWS_EARLY = not duckdb.__version__.startswith("1.")
# Errors when another program, or a reader of this one, holds the file.
_HELD = ("lock on file", "different configuration")
_HOLDER = re.compile(r"\(PID (\d+)\)")


@contextmanager
def open_for_writing(
    path: Path, *, wait_seconds: float, has_functions: bool = True
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the warehouse exclusively, with all scoring functions unless they are not needed.

    Committed changes may be in DuckDB's log file next to it (`log_file`) until there are more.

    Raises:
        StoreBusy: another program still holds the file after `wait_seconds`.
        duckdb.Error: the file is damaged.
    """
    _check_files(path)
    connection = _connect(path, wait_seconds, read_only=False)
    registered: list[str] = []
    try:
        for udf in _all_udfs() if has_functions else ():
            _register(connection, udf)
            registered.append(udf.name)
        yield connection
    finally:
        _keep_small_log(connection, log_file(path))
        _close(connection, registered)


def limit_memory(connection: duckdb.DuckDBPyConnection, most_bytes: int) -> None:
    """Lower DuckDB's limit of memory; beyond it, temporary files are written."""
    query = "SELECT parse_formatted_bytes(current_setting('memory_limit'))"
    [(limit,)] = connection.execute(query).fetchall()
    connection.execute(f"SET memory_limit = '{min(limit, most_bytes)} bytes'")


def log_file(path: Path) -> Path:
    """Return the path of a warehouse's log of committed changes, which need not exist."""
    return path.with_name(f"{path.name}.wal")


def checkpoint(path: Path, *, wait_seconds: float) -> None:
    """Move changes from the log file into the warehouse: the file is then complete without it.

    Raises:
        StoreBusy: another program still holds the file after `wait_seconds`.
        duckdb.Error: the file is damaged, or cannot be written.
    """
    with open_for_writing(path, wait_seconds=wait_seconds, has_functions=False) as connection:
        connection.execute("CHECKPOINT")


@contextmanager
def open_for_reading(
    path: Path, *, wait_seconds: float, query: str = "", files: Sequence[str] = ()
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the warehouse, shared with other readers; no query can change it or reach outside it.

    Only the scoring functions that `query` names are registered: they need pyarrow, whose import
    would delay every other query.

    Args:
        path: the warehouse.
        wait_seconds: how long to wait for a program that holds it.
        query: the query to run.
        files: files outside that views of the warehouse read; a query could also overwrite them.

    Raises:
        StoreBusy: another program still holds the file for writing after `wait_seconds`.
        duckdb.Error: the file is damaged or missing.
    """
    _check_files(path)
    shared = _join(path.resolve(), wait_seconds, _named_udfs(query), files)
    try:
        with shared.root.cursor() as connection, _process_limit(_memory_limit.get()):
            yield connection
    finally:
        _leave(path.resolve(), shared)


@dataclass(slots=True)
class _Shared:
    """The database that all readers of this process share: DuckDB opens a file only once.

    Attributes:
        root: the connection whose cursors the readers use.
        functions: names of the registered functions.
        n_readers: number of open cursors; the last one closes the database.
    """

    root: duckdb.DuckDBPyConnection
    functions: set[str] = field(default_factory=set)
    n_readers: int = 0


@dataclass(frozen=True, slots=True)
class _MemoryLimit:
    """A limit of memory.

    Attributes:
        megabytes: how much DuckDB keeps before it writes temporary files.
        covers_process: whether this process, too, is kept from taking much more.
    """

    megabytes: int
    covers_process: bool


_memory_limit: ContextVar[_MemoryLimit | None] = ContextVar("memory_limit", default=None)


@contextmanager
def memory_limit(megabytes: int, *, covers_process: bool = False) -> Iterator[None]:
    """Limit the memory of queries of a warehouse that is opened for reading here.

    What they need beyond goes to temporary files next to the warehouse, or to the system's folder
    for them. Of a warehouse that is open already, the limit remains as it is.

    Args:
        megabytes: the limit of DuckDB.
        covers_process: whether queries also fail where they take as much again of what DuckDB
            does not count, such as the texts that it is about to aggregate. Linux only.
    """
    before = _memory_limit.set(_MemoryLimit(megabytes, covers_process))
    try:
        yield
    finally:
        _memory_limit.reset(before)


@contextmanager
def _process_limit(limit: _MemoryLimit | None) -> Iterator[None]:
    """Let allocations fail that go beyond twice the limit; what is held already does not count."""
    held = _allocated_bytes() if limit is not None and limit.covers_process else None
    if limit is None or held is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    allowed = held + limit.megabytes * _MEGABYTE * 2
    limits = [value for value in (allowed, soft, hard) if value != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(limits), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _allocated_bytes() -> int | None:
    """Return what this process has allocated, as the limit of it counts; None where unknown."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
            pages = int(file.read().split()[5])
    except (OSError, ValueError, IndexError):
        return None
    return pages * resource.getpagesize()


_shared: dict[Path, _Shared] = {}
_sharing = Lock()


def _join(path: Path, wait_seconds: float, udfs: Iterable[Udf], files: Sequence[str]) -> _Shared:
    with _sharing:
        shared = _shared.get(path)
        if shared is None:
            root = _connect(path, wait_seconds, read_only=True)
            # Otherwise timestamps with a time zone would depend on the reader's.
            root.execute("SET GLOBAL TimeZone = 'UTC'")
            if files:
                quoted = ", ".join("'" + name.replace("'", "''") + "'" for name in files)
                root.execute(f"SET allowed_paths = [{quoted}]")
            if limit := _memory_limit.get():
                limit_memory(root, limit.megabytes * 10**6)
                if not os.access(path.parent, os.W_OK):
                    from tempfile import gettempdir  # few need it

                    root.execute("SET temp_directory = ?", [gettempdir()])
            root.execute("SET enable_external_access = false")
            root.execute("SET lock_configuration = true")
            shared = _shared[path] = _Shared(root)
        for udf in udfs:
            if udf.name not in shared.functions:
                _register(shared.root, udf)
                shared.functions.add(udf.name)
        shared.n_readers += 1
        return shared


def _leave(path: Path, shared: _Shared) -> None:
    with _sharing:
        shared.n_readers -= 1
        if shared.n_readers == 0:
            del _shared[path]
            _close(shared.root, shared.functions)


def _keep_small_log(connection: duckdb.DuckDBPyConnection, log: Path) -> None:
    """Let `close` leave the log file as it is, if it is small."""
    with suppress(OSError, duckdb.Error):
        if log.stat().st_size < _LOG_BYTES:
            connection.execute("PRAGMA disable_checkpoint_on_shutdown")


def _close(connection: duckdb.DuckDBPyConnection, functions: Iterable[str]) -> None:
    # A half-read result or a failed transaction must not hide the actual error.
    with suppress(duckdb.Error):
        connection.fetchall()
    with suppress(duckdb.Error):
        connection.rollback()
    # DuckDB 2.0 prints leak warnings at exit for functions that are still registered.
    for name in functions:
        connection.remove_function(name)
    connection.close()


def _connect(path: Path, wait_seconds: float, *, read_only: bool) -> duckdb.DuckDBPyConnection:
    give_up_at = time.monotonic() + wait_seconds
    while True:
        try:
            if read_only:
                return _without_optimizer(duckdb.connect(str(path), read_only=True))
            return _without_optimizer(
                duckdb.connect(str(path), config={"storage_compatibility_version": _STORAGE})
            )
        except (duckdb.IOException, duckdb.ConnectionException) as error:
            if not any(sign in str(error) for sign in _HELD):
                raise
            if time.monotonic() >= give_up_at:
                raise StoreBusy(_busy_message(path, str(error))) from error
        time.sleep(_PAUSE_SECONDS)


def _without_optimizer(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    # Not by the configuration, which must be that of other connections of the same process.
    with suppress(duckdb.Error):  # versions before 2.0 do not have it
        connection.execute(f"SET GLOBAL disabled_optimizers = '{_NOT_WORTH_ITS_TIME}'")
    return connection


def _check_files(path: Path) -> None:
    """Raise an error if DuckDB would open a pipe or a device, which blocks or never ends."""
    for file in (path, log_file(path)):
        try:
            with suppress(FileNotFoundError, PermissionError):
                check_regular(file)
        except NotRegularError as error:
            raise EvalstoreError(
                f"{file}: {error.strerror}; move it away: the warehouse is built from the lake"
            ) from error


def _busy_message(path: Path, reason: str) -> str:
    holder = _HOLDER.search(reason)
    pid = int(holder[1]) if holder else os.getpid()
    who = "this program itself" if pid == os.getpid() else f"the program with process id {pid}"
    return f"{path}: {who} holds the warehouse open: close it there. All data is safe in the lake"


def _all_udfs() -> Iterable[Udf]:
    from warehouse.engine.scoring.registry import UDFS

    return UDFS


def _named_udfs(query: str) -> list[Udf]:
    # A cheap test of the text first: importing the functions costs start-up time.
    if "_" not in query or "(" not in query:
        return []
    return [udf for udf in _all_udfs() if udf.name in query.lower()]


def _register(connection: duckdb.DuckDBPyConnection, udf: Udf) -> None:
    # The Arrow type is looked up when a function is called: few syncs call any.
    def on_arrow(*columns: pa.ChunkedArray) -> pa.Array:
        values = udf.batch(*(column.to_pylist() for column in columns))
        return arrow_array(values, _arrow_types()[udf.returns])

    # DuckDB reads the number of parameters from the signature.
    parameters = [Parameter(f"c{n}", Parameter.POSITIONAL_ONLY) for n in range(len(udf.parameters))]
    on_arrow.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    connection.create_function(
        udf.name,
        on_arrow,
        [duckdb.sqltype(parameter) for parameter in udf.parameters],
        duckdb.sqltype(udf.returns),
        type=PythonUDFType.ARROW,
        null_handling=FunctionNullHandling.SPECIAL,
    )


@cache
def _arrow_types() -> dict[str, pa.DataType]:
    """Return the Arrow type of each DuckDB type that a scoring function returns."""
    kinds = sorted({udf.returns for udf in _all_udfs()})
    columns = ", ".join(f"NULL::{kind}" for kind in kinds)
    with open_in_memory() as connection:
        empty = connection.sql(f"SELECT {columns} LIMIT 0").to_arrow_table()
    return dict(zip(kinds, empty.schema.types, strict=True))
