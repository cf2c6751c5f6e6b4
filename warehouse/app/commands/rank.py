"""`evalstore rank`: models ranked by votes between their answers."""

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
from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from warehouse.engine.statistics.bradley_terry import Ties
    from warehouse.engine.vote_counts import Cluster, Control, VoteSource

_TIES = {"half": "a tie is half a win each", "davidson": "ties have a parameter of their own"}


@click.command()
@click.argument("suite", required=False, shell_complete=complete_suite)
@click.option("--criterion", help="Only votes by this criterion.")
@click.option("--rater", help="Only votes of this judge, or of `people`.")
@click.option(
    "--ties",
    type=click.Choice(tuple(_TIES)),
    default="half",
    show_default=True,
    help="What a tie is: half a win each, or an outcome of its own (Davidson).",
)
@click.option(
    "--cluster",
    type=click.Choice(("task", "rater")),
    help="What votes depend on; by default tasks, or raters where there are 20 of only these.",
)
@click.option(
    "--control",
    type=click.Choice(("length",)),
    help="Rank models as if their answers were equally long.",
)
@table_options
@click.pass_obj
def rank(
    store: Path,
    /,
    suite: str | None,
    *,
    criterion: str | None,
    rater: str | None,
    ties: Ties,
    cluster: Cluster | None,
    control: Control | None,
    output: TableOptions,
) -> None:
    """Rank the models of SUITE by votes between their answers: of people, or of one judge.

    The scores are those of Bradley and Terry's model: the difference of two is the logit of one
    being preferred to the other. The ranks that the votes leave open hold for all models together
    with 95 %; below 20 tasks, or raters, there are none.

    \b
      evalstore rank
      evalstore rank --rater gpt-4o-mini --ties davidson
      evalstore rank --control length
    """
    # Imported here: the help must not wait for DuckDB.
    from warehouse.analysis.votes import ANSWER, COLUMNS, choose_votes, rank_by_votes

    with open_store(store).reading() as connection:
        source = choose_votes(connection, suite, criterion, rater)
        by = cluster or source.clusters()
        if by == "rater" and not source.n_raters:
            raise BadInput("--cluster rater: the votes do not say whose they are")
        rows = rank_by_votes(connection, source, ties, by, control)
    answer = (*ANSWER, "control") if control else ANSWER
    print_values(COLUMNS, rows, output.fmt, output.layout(answer))
    n_clusters = source.n_tasks if by == "task" else source.n_raters
    has_ranks = rows[0][1] is not None
    shown = "intervals by" if has_ranks else "no intervals, for lack of enough"
    limits = _limits(source, by) if has_ranks else ""
    note_wrapped(
        f"votes of {source.rater} in {source.suite}, {source.criterion}; {_TIES[ties]}; "
        f"{_at_equal_length(rows[0]) if control else ''}{shown} {by}s ({n_clusters:,}){limits}"
    )


def _limits(source: VoteSource, by: Cluster) -> str:
    """Return of what intervals say nothing: of other tasks, or of other people than a few."""
    from warehouse.engine.statistics.arrays import MIN_CLUSTERS

    is_people = source.rater == "people"
    if by == "task" and is_people and not source.n_raters:
        return "; how many people voted is not recorded"
    is_few = is_people and source.n_raters < MIN_CLUSTERS
    if by == "task" and not is_few:
        return ""
    what, n = ("tasks", source.n_tasks) if by == "rater" else ("people", source.n_raters)
    return f"; they say nothing of other {what} than {'this one' if n == 1 else f'these {n:,}'}"


def _at_equal_length(row: Sequence[object]) -> str:
    """Return what the scores are of, and what length alone is worth."""
    *_, effect, error = row
    known = "" if error is None else f", standard error {error:.2f}"
    return f"at equal length: a much longer answer gains {effect:+.2f} in logits{known}; "
