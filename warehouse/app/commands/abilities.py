"""`evalstore abilities`: systems and items on one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from warehouse.app.console.cli import (
    TableOptions,
    note_wrapped,
    open_store,
    print_values,
    table_options,
)
from warehouse.app.console.completion import complete_suite

if TYPE_CHECKING:
    from pathlib import Path

    from warehouse.engine.statistics.item_response import Model


@click.command()
@click.argument("suite", shell_complete=complete_suite)
@click.option("--task-set", help="Only items of this task set.")
@click.option("--metric", help="Score of 0 and 1 that says what passed; by default the verdict.")
@click.option(
    "--model",
    type=click.Choice(("rasch", "2pl")),
    help="Item response model; by default the one that predicts better.",
)
@click.option("--items", "by_item", is_flag=True, help="Print the items, not the systems.")
@table_options
@click.pass_obj
def abilities(
    store: Path,
    /,
    suite: str,
    *,
    task_set: str | None,
    metric: str | None,
    model: Model | None,
    by_item: bool,
    output: TableOptions,
) -> None:
    """Say how able the systems are that answered items of SUITE, and how difficult these are.

    Systems that answered different items are on one scale: a difference of 1 in ability, less the
    difficulty, is a factor of e in the odds of a pass. Five systems or more are needed. The ranks
    that the answers leave open hold for all systems together with 95 %.

    \b
      evalstore abilities palindrome
      evalstore abilities palindrome --items
      evalstore abilities palindrome --format json
    """
    # Imported here: the help must not wait for DuckDB.
    from warehouse.analysis.items import abilities as analysis
    from warehouse.analysis.items.responses import read_responses

    with open_store(store).reading("item_responses") as connection:
        responses = read_responses(connection, suite, task_set=task_set, metric=metric)
    found = analysis.find_abilities(responses, suite, model)
    if by_item:
        columns, answer = analysis.ITEM_COLUMNS, analysis.ITEM_ANSWER
        rows = analysis.item_rows(found)
    else:
        columns, answer = analysis.SYSTEM_COLUMNS, analysis.SYSTEM_ANSWER
        rows = analysis.system_rows(found)
    print_values(columns, rows, output.fmt, output.layout(answer))
    note_wrapped(" ".join(analysis.sentences(found)))
