"""A store: a folder with a lake, and the warehouse that is kept up to date with it."""

from __future__ import annotations

import os
import shutil
import warnings
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.core.errors import (
    BadInput,
    EvalstoreError,
    StoreBusy,
    StoreDamaged,
    StoreReadOnly,
)
from warehouse.core.files import open_regular
from warehouse.engine.query import Query
from warehouse.lake.journal import FOLDER
from warehouse.lake.lake import Lake
from warehouse.lake.locks import WAIT_SECONDS
from warehouse.lake.targets import open_target

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    import duckdb

    from warehouse.engine.tables.state import KnownFolders
    from warehouse.engine.tables.sync import SyncReport

# Imports that an import of logs can do without are in the functions that use them.

# Readers that follow each other list an object store once.
_FRESH_SECONDS = 2.0
_COPIED_AT_ONCE = 16 * 2**20  # bytes
# The variable with which a warehouse is read as it is, however long its update would take.
NO_SYNC = "EVALSTORE_NO_SYNC"


class EvalstoreWarning(UserWarning):
    """A warning about data missing from the figures, and why."""


def warn(message: str) -> None:
    """Warn the code that called evalstore."""
    warnings.warn(message, EvalstoreWarning, stacklevel=2)


def check_is_store(path: Path) -> None:
    """Check that a folder exists, as that of every store does.

    Raises:
        BadInput: it does not.
    """
    if not path.is_dir():
        raise BadInput(f"{path}: no store here; `evalstore import` or `evalstore run` creates one")


class BaseStore:
    """A folder of evaluations.

    Attributes:
        path: the folder.
        lake: its batches.
        warehouse: the DuckDB file built from them; it can be deleted at any time.
        fresh_seconds: how long readers do without a new listing of an object store.
        left_out: the sentence on the tasks that its figures leave out; empty if they have all.
    """

    left_out = ""

    def __init__(
        self,
        path: Path,
        *,
        on_warning: Callable[[str], None] = warn,
        on_rebuild: Callable[[str], None] | None = None,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self.path = path
        self.lake = Lake(path)
        self.warehouse = path / "warehouse.duckdb"
        self.fresh_seconds = _FRESH_SECONDS
        self._on_warning = on_warning
        self._on_rebuild = on_rebuild
        self._wait_seconds = wait_seconds

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r})"

    def sql(self, query: str, parameters: Mapping[str, object] | None = None) -> Query:
        """Prepare a query; it runs when its rows are fetched, on the content of that moment.

        Args:
            query: any DuckDB query; values are bound as `$name`.
            parameters: the values, by name.
        """
        return Query(self.reading, query, parameters)

    def sync(self, *, rebuild: bool = False) -> SyncReport:
        """Bring the warehouse up to date with the lake; with `rebuild`, from scratch.

        Raises:
            StoreBusy: another program holds the warehouse.
            StoreReadOnly: the folder cannot be written.
            StoreNewer: a newer version of evalstore wrote a batch.
        """
        self.recover_journals()
        report = self._sync(rebuild=rebuild)
        if not report.damaged and self.merge_small_batches(report.known):
            self._sync()
        for problem in report.unreadable:
            self._on_warning(problem)
        if self.lake.mirror is not None and (left_out := self.lake.mirror.unfetched.values()):
            return replace(report, damaged=(*report.damaged, *left_out))
        return report

    def _sync(self, *, rebuild: bool = False) -> SyncReport:
        from warehouse.engine.tables.sync import sync

        report = sync(
            self.warehouse,
            self.lake,
            rebuild=rebuild,
            wait_seconds=self._wait_seconds,
            on_rebuild=self._on_rebuild,
        )
        for problem in report.damaged:
            self._on_warning(problem)
        return report

    def merge_small_batches(self, known: KnownFolders | None = None) -> bool:
        """Merge small batches where enough have come together; return whether that was done.

        For commands that add batches, after their work. It takes a moment at most, and is left to
        the next one if the lake is being read or cannot be written.

        Args:
            known: what the warehouse knows of the lake; by default it is opened to find out.
        """
        from warehouse.lake.compaction import FAN, merge_tier

        if len(self.lake.batch_names()) < FAN:
            return False
        import duckdb

        from warehouse.engine.connection import open_for_reading
        from warehouse.engine.tables.state import KnownFolders, known_folders

        try:
            if known is None and not self.warehouse.exists():
                known = KnownFolders({}, frozenset())
            if known is None:
                with open_for_reading(self.warehouse, wait_seconds=0) as connection:
                    known = known_folders(connection, self.lake)
            return merge_tier(self.lake, known.loaded, known.replaced)
        except (EvalstoreError, duckdb.Error):
            return False

    def recover_journals(self) -> None:
        """Add to the lake what others added to the object store, and what killed runs left.

        Raises:
            StoreUnreachable: the object store that holds the lake cannot be reached.
        """
        self._pull()
        self._recover_journals()

    def _recover_journals(self) -> None:
        # Most commands find none, and need not import what reads them.
        if not os.path.lexists(self.path / FOLDER):
            return
        from warehouse.lake.journal.recovery import recover_journals

        for problem in recover_journals(self.lake):
            self._on_warning(problem)

    def _pull(self, *, max_age_seconds: float = 0.0) -> None:
        if self.lake.mirror is not None:
            for problem in self.lake.mirror.pull(max_age_seconds=max_age_seconds):
                self._on_warning(problem)

    def write_snapshot(self, path: Path) -> None:
        """Write a copy of the warehouse, complete or not at all.

        Raises:
            BadInput: the file is inside the store, or cannot be written.
        """
        from warehouse.engine.tables.sync import sync_lock

        if path.resolve().is_relative_to(self.path.resolve()):
            raise BadInput(f"{path} is inside the store; write the snapshot to another folder")
        if self.lake.mirror is not None:
            with self.reading("lake.files"):
                pass  # the copies of imported files, too
        with (
            open_target(path) as target,
            sync_lock(self.path),
            self._checkpointed() as warehouse,
            open_regular(warehouse) as source,
        ):
            shutil.copyfileobj(source, target, _COPIED_AT_ONCE)

    @contextmanager
    def _checkpointed(self) -> Iterator[Path]:
        """Yield a warehouse file without a log; a copy if this one is being read."""
        from warehouse.engine.connection import log_file

        if not log_file(self.warehouse).exists():
            yield self.warehouse
            return
        import tempfile

        import duckdb

        from warehouse.engine.connection import checkpoint

        with tempfile.TemporaryDirectory(prefix="evalstore-") as folder:
            whole = self.warehouse
            try:
                checkpoint(whole, wait_seconds=0)
            except (StoreBusy, duckdb.Error):
                whole = Path(folder) / whole.name
                self.copy_warehouse(whole)
                checkpoint(whole, wait_seconds=0)
            yield whole

    def copy_warehouse(self, path: Path) -> None:
        """Copy the warehouse, with its log, to a new file; the caller keeps its writers out."""
        from warehouse.engine.connection import log_file

        shutil.copyfile(self.warehouse, path)
        with suppress(FileNotFoundError):
            shutil.copyfile(log_file(self.warehouse), log_file(path))

    @contextmanager
    def reading(self, query: str = "") -> Iterator[duckdb.DuckDBPyConnection]:
        """Bring the warehouse up to date if possible, and open it for reading.

        With `EVALSTORE_NO_SYNC=1` it is opened as it is, with a warning that says so.

        Args:
            query: the query to run; the scoring functions it names are registered, and if it names
                a table of copies of imported files, those on an object store are fetched.

        Raises:
            BadInput: the folder does not exist.
            StoreBusy: another program holds the warehouse for writing.
            StoreDamaged: the warehouse is damaged, or lacks what this version asks for, and may not
                be built again here.
        """
        from warehouse.lake.missing_files import unreadable_files

        check_is_store(self.path)
        if os.environ.get(NO_SYNC, "") not in {"", "0"} and self.warehouse.exists():
            with self._reading_as_it_is(query) as frozen:
                yield frozen
            return
        self._pull(max_age_seconds=self.fresh_seconds)
        self._recover_journals()
        with ExitStack() as stack:
            connection = self._open_if_current(stack, query)
            if connection is None:
                self._catch_up()
                connection = self._open_between_syncs(stack, query)
            if self.lake.mirror is not None:
                connection = self._with_copies(stack, connection, query)
            for problem in unreadable_files(connection, self.lake):
                self._on_warning(problem)
            yield connection

    def _opened(self, query: str) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
        from warehouse.engine.connection import open_for_reading

        return open_for_reading(self.warehouse, wait_seconds=self._wait_seconds, query=query)

    @contextmanager
    def _reading_as_it_is(self, query: str) -> Iterator[duckdb.DuckDBPyConnection]:
        import duckdb

        from warehouse.engine.tables.state import is_of_this_version

        with ExitStack() as stack:
            connection = self._open_as_it_is(stack, query)
            try:
                yield connection
            except (duckdb.BinderException, duckdb.CatalogException) as error:
                if is_of_this_version(connection):
                    raise
                raise StoreDamaged(
                    f"{self.warehouse}: built by another version of evalstore, and lacks what this "
                    f"one asks for; without {NO_SYNC} it is built again"
                ) from error

    def _open_as_it_is(self, stack: ExitStack, query: str) -> duckdb.DuckDBPyConnection:
        import duckdb

        from warehouse.engine.connection import log_file
        from warehouse.engine.tables.file_copies import folders_without_copies
        from warehouse.engine.tables.state import is_of_this_version, missing_folders

        try:
            connection = stack.enter_context(self._opened(query))
            n_missing = len(missing_folders(connection, self.lake.batch_names()))
            is_ours = is_of_this_version(connection)
            is_empty = is_ours and bool(folders_without_copies(connection, query))
        except duckdb.Error as error:
            raise StoreDamaged(
                f"{self.warehouse}: damaged; without {NO_SYNC} it is built again"
            ) from error
        files = [file for file in (self.warehouse, log_file(self.warehouse)) if file.exists()]
        written_at = datetime.fromtimestamp(max(file.stat().st_mtime for file in files), UTC)
        batches = f"{n_missing:,} batch{'es' * (n_missing > 1)}"
        missing = f", without {batches} of the lake" if n_missing else ""
        other = "" if is_ours else "; its views are those of another version of evalstore"
        other += "; copies of imported files that were not fetched are empty" * is_empty
        self._on_warning(
            f"{NO_SYNC} is set: the figures are those of the last sync, "
            f"{written_at:%Y-%m-%d %H:%M} UTC{missing}{other}"
        )
        return connection

    def _open_if_current(self, stack: ExitStack, query: str) -> duckdb.DuckDBPyConnection | None:
        """Open the warehouse; None, with nothing left open, if the lake has changed."""
        import duckdb

        from warehouse.engine.tables.state import is_current

        if not self.warehouse.exists():
            return None
        with ExitStack() as attempt:
            try:
                connection = attempt.enter_context(self._opened(query))
                if not is_current(connection, self.lake):
                    return None
            except duckdb.Error:
                return None
            except StoreBusy:
                from warehouse.engine.tables.sync import is_syncing

                # Our own sync ends soon; another program may hold the file for hours.
                if not is_syncing(self.path):
                    raise
                return None
            stack.push(attempt.pop_all())
            return connection

    def _open_between_syncs(self, stack: ExitStack, query: str) -> duckdb.DuckDBPyConnection:
        """Open the warehouse; wait for syncs of other commands, however long each of them takes."""
        from warehouse.engine.tables.sync import is_syncing, sync_lock

        while True:
            try:
                return stack.enter_context(self._opened(query))
            except StoreBusy:
                if not is_syncing(self.path):
                    raise
            with sync_lock(self.path):
                pass

    def _with_copies(
        self, stack: ExitStack, connection: duckdb.DuckDBPyConnection, query: str
    ) -> duckdb.DuckDBPyConnection:
        """Return the warehouse with the copies of imported files that a query may read."""
        from warehouse.engine.tables import file_copies

        folders = file_copies.folders_without_copies(connection, query)
        if folders:
            stack.close()
            if problems := self.fetch_copies(folders):
                raise StoreDamaged("\n".join(problems.values()))
            file_copies.load_copies(self.warehouse, self.lake, folders, self._wait_seconds)
            connection = self._open_between_syncs(stack, query)
        return connection

    def fetch_copies(self, names: Collection[str]) -> dict[str, str]:
        """Fetch the copies of imported files of some folders: see `file_copies.fetch`."""
        from warehouse.engine.tables import file_copies

        return file_copies.fetch(self.lake, names, self._on_rebuild)

    def _catch_up(self) -> None:
        try:
            self._sync()
        except (StoreBusy, StoreReadOnly) as error:
            if not self.warehouse.exists():
                raise
            self._on_warning(f"{error}. The figures lack what was added since the last sync")
