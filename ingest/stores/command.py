"""The part of `evalstore import` that imports other stores, and what it prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ingest.stores.recognition import is_store
from warehouse.app.console.cli import note
from warehouse.core.errors import BadInput, StoreUnreadable
from warehouse.core.text.formatting import visible

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ingest.stores.copy import StoreCopy
    from warehouse.lake.batch import RunKey
    from warehouse.lake.lake import Lake

_SHOWN = 20


def is_among_stores(path: Path) -> bool:
    """Return whether a given path is a store, rather than a log."""
    try:
        return path.is_dir() and is_store(path)
    except (OSError, StoreUnreadable):
        return False  # it is reported when it is read


def import_stores(lake: Lake, paths: Iterable[Path], *, replace: bool, restore: bool) -> None:
    """Import other stores, one after another, and print what that did.

    Raises:
        BadInput: runs conflict; everything else was imported.
        EvalstoreError: a store cannot be imported, or the batch could not be written.
    """
    from ingest.stores.copy import copy_store

    n_conflicts = 0
    for path in dict.fromkeys(paths):
        copied = copy_store(lake, path, replace=replace, restore=restore)
        _print_notes(copied)
        _print_summary(copied)
        n_conflicts += len(copied.conflicts)
    if n_conflicts:
        raise BadInput(f"not everything was imported: {n_conflicts:,} conflicting; the rest was")


def _print_summary(copied: StoreCopy) -> None:
    click.echo(f"store         {visible(str(copied.path))}")
    click.echo(f"batches       {copied.n_new:,} new, {copied.n_known:,} known")
    click.echo(f"runs          {len(copied.runs):,}")
    click.echo(f"results       {copied.n_results:,} new")
    click.echo(f"unchanged     {copied.n_unchanged:,}")


def _print_notes(copied: StoreCopy) -> None:
    path = visible(str(copied.path))
    for (_, _), message in copied.conflicts[:_SHOWN]:
        note(f"{path}: {visible(message)}")
    if copied.n_unfinished:
        note(
            f"{path}: unfinished runs not copied: {copied.n_unfinished:,}; "
            "any command in that store, such as `evalstore sync`, completes those that were killed"
        )
    if copied.forgotten:
        note(
            f"{path}: forgotten here and not copied: {_names(copied.forgotten)}; "
            "`--restore` brings them back"
        )
    if copied.forgotten_there:
        note(
            f"{path}: forgotten there but still here: {_names(copied.forgotten_there)}; "
            "`evalstore forget` removes them here as well"
        )


def _names(runs: list[RunKey]) -> str:
    names = ", ".join(visible(run_id) for _, run_id in runs[:_SHOWN])
    return names + (f" and {len(runs) - _SHOWN:,} more" if len(runs) > _SHOWN else "")
