"""`evalstore sync`: the update of the warehouse."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from warehouse.app.console.cli import note, open_store
from warehouse.core.errors import BadInput, CheckFailed
from warehouse.core.text.figures import counted
from warehouse.engine.base_store import check_is_store

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from warehouse.engine.scale.engine import Engine


@click.command()
@click.option("--rebuild", is_flag=True, help="Build the warehouse from scratch.")
@click.option(
    "--snapshot",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write a copy of the warehouse to this file, for tools that keep files open.",
)
@click.option(
    "--to",
    metavar="TABLES",
    help="Instead, write Delta tables to this folder or address, with many processes.",
)
@click.option(
    "--shards",
    type=click.IntRange(1),
    help="Number of shards; all are computed again (with --to).  [default: by size]",
)
@click.option(
    "--engine",
    metavar="ADDRESS",
    help="Compute on the Spark cluster of this Spark Connect server, such as sc://host:15002 "
    "(with --to).",
)
@click.option(
    "--environment",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Archive (.tar.gz) of a Python environment with evalstore to send to its workers (with "
    "--engine).",
)
@click.pass_obj
def sync(
    path: Path,
    *,
    rebuild: bool,
    snapshot: Path | None,
    to: str | None,
    shards: int | None,
    engine: str | None,
    environment: Path | None,
) -> None:
    """Update the warehouse from the lake. Commands that read do this automatically.

    With --to, the tables are written as Delta tables, and only what is new or has changed.
    `evalstore --store TABLES` reads them: docs/scale-out.md.

    \b
      evalstore sync
      evalstore sync --rebuild
      evalstore sync --snapshot copy.duckdb
      evalstore sync --to tables/
    """
    if environment is not None and engine is None:
        raise BadInput("--environment goes with --engine")
    if to is not None:
        if rebuild or snapshot is not None:
            raise BadInput("--to goes with neither --rebuild nor --snapshot")
        with _engine(engine, environment) as runs_shards:
            _write_tables(path, to, runs_shards, shards)
        return
    if shards is not None or engine is not None:
        raise BadInput("--shards and --engine go with --to")
    from warehouse.lake.compaction import MANY_SMALL, small_folders

    store = open_store(path)
    check_is_store(path)
    report = store.sync(rebuild=rebuild)
    how = "rebuilt from" if report.rebuilt else "loaded"
    note(f"{how} {counted(len(report.loaded), 'batch', 'batches')}")
    n_small = len(small_folders(store.lake, store.lake.batch_names()))
    if n_small > MANY_SMALL and not report.damaged and not report.unreadable:
        note(f"{n_small:,} small batches: run `evalstore compact` to speed up reading")
    if snapshot is not None:
        store.write_snapshot(snapshot)
        note(f"wrote {snapshot}")
    if report.damaged:
        raise CheckFailed(f"{len(report.damaged)} batches are damaged and were left out")
    if report.unreadable:
        raise CheckFailed(f"files of the lake that cannot be read: {len(report.unreadable)}")


def _engine(address: str | None, environment: Path | None) -> AbstractContextManager[Engine]:
    if address is not None:
        from warehouse.engine.scale.spark import spark_engine

        return spark_engine(address, environment)
    from contextlib import nullcontext

    from warehouse.engine.scale.engine import LocalEngine

    return nullcontext(LocalEngine())


def _write_tables(path: Path, to: str, engine: Engine, n_shards: int | None) -> None:
    from warehouse.engine.scale.driver import sync_tables
    from warehouse.lake.table_location import find_tables

    store = open_store(path)
    if not path.is_dir() or find_tables(path) is not None:
        raise BadInput(f"{path}: no store with a lake here, of which tables could be written")
    report = sync_tables(store, to, engine, n_shards=n_shards)
    if not report.is_new:
        note(f"version {report.number} in {to} is up to date")
        return
    again = f", {report.n_repeated} of them twice for duplicate calls" if report.n_repeated else ""
    note(
        f"wrote version {report.number} to {to}: computed {report.n_computed} of "
        f"{report.n_shards} shards{again}"
    )
