"""`evalstore tag`: names for runs, such as the release that they tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from warehouse.app.console.cli import (
    TableOptions,
    check_suite,
    note,
    open_store,
    print_rows,
    table_options,
)
from warehouse.app.console.completion import complete_run, complete_suite
from warehouse.engine.views.sql_files import shown_views

if TYPE_CHECKING:
    from pathlib import Path

_VIEW = "run_tags"
_QUERY = f"SELECT * FROM {_VIEW} WHERE suite = $suite AND run_id = $run_id"  # noqa: S608 - a constant


@click.command()
@click.argument("run", shell_complete=complete_run)
@click.argument("tags", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--remove", multiple=True, metavar="NAME", help="Remove this tag; repeatable.")
@click.option(
    "--suite",
    shell_complete=complete_suite,
    help="Suite of the run, if several suites have a run of that name.",
)
@table_options
@click.pass_obj
def tag(
    path: Path,
    run: str,
    tags: tuple[str, ...],
    remove: tuple[str, ...],
    suite: str | None,
    *,
    output: TableOptions,
) -> None:
    """Tag a RUN with NAME=VALUE; without any, list its tags.

    Setting a tag again replaces its value. `NAME=` or `--remove NAME` removes it. Every change is
    kept in the lake (`lake.tags`); the view run_tags has the tags that are set, and `runs.tags`
    those of each run.

    \b
      evalstore tag 2026-03-04/models/example-usva-3.yaml release=1.4 baseline=yes
      evalstore tag 2026-03-04/models/example-usva-3.yaml --remove baseline
      evalstore tag 2026-03-04/models/example-usva-3.yaml
      evalstore sql "from runs where tags['release'] = '1.4'"
    """
    from warehouse.engine.tags import parse_change
    from warehouse.engine.tags import tag as tag_run
    from warehouse.lake.forgetting import find_run

    changes = [parse_change(text) for text in (*tags, *(f"{name}=" for name in remove))]
    check_suite(path, suite)
    store = open_store(path)
    store.recover_journals()
    key = find_run(store.lake, run, suite)
    if not changes:
        parameters = {"suite": key[0], "run_id": key[1]}
        print_rows(path, _QUERY, output, parameters, answer=shown_views()[_VIEW].answer)
        return
    n_changed = tag_run(store, key, changes)
    noun = "tag" if n_changed == 1 else "tags"
    n_kept = len(changes) - n_changed
    note(f"changed {n_changed} {noun} of {key[1]}" + (f"; {n_kept} as before" if n_kept else ""))
