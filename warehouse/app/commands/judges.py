"""`evalstore judges`: how good judges are."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import click

from warehouse.app.console.cli import (
    TableOptions,
    check_suite,
    note,
    open_store,
    print_rows,
    say,
    say_wrapped,
    table_options,
)
from warehouse.app.console.completion import complete_suite
from warehouse.engine.views.sql_files import shown_views

if TYPE_CHECKING:
    from pathlib import Path

_VIEW = "judge_agreement"
_ROWS = f"FROM {_VIEW} WHERE $suite IS NULL OR suite = $suite"


@click.command()
@click.argument("suite", required=False, shell_complete=complete_suite)
@table_options
@click.pass_obj
def judges(store: Path, suite: str | None, output: TableOptions) -> None:
    """Say how good the judges of SUITE are: do they agree with people, does the order sway them?

    Judges are models that rated answers or voted on pairs of them. Each is compared with the
    labels of people, and with gold, on the same answers; with --format, --wide or --columns come
    the rows of the view judge_agreement, where judges are compared with each other, too.

    \b
      evalstore judges
      evalstore judges --format csv
    """
    check_suite(store, suite)
    if output.fmt != "table" or output.is_wide or output.columns:
        parameters = {"suite": suite}
        print_rows(store, _ROWS, output, parameters, answer=shown_views()[_VIEW].answer)
        return
    # Imported here: the help must not wait for DuckDB.
    from warehouse.analysis.judges import judges as find_judges
    from warehouse.analysis.judges import people, sentences

    with open_store(store).reading() as connection:
        found = find_judges(connection, suite)
        people_said = people(connection)
    if not found:
        note("no judge has rated anything here; docs/judges.md says which logs have judges")
    by_criterion = groupby(found, key=lambda each: (each.suite, each.kind, each.criterion))
    for (of_suite, kind, criterion), members in by_criterion:
        say(f"{of_suite}: {kind}s, {criterion}\n")
        if agreement := people_said.get((of_suite, kind, criterion)):
            say("people")
            say_wrapped(f"{agreement}\n")
        for judge in members:
            say(judge.name)
            say_wrapped(" ".join(sentences(judge)))
            say("")
