"""`evalstore version`: which run's tasks are the version of its task sets that counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from warehouse.app.console.cli import check_suite, note, open_store
from warehouse.app.console.completion import complete_run, complete_suite

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("suite", shell_complete=complete_suite)
@click.argument("run", shell_complete=complete_run)
@click.option("--remove", is_flag=True, help="Let the tasks of this run decide no longer.")
@click.pass_obj
def version(path: Path, suite: str, run: str, *, remove: bool) -> None:
    """Declare that the tasks of a RUN are the version of its task sets that counts.

    Without it the version is what a task file or suite declares, else the largest set that one run
    asked. Boards, comparisons and histories follow: of each model the latest run that asked most of
    these tasks stands on the leaderboard. The declaration is a tag of the run, `task-set-version`;
    of several runs the one declared last counts.

    \b
      evalstore version palindrome 2026-03-04/models/example-usva-3.yaml
      evalstore version palindrome 2026-03-04/models/example-usva-3.yaml --remove
    """
    from datetime import UTC, datetime

    from warehouse.engine.tags import VERSION_TAG, TagChange, tag
    from warehouse.lake.forgetting import find_run

    check_suite(path, suite)
    store = open_store(path)
    store.recover_journals()
    key = find_run(store.lake, run, suite)
    value = None if remove else datetime.now(UTC).isoformat(timespec="milliseconds")
    tag(store, key, [TagChange(VERSION_TAG, value)])
    if remove:
        note(f"the tasks of {key[1]} no longer decide which version of its task sets counts")
    else:
        note(f"the tasks of {key[1]} are the version of its task sets that counts")
