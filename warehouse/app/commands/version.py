"""`evalstore version`: which tasks a task set consists of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from warehouse.app.console.cli import (
    TableOptions,
    check_suite,
    note,
    note_wrapped,
    open_store,
    print_values,
    table_options,
)
from warehouse.app.console.completion import complete_run, complete_suite
from warehouse.app.console.task_version import TASK_VERSION

if TYPE_CHECKING:
    from pathlib import Path

_ANSWER = ("version", "task_set", "task_id", "n_raters_wrong", "n_raters", "raters", "notes")


@click.command()
@click.argument("suite", shell_complete=complete_suite)
@click.argument("run", required=False, shell_complete=complete_run)
@click.option("--remove", is_flag=True, help="Let the tasks of this run decide no longer.")
@click.option(
    "--without-wrong",
    "name",
    metavar="NAME",
    help="Name the version without the tasks that people rated as wrong in `evalstore view`.",
)
@click.option(
    "--raters",
    "n_raters",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="With --without-wrong: how many raters must say so.",
)
@table_options
@click.pass_obj
def version(
    path: Path,
    suite: str,
    run: str | None,
    *,
    remove: bool,
    name: str | None,
    n_raters: int,
    output: TableOptions,
) -> None:
    """Declare that the tasks of a RUN are the version of its task sets that counts.

    Without it the version is what a task file or suite declares, else the largest set that one run
    asked. Boards, comparisons and histories follow: of each model the latest run that asked most of
    these tasks stands on the leaderboard. The declaration is a tag of the run, `task-set-version`;
    of several runs the one declared last counts.

    With --without-wrong, no figure changes: the tasks that are rated as wrong now are kept under a
    name, and `evalstore --task-version NAME show leaderboard` has the figures without them. Later
    ratings do not change it. Without a RUN, the versions that were named are listed.

    \b
      evalstore version palindrome 2026-03-04/models/example-usva-3.yaml
      evalstore version palindrome 2026-03-04/models/example-usva-3.yaml --remove
      evalstore version palindrome
    """
    if run is not None and name is not None:
        raise click.UsageError("Give either a RUN or --without-wrong.")
    if run is None and remove:
        raise click.UsageError("--remove needs a RUN.")
    check_suite(path, suite)
    if run is not None:
        _declare(path, suite, run, remove=remove)
        return
    from warehouse.app.task_versions import COLUMNS, name_version, read_versions

    store = open_store(path)
    if name is not None:
        store.recover_journals()
        named = [name_version(store, suite, name, n_raters)]
    else:
        named = [each for each in read_versions(store) if each.suite == suite]
    rows = [row for each in named for row in each.rows()]
    print_values(COLUMNS, rows, output.fmt, output.layout(_ANSWER))
    for each in named:
        note_wrapped(f"{each.sentence}: `evalstore --task-version '{each.name}' show leaderboard`")


def choose_task_version(context: click.Context, name: str) -> None:
    """Let the command of a context read a named version of task sets, and say so on stderr.

    Raises:
        BadInput: there is no such version.
    """
    from warehouse.app.filtered_warehouse import without_tasks
    from warehouse.app.task_versions import find_version

    store = open_store(context.obj)
    found = find_version(store, name)
    copy = without_tasks(store, found.left_out, found.sentence)
    context.meta[TASK_VERSION] = context.with_resource(copy)
    note_wrapped(found.sentence)


def _declare(path: Path, suite: str, run: str, *, remove: bool) -> None:
    from datetime import UTC, datetime

    from warehouse.engine.tags import VERSION_TAG, TagChange, tag
    from warehouse.lake.forgetting import find_run

    store = open_store(path)
    store.recover_journals()
    key = find_run(store.lake, run, suite)
    value = None if remove else datetime.now(UTC).isoformat(timespec="milliseconds")
    tag(store, key, [TagChange(VERSION_TAG, value)])
    if remove:
        note(f"the tasks of {key[1]} no longer decide which version of its task sets counts")
    else:
        note(f"the tasks of {key[1]} are the version of its task sets that counts")
