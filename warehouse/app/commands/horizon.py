"""`evalstore horizon`: how long the tasks are that models pass half of the time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from warehouse.app.console.cli import (
    TableOptions,
    check_suite,
    note_wrapped,
    open_store,
    print_values,
    table_options,
)
from warehouse.app.console.completion import complete_suite

if TYPE_CHECKING:
    from pathlib import Path

    from warehouse.analysis.items.horizon import Weights

_WEIGHTS = {
    "invsqrt": "tasks weigh less in larger families, by the square root of their number",
    "equal": "all tasks weigh the same",
    "recorded": "weights as the log records them",
}


@click.command()
@click.argument("suite", shell_complete=complete_suite)
@click.option("--run", help="Only this run; by default all runs of the suite count.")
@click.option(
    "--weights",
    type=click.Choice(tuple(_WEIGHTS)),
    default="invsqrt",
    show_default=True,
    help="What tasks weigh: less in larger families, all the same, or as recorded.",
)
@click.option(
    "--regularisation",
    type=click.FloatRange(min=1e-9, max=1e3),
    default=1e-5,
    show_default=True,
    help="Ridge on the slope; METR's first paper has 0.1.",
)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True)
@table_options
@click.pass_obj
def horizon(
    store: Path,
    /,
    suite: str,
    *,
    run: str | None,
    weights: Weights,
    regularisation: float,
    seed: int,
    output: TableOptions,
) -> None:
    """Say how long the tasks are that the models of SUITE pass: half of them, and 80 %.

    The lengths are minutes that a person needs. The horizon follows from a logistic regression of
    verdicts on their logarithm; docs/horizons.md says what it means, and what it does not.

    \b
      evalstore horizon metr
      evalstore horizon metr --weights equal --regularisation 0.1
    """
    check_suite(store, suite)
    # Imported here: the help must not wait for DuckDB.
    from warehouse.analysis.items.horizon import ANSWER, COLUMNS, HorizonOptions, horizons

    options = HorizonOptions(weights=weights, regularisation=regularisation, seed=seed)
    with open_store(store).reading() as connection:
        rows = horizons(connection, suite, run, options)
    print_values(COLUMNS, rows, output.fmt, output.layout(ANSWER))
    sums = "" if weights == "recorded" else ", of weights that sum to 1"
    note_wrapped(
        f"{_WEIGHTS[weights]}; regularisation {regularisation:g}{sums}; 95 % intervals by "
        f"{options.n_draws:,} draws of families, tasks and results, seed {seed}; left out: results "
        "without a verdict (n_unjudged), tasks without human_minutes, people"
    )
