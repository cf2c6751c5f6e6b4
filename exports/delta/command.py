"""`evalstore publish delta`: public tables as Delta tables, which every engine reads."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import duckdb
from click import Option

from exports.base import Exported, Exporter
from exports.delta.state import PublicFolder
from warehouse.core.errors import BadInput, StoreDamaged
from warehouse.core.text.figures import counted
from warehouse.engine.connection import memory_limit
from warehouse.lake.table_location import NEEDS_DELTALAKE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from warehouse.app.store import Store

# DuckDB would keep what it has read for as long as there is memory.
_FIRST_LIMIT_MB = 2_000
# A path has one slash where an address has two.
_ADDRESS = re.compile(r"^(s3|gs|az):/+")


def publish_tables(
    store: Store,
    folder: Path,
    *,
    without_text: bool = False,
    dry_run: bool = False,
    sweep: bool = False,
) -> Exported:
    """Write what has changed since the last publication to the tables of a folder.

    Args:
        store: the store.
        folder: the folder, or the address as a path; `public/` in it has the tables.
        without_text: whether prompts, answers, messages and all other texts are left out.
        dry_run: whether only to say what would be written.
        sweep: whether to delete files that killed publications left, if they are a day old.

    Raises:
        BadInput: the folder cannot be used, or deltalake is not installed.
        StoreBusy: another process publishes there.
        StoreDamaged: batches of the store are missing, or what was published is damaged.
    """
    try:
        from exports.delta.publication import preview, publish
    except ImportError as error:
        raise BadInput(NEEDS_DELTALAKE) from error
    public = PublicFolder(_ADDRESS.sub(r"\1://", str(folder)))

    def read(action: Callable[..., Exported]) -> Exported:
        with _reading_all(store) as connection:
            return action(connection, public, with_text=not without_text)

    if dry_run:
        public.check()
        return read(preview)
    with public.writing():
        try:
            with memory_limit(_FIRST_LIMIT_MB):
                exported = read(publish)
        except duckdb.OutOfMemoryException:  # what cannot go to temporary files
            exported = read(publish)
        if sweep:
            swept = public.sweep()
            exported.notes.append(
                f"deleted {counted(len(swept), 'file')} of publications that were killed"
            )
    return exported


@contextmanager
def _reading_all(store: Store) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a store for reading if the warehouse has all of its batches.

    Raises:
        StoreDamaged: batches are missing: their runs would be deleted as if they were forgotten.
    """
    from warehouse.engine.tables.state import missing_folders

    folders = store.lake.batch_names()
    with store.reading() as connection:
        mirror = store.lake.mirror
        if missing_folders(connection, folders) or (mirror is not None and mirror.unfetched):
            raise StoreDamaged(
                f"{store.path}: nothing was published, since batches are missing, whose runs would "
                "be deleted there; `evalstore info --verify` names them"
            )
        yield connection


PUBLISHER = Exporter(
    export=publish_tables,
    help="""Write the public tables as Delta tables, and only what has changed since.

    `public/` of the folder then has a table for each fact view and mart, which Spark, DuckDB,
    polars and other engines read, and `snapshots`: which versions of them belong together. Publish
    again after runs, imports and `evalstore forget`: docs/publishing.md.

    \b
      evalstore publish delta --to published/
    """,
    options=(
        Option(["--without-text"], is_flag=True, help="Leave out prompts, answers and messages."),
        Option(["--dry-run"], is_flag=True, help="Only say how many rows and bytes by table."),
        Option(["--sweep"], is_flag=True, help="Also delete what killed publications left."),
    ),
    target_help="Folder, or s3://bucket/prefix, of the tables.",
)
