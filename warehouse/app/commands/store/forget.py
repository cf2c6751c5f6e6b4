"""`evalstore forget`: the permanent removal of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from warehouse.analysis.checking import PAGE
from warehouse.app.console.cli import check_suite, note, open_store
from warehouse.app.console.completion import complete_run, complete_suite
from warehouse.core.text.figures import counted

if TYPE_CHECKING:
    from pathlib import Path

    from warehouse.app.store import Store
    from warehouse.lake.batch import RunKey


@click.command()
@click.argument("run", shell_complete=complete_run)
@click.option(
    "--suite",
    shell_complete=complete_suite,
    help="Suite of the run, if several suites have a run of that name.",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def forget(path: Path, run: str, suite: str | None, *, yes: bool) -> None:
    """Remove a RUN permanently: its rows, its files, and every trace of their text.

    Prompts that were stored with it go too, unless another run uses them. Those from an imported
    task file stay.

    Hashes of its files are kept, so that importing them again does not restore the run, except
    with `evalstore import --restore`.

    \b
      evalstore forget 2026-03-04/models/example-usva-3.yaml --yes
    """
    from warehouse.lake.forgetting import find_run
    from warehouse.lake.journal.run_lock import run_lock

    check_suite(path, suite)
    store = open_store(path)
    store.recover_journals()
    key = find_run(store.lake, run, suite)
    # A run resumed in the meantime would bring some of it back.
    with run_lock(path, *key):
        if not yes:
            click.confirm(f"Permanently remove run {run} of suite {key[0]}?", abort=True, err=True)
        _forget(store, key)


def _forget(store: Store, key: RunKey) -> None:
    from warehouse.lake.forgetting import forget as forget_run

    # Also what its process left behind in the meantime, if it was killed.
    store.recover_journals()
    n_batches = forget_run(store.lake, key)
    store.sync(rebuild=True)
    (store.path / PAGE).unlink(missing_ok=True)
    note(f"forgot {key[1]}; rewrote {counted(n_batches, 'batch', 'batches')}")
