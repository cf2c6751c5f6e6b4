"""`evalstore sync`: the update of the warehouse."""

from __future__ import annotations

from pathlib import Path

import click

from warehouse.cli import note, open_store
from warehouse.errors import BadInput, CheckFailed


@click.command()
@click.option("--rebuild", is_flag=True, help="Build the warehouse from scratch.")
@click.option(
    "--snapshot",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write a copy of the warehouse to this file, for tools that keep files open.",
)
@click.pass_obj
def sync(path: Path, *, rebuild: bool, snapshot: Path | None) -> None:
    """Update the warehouse from the lake. Commands that read do this automatically.

    \b
      evalstore sync
      evalstore sync --rebuild
      evalstore sync --snapshot copy.duckdb
    """
    from warehouse.lake.compaction import MANY_SMALL, small_folders

    store = open_store(path)
    if not path.is_dir():
        raise BadInput(f"{path}: no store here; `evalstore import` or `evalstore run` creates one")
    report = store.sync(rebuild=rebuild)
    how = "rebuilt from" if report.rebuilt else "loaded"
    note(f"{how} {len(report.loaded)} batches")
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
