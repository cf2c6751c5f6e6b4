"""`evalstore compare`: two or more models on the tasks that both were asked."""

from __future__ import annotations

from dataclasses import astuple, fields, replace
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from warehouse.app.commands.comparison import (
    found_rescorer,
    note_corrections,
    note_runs,
    say_comparisons,
    warn,
    warn_of_unanswered,
)
from warehouse.app.console.cli import (
    TableOptions,
    check_suite,
    note_wrapped,
    open_store,
    print_values,
    say,
    say_wrapped,
    table_options,
)
from warehouse.app.console.completion import complete_side, complete_suite
from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from warehouse.analysis.decisions.comparison import Comparison, Contest
    from warehouse.analysis.decisions.paired import Missing
    from warehouse.analysis.decisions.ranks import Rank
    from warehouse.app.output.terminal import Layout

# The columns that answer, for a terminal.
_ANSWER = ("a", "b", "difference", "p_adjusted", "conclusion", "n_tasks", "slice")
_RANK_ANSWER = ("rank", "rank_low", "rank_high", "model", "mean", "groups", "n_tasks")
_TASK_ANSWER = ("task_id", "value_a", "value_b", "answer_a", "answer_b", "prompt")


class _ChosenTasks(TypedDict):
    """Options that choose tasks and values; see `Choice`."""

    suite: str | None
    task_set: str | None
    metric: str | None
    cluster: str | None
    missing: Missing
    mix_runs: bool


@click.command()
@click.argument("sides", metavar="A B [C …]", nargs=-1, shell_complete=complete_side)
@click.option("--suite", shell_complete=complete_suite, help="Compare only on tasks of this suite.")
@click.option("--task-set", help="Compare only on tasks of this task set.")
@click.option(
    "--metric",
    help="Compare by this metric; default: passed, or the main scores. "
    "Any score, cost, latency or tokens.",
)
@click.option(
    "--scorer", metavar="NAME[@VERSION]", help="Compare by the verdicts of this re-score."
)
@click.option(
    "--cluster",
    metavar="COLUMN",
    help="A column of tasks whose equal values mark tasks that depend on each other.  "
    "[default: the clusters in the store]",
)
@click.option("--margin", type=float, help="Also test that A is not worse than B by this much.")
@click.option(
    "--missing",
    type=click.Choice(("exclude", "fail")),
    default="exclude",
    show_default=True,
    help="Tasks asked but not judged: leave out, or count as 0.",
)
@click.option(
    "--mix-runs",
    is_flag=True,
    help="Take each task from the latest run that asked it, not only from the run on the board.",
)
@click.option("--seed", default=23, show_default=True, help="Seed of random subsets of tasks.")
@click.option("--tasks", is_flag=True, help="List the tasks on which they differ, with answers.")
@click.option(
    "--by", "--why", metavar="COLUMN", help="Compare each slice of the tasks by this column."
)
@click.option("--ranks", is_flag=True, help="List the ranks of three or more sides.")
@table_options
@click.pass_obj
def compare(
    path: Path,
    /,
    *,
    sides: tuple[str, ...],
    scorer: str | None,
    margin: float | None,
    seed: int,
    tasks: bool,
    by: str | None,
    ranks: bool,
    output: TableOptions,
    **chosen: Unpack[_ChosenTasks],
) -> None:
    """Compare two or more models on the tasks that both were asked.

    A side is a model (its run on the leaderboard), MODEL@2026-01-31 (of its runs until then),
    run:RUN_ID, MODEL@run:RUN_ID or tag:NAME=VALUE. Give the same model twice to compare its
    settings.

    The unit is the task; attempts at a task are averaged. Pass or fail with one attempt each is
    judged by an exact score test, several attempts and scores by a test of the mean that takes
    their bounds into account, cost and time by ratios. The interval is that of the same test.
    Several comparisons are adjusted (Holm).

    \b
      evalstore compare example/aurora-2 example/kaamos-mini
      evalstore compare example/aurora-2 example/kaamos-mini --tasks
      evalstore compare example/aurora-2 example/kaamos-mini --metric latency
      evalstore compare example/aurora-2 example/kaamos-mini --by prompt_length
    """
    _check(sides, margin, seed, is_list=[tasks, by is not None, ranks])
    check_suite(path, chosen["suite"])
    from warehouse.analysis.decisions.changed_tasks import ChangedTask, changed_tasks
    from warehouse.analysis.decisions.comparison import compare
    from warehouse.analysis.decisions.contests import Choice, find_contests, sliced
    from warehouse.analysis.decisions.ranks import ranks as ranks_of

    with open_store(path).reading() as connection:
        choice = Choice(**chosen, rescorer=found_rescorer(connection, scorer, chosen["suite"]))
        whole = find_contests(connection, sides, choice)
        _warn_without_clusters(whole, chosen["cluster"])
        contests = whole if by is None else sliced(connection, whole, by)
        rows = compare(contests, margin=margin, seed=seed)
        answers = changed_tasks(connection, whole) if tasks else []
        ranked = ranks_of(rows)
        if ranks and not ranked:
            raise BadInput("--ranks: ranks need three or more sides with tasks in common")
        _say_slice_tests(whole, contests, by, seed, is_table=output.fmt == "table")
        if output.fmt == "table":
            say_comparisons(connection, rows, contests, margin)
        else:
            note_corrections(connection, whole)
        warn_of_unanswered(connection, whole if scorer is None else ())
    warn(rows)
    note_runs(whole)
    if tasks:
        print_values(ChangedTask._fields, answers, output.fmt, output.layout(_TASK_ANSWER))
        return
    _print_tables(rows, ranked, output, is_ranks_only=ranks)


def _warn_without_clusters(contests: Sequence[Contest], cluster: str | None) -> None:
    if cluster is not None and not _is_clustered(contests):
        note_wrapped(f"warning: no two tasks have the same {cluster!r}: each counts by itself")


def _is_clustered(contests: Sequence[Contest]) -> bool:
    return any(contest.paired.clusters is not None for contest in contests)


def _say_slice_tests(
    whole: Sequence[Contest],
    slices: Sequence[Contest],
    by: str | None,
    seed: int,
    *,
    is_table: bool,
) -> None:
    """Say whether the difference depends on the column by which the tasks are sliced, if any."""
    from warehouse.analysis.decisions.slices import slice_sentences

    if by is None:
        return
    if _is_clustered(whole):
        note_wrapped(
            f"of tasks in clusters it is not tested whether the difference depends on {by}"
        )
    for text in slice_sentences(whole, slices, by, seed=seed):
        (say_wrapped if is_table else note_wrapped)(text)


def _check(
    sides: Sequence[str], margin: float | None, seed: int, *, is_list: Sequence[bool]
) -> None:
    if len(sides) < 2:  # noqa: PLR2004 - two sides
        raise BadInput(
            "name two sides or more: `evalstore compare A B`; "
            "`evalstore show leaderboard` lists the models"
        )
    if margin is not None and not 0 < margin < float("inf"):
        raise BadInput("--margin: give a number above 0, such as 0.02 for 2 points")
    if seed < 0:
        raise BadInput("--seed: give a whole number from 0")
    if sum(is_list) > 1:
        raise BadInput("--tasks, --by and --ranks each print a table of their own: choose one")


def _print_tables(
    rows: Sequence[Comparison], ranked: Sequence[Rank], output: TableOptions, *, is_ranks_only: bool
) -> None:
    """Print the ranks, if they are asked for or come before a table, and the comparisons."""
    from warehouse.analysis.decisions.comparison import Comparison
    from warehouse.analysis.decisions.ranks import Rank

    is_shares = all(row.metric == "passed" for row in rows)
    if is_ranks_only or (ranked and output.fmt == "table"):
        shares = ("mean",) if is_shares else ()
        layout = replace(output.layout(_RANK_ANSWER), shares=shares)
        print_values([f.name for f in fields(Rank)], map(astuple, ranked), output.fmt, layout)
    if is_ranks_only:
        return
    if ranked and output.fmt == "table":
        say("")
    layout = _comparisons_layout(output, is_shares=is_shares)
    print_values([f.name for f in fields(Comparison)], map(astuple, rows), output.fmt, layout)


def _comparisons_layout(output: TableOptions, *, is_shares: bool) -> Layout:
    """Return how the table of comparisons is shown: shares in percent, if all means are shares."""
    return replace(
        output.layout(_ANSWER),
        shares=("mean_a", "mean_b") if is_shares else (),
        points=("difference", "detectable_difference") if is_shares else (),
        intervals={"difference": ("low", "high")},
    )
