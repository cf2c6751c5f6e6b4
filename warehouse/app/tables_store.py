"""A store that is tables: only read, by the same views."""

from __future__ import annotations

import re
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from warehouse.app.store import Store
from warehouse.core.errors import BadInput, StoreDamaged, StoreReadOnly
from warehouse.core.files import open_regular
from warehouse.engine.base_store import warn
from warehouse.engine.connection import open_for_reading
from warehouse.engine.scale.catalog import fill_catalog, make_catalog
from warehouse.engine.scale.shard import read_files
from warehouse.engine.scale.snapshot import current_snapshot
from warehouse.engine.tables.sync import SyncReport
from warehouse.lake.locks import WAIT_SECONDS
from warehouse.lake.targets import open_target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warehouse.app.recording.recording import Recording
    from warehouse.engine.scale.snapshot import Snapshot
    from warehouse.lake.table_location import TableLocation

# The kinds of statements that cannot write files.
_READING = frozenset({"SELECT", "EXPLAIN", "CREATE", "MULTI", "SET", "VARIABLE_SET", "PRAGMA"})
_WRITES = re.compile(r"\b(copy|export|attach)\b", re.IGNORECASE)
# Versions may follow each other while one is being opened.
_TRIES = 3


class TablesStore(Store):
    """Tables as a store that is only read.

    Attributes:
        path: the folder of the tables, or of the cache of their copies.
    """

    def __init__(
        self,
        path: Path,
        place: TableLocation,
        *,
        on_warning: Callable[[str], None] = warn,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        super().__init__(path, on_warning=on_warning, wait_seconds=wait_seconds)
        self._place = place

    @contextmanager
    def reading(self, query: str = "") -> Iterator[duckdb.DuckDBPyConnection]:
        """Open the latest version for reading.

        Args:
            query: the query to run.

        Raises:
            BadInput: the query is not one that only reads.
            StoreNewer: the tables were written by another version of evalstore.
            StoreDamaged: they are not what was written.
            StoreUnreachable: the object store cannot be reached.
        """
        _check_reads(query)
        self.warehouse, files = self._catalog()
        with open_for_reading(
            self.warehouse, wait_seconds=self._wait_seconds, query=query, files=files
        ) as connection:
            yield connection

    def sync(self, *, rebuild: bool = False) -> SyncReport:  # noqa: ARG002 - as of a store
        """Fetch the latest version; the command that writes tables is `sync --to`."""
        self.warehouse, _ = self._catalog()
        return SyncReport()

    def recover_journals(self) -> None:
        """Do nothing: tables have no journals."""

    def record(self, **_: Any) -> Recording:  # noqa: ANN401 - refused
        """Refuse: tables are only read.

        Raises:
            StoreReadOnly: always.
        """
        raise StoreReadOnly(
            f"{self._place.address}: tables are only read; record into the store that they are "
            "written from"
        )

    def copy_warehouse(self, path: Path) -> None:
        """Write a warehouse with all rows of the latest version."""
        snapshot = self._snapshot()
        files = snapshot.by_table().items()
        paths = {table: read_files(self._place, of_table) for table, of_table in files}
        fill_catalog(path, snapshot, paths, is_copied=True)

    def write_snapshot(self, path: Path) -> None:
        """Write a warehouse with all rows, complete or not at all.

        Raises:
            BadInput: the file cannot be written.
        """
        with tempfile.TemporaryDirectory(prefix="evalstore-") as folder:
            copy = Path(folder) / "warehouse.duckdb"
            self.copy_warehouse(copy)
            with open_target(path) as target, open_regular(copy) as source:
                shutil.copyfileobj(source, target)

    def _snapshot(self) -> Snapshot:
        return current_snapshot(self._place)

    def _catalog(self) -> tuple[Path, list[str]]:
        for _ in range(_TRIES - 1):
            with suppress(FileNotFoundError):  # replaced while it was being opened
                return make_catalog(self._place, self._snapshot())
        try:
            return make_catalog(self._place, self._snapshot())
        except FileNotFoundError as error:
            raise StoreDamaged(
                f"{self._place.address}: a file of the tables is missing ({error}); `evalstore "
                "info --verify` names all of them, and how to write them again"
            ) from error


def _check_reads(query: str) -> None:
    """Check that a query writes no file: DuckDB allows it those that the views read."""
    try:
        statements = duckdb.extract_statements(query) if query else []
    except duckdb.Error:
        return  # its error, with the position, comes when it is run
    for statement in statements:
        kind = statement.type.name
        if kind not in _READING or (kind == "EXPLAIN" and _WRITES.search(statement.query)):
            raise BadInput(f"tables are only read: {kind} is not possible here")
