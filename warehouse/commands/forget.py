"""`evalstore forget`: a run removed for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from warehouse.checking import PAGE
from warehouse.cli import note, open_store

if TYPE_CHECKING:
    from pathlib import Path

    from warehouse.lake.batch import RunKey
    from warehouse.store import Store


@click.command()
@click.argument("run")
@click.option("--suite", help="The run's suite, where several have a run of that name.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def forget(path: Path, run: str, suite: str | None, *, yes: bool) -> None:
    """Remove a RUN for good: its rows, its files' bytes, and every trace of their text.

    A tombstone of hashes remains, so that an import of the same files does not bring it back
    unless it is told to (`evalstore import --restore`).

    \b
      evalstore forget 2026-03-04/models/example-usva-3.yaml --yes
    """
    from warehouse.journal.run_lock import run_lock
    from warehouse.lake.forgetting import find_run

    store = open_store(path)
    store.recover_journals()
    key = find_run(store.lake, run, suite)
    # Held until it is gone: a resume in between would bring some of it back.
    with run_lock(path, *key):
        if not yes:
            click.confirm(f"Forget run {run} of suite {key[0]} for good?", abort=True, err=True)
        _forget(store, key)


def _forget(store: Store, key: RunKey) -> None:
    from warehouse.lake.forgetting import forget as forget_run

    # What its process left behind since, if it was killed, goes too.
    store.recover_journals()
    n_batches = forget_run(store.lake, key)
    store.sync(rebuild=True)
    (store.path / PAGE).unlink(missing_ok=True)
    note(f"forgot {key[1]}; {n_batches} batches were written anew")
