"""A store as its users see it: a folder with a lake, and SQL over its content."""

from __future__ import annotations

import os
import shutil
import warnings
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.errors import (
    BadInput,
    EvalstoreError,
    OutOfMemory,
    StoreBusy,
    StoreDamaged,
    StoreReadOnly,
)
from warehouse.files import open_regular
from warehouse.journal import FOLDER
from warehouse.lake.lake import Lake
from warehouse.lake.locks import WAIT_SECONDS
from warehouse.targets import open_target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import altair as alt
    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from warehouse.output.rows import Rows
    from warehouse.recording.recording import Recording
    from warehouse.tables.sync import KnownFolders, SyncReport

# Imports that an import of logs can do without are in the functions that use them.

# Readers that follow each other list an object store once.
_FRESH_SECONDS = 2.0
_COPIED_AT_ONCE = 16 * 2**20  # bytes


class EvalstoreWarning(UserWarning):
    """A warning about data missing from the figures, and why."""


def warn(message: str) -> None:
    """Warn the code that called evalstore."""
    warnings.warn(message, EvalstoreWarning, stacklevel=2)


class Store:
    """A folder of evaluations.

    Attributes:
        path: the folder.
        lake: its batches.
        warehouse: the DuckDB file built from them; it can be deleted at any time.
    """

    def __init__(
        self,
        path: Path,
        *,
        on_warning: Callable[[str], None] = warn,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self.path = path
        self.lake = Lake(path)
        self.warehouse = path / "warehouse.duckdb"
        self._on_warning = on_warning
        self._wait_seconds = wait_seconds

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})"

    def sql(self, query: str, parameters: Mapping[str, object] | None = None) -> Query:
        """Prepare a query; it runs when its rows are fetched, on the content of that moment.

        Args:
            query: any DuckDB query; values are bound as `$name`.
            parameters: the values, by name.
        """
        return Query(self, query, dict(parameters or {}))

    def record(
        self,
        *,
        suite: str,
        model: str,
        task_set: str | None = None,
        settings: Mapping[str, object] | None = None,
        config: Mapping[str, object] | None = None,
        run_id: str | None = None,
    ) -> Recording:
        """Record a run of your own: `with store.record(suite=…, model=…) as run: run.log(…)`.

        Args:
            suite: name of the suite that the results belong to.
            model: name of the model.
            task_set: name of the task set; by default, that of the suite.
            settings: parameters of the calls, such as the temperature; models with other settings
                are compared as other models.
            config: anything else to keep with the run.
            run_id: ID of the run; with that of an earlier recording, it is continued. By default, a
                new run.

        Raises:
            BadInput: an argument cannot be used.
        """
        from warehouse.recording.recording import Recording

        return Recording(
            self,
            suite=suite,
            model=model,
            task_set=task_set,
            settings=settings,
            config=config,
            run_id=run_id,
        )

    def chart(
        self,
        name: str,
        *,
        suite: str | None = None,
        task_set: str | None = None,
        metric: str | None = None,
    ) -> alt.VConcatChart:
        """Return a chart for notebooks: `store.chart("leaderboard", suite="palindrome")`.

        Args:
            name: leaderboard, history, costs, latency, difficulty or heatmap.
            suite: only this suite.
            task_set: only this task set.
            metric: this metric; by default the main one of each task set.

        Raises:
            BadInput: there is no such chart, or it has nothing to show.
        """
        from warehouse.charts.registry import draw_chart

        drawing = draw_chart(self, name, suite=suite, task_set=task_set, metric=metric)
        for note in drawing.notes:
            self._on_warning(note)
        return drawing.chart

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
        from warehouse.tables.sync import sync

        report = sync(self.warehouse, self.lake, rebuild=rebuild, wait_seconds=self._wait_seconds)
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

        from warehouse.connection import open_for_reading
        from warehouse.tables.sync import KnownFolders, known_folders

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
        from warehouse.journal.recovery import recover_journals

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
        from warehouse.tables.sync import sync_lock

        if path.resolve().is_relative_to(self.path.resolve()):
            raise BadInput(f"{path} is inside the store; write the snapshot to another folder")
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
        from warehouse.connection import log_file

        if not log_file(self.warehouse).exists():
            yield self.warehouse
            return
        import tempfile

        import duckdb

        from warehouse.connection import checkpoint

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
        from warehouse.connection import log_file

        shutil.copyfile(self.warehouse, path)
        with suppress(FileNotFoundError):
            shutil.copyfile(log_file(self.warehouse), log_file(path))

    @contextmanager
    def reading(self, query: str = "") -> Iterator[duckdb.DuckDBPyConnection]:
        """Bring the warehouse up to date if possible, and open it for reading.

        Args:
            query: the query to run; the scoring functions it names are registered.

        Raises:
            BadInput: the folder does not exist.
            StoreBusy: another program holds the warehouse for writing.
        """
        from warehouse.lake.presence import unreadable_files

        if not self.path.is_dir():
            raise BadInput(
                f"{self.path}: no store here; `evalstore import` or `evalstore run` creates one"
            )
        self._pull(max_age_seconds=_FRESH_SECONDS)
        self._recover_journals()
        with ExitStack() as stack:
            connection = self._open_if_current(stack, query)
            if connection is None:
                self._catch_up()
                connection = self._open_between_syncs(stack, query)
            for problem in unreadable_files(connection, self.lake):
                self._on_warning(problem)
            yield connection

    def _opened(self, query: str) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
        from warehouse.connection import open_for_reading

        return open_for_reading(self.warehouse, wait_seconds=self._wait_seconds, query=query)

    def _open_if_current(self, stack: ExitStack, query: str) -> duckdb.DuckDBPyConnection | None:
        """Open the warehouse; None, with nothing left open, if the lake has changed."""
        import duckdb

        from warehouse.tables.sync import is_current, is_syncing

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
                # Our own sync ends soon; another program may hold the file for hours.
                if not is_syncing(self.path):
                    raise
                return None
            stack.push(attempt.pop_all())
            return connection

    def _open_between_syncs(self, stack: ExitStack, query: str) -> duckdb.DuckDBPyConnection:
        """Open the warehouse; wait for syncs of other commands, however long each of them takes."""
        from warehouse.tables.sync import is_syncing, sync_lock

        while True:
            try:
                return stack.enter_context(self._opened(query))
            except StoreBusy:
                if not is_syncing(self.path):
                    raise
            with sync_lock(self.path):
                pass

    def _catch_up(self) -> None:
        try:
            self._sync()
        except (StoreBusy, StoreReadOnly) as error:
            if not self.warehouse.exists():
                raise
            self._on_warning(f"{error}. The figures lack what was added since the last sync")


def open_store(path: Path, *, on_warning: Callable[[str], None] = warn) -> Store:
    """Open a folder as the store that it is: with a lake, or tables that are only read.

    Raises:
        StoreUnreachable: the object store behind it cannot be reached.
    """
    from warehouse.scale.place import place_of

    place = place_of(path)
    if place is None:
        return Store(path, on_warning=on_warning)
    from warehouse.scale.store import TablesStore

    return TablesStore(path, place, on_warning=on_warning)


class Query:
    """A query that runs when its rows are fetched; it holds no file open before or after."""

    def __init__(self, store: Store, query: str, parameters: dict[str, object]) -> None:
        self._store = store
        self._query = query
        self._parameters = parameters

    def __repr__(self) -> str:
        """Return the first rows as a table; if the query cannot be run, its text and why."""
        from warehouse.output.preview import text_preview

        try:
            return self._preview(text_preview)
        except EvalstoreError as error:
            return f"Query({self._query!r}): {error}"

    def _repr_html_(self) -> str | None:
        """Return the first rows as HTML, for notebooks; None if the query cannot be run."""
        from warehouse.output.preview import html_preview

        try:
            return self._preview(html_preview)
        except EvalstoreError:
            return None

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return all rows to libraries that read Arrow, such as Polars, DuckDB and pyarrow."""
        return self.to_arrow_table().__arrow_c_stream__(requested_schema)

    def pl(self) -> pl.DataFrame:
        """Return all rows as a Polars frame."""
        with self._relation() as relation:
            frame: pl.DataFrame = relation.pl()
            return frame

    def df(self) -> pd.DataFrame:
        """Return all rows as a pandas frame."""
        with self._relation() as relation:
            frame: pd.DataFrame = relation.df()
            return frame

    def to_arrow_table(self) -> pa.Table:
        """Return all rows as an Arrow table."""
        with self._relation() as relation:
            return relation.to_arrow_table()

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all rows as tuples."""
        with self.cursor() as cursor:
            return cursor.fetchall()

    @contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Run the query and yield a cursor to stream its rows from (`fetchmany`).

        Raises:
            BadInput: DuckDB cannot run the query; the message marks the place.
        """
        with self._store.reading(self._query) as connection, query_errors():
            self._check_values(connection)
            connection.execute(self._query, self._parameters)
            yield connection

    @contextmanager
    def _relation(self) -> Iterator[duckdb.DuckDBPyRelation]:
        with self._store.reading(self._query) as connection, query_errors():
            self._check_values(connection)
            relation = connection.sql(self._query, params=self._parameters)
            if relation is None:
                raise BadInput("the query returns no rows")
            yield relation

    def _preview(self, write: Callable[[Rows], str]) -> str:
        from warehouse.output.rows import of_query

        with self._store.reading(self._query) as connection, query_errors():
            self._check_values(connection)
            return write(of_query(connection, self._query, self._parameters))

    def _check_values(self, connection: duckdb.DuckDBPyConnection) -> None:
        # DuckDB 1.5 does not name the parameter that has no value.
        for statement in connection.extract_statements(self._query):
            if missing := sorted(statement.named_parameters - self._parameters.keys()):
                raise BadInput(f"no value for ${', $'.join(missing)}")


@contextmanager
def query_errors(*, is_users: bool = True) -> Iterator[None]:
    """Turn DuckDB's errors, which mark the position in the query, into our own.

    Args:
        is_users: whether the user wrote the query; a position in one of ours means nothing to them.

    Raises:
        BadInput: the query is wrong.
        OutOfMemory: the query needs more memory than there is, or than it may take.
        StoreDamaged: the warehouse file is damaged; a query cannot reach other files.
    """
    import duckdb

    try:
        yield
    except (duckdb.IOException, duckdb.SerializationException, duckdb.FatalException) as error:
        raise StoreDamaged(
            f"{error}\nThe warehouse is damaged: `evalstore sync --rebuild` recreates it"
        ) from error
    except (duckdb.OutOfMemoryException, MemoryError) as error:
        # The lines that follow propose settings, which a query cannot change.
        reason = str(error).partition("\n")[0] or "Out of Memory Error"
        advice = "; select fewer rows or columns, or filter before joining" if is_users else ""
        raise OutOfMemory(f"{reason}{advice}") from error
    except duckdb.Error as error:
        text = str(error)
        raise BadInput(text if is_users else text.partition("\n\nLINE ")[0]) from error
