"""`evalstore subset`: the tasks that predict the score on all of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from warehouse.app.console.cli import (
    TableOptions,
    note_wrapped,
    open_store,
    print_values,
    say,
    say_wrapped,
    table_options,
)
from warehouse.app.console.completion import complete_run, complete_suite
from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from warehouse.analysis.items.set_answers import SetAnswers
    from warehouse.analysis.items.subsets import Judge, Judgements

_RUNNABLE = "SELECT count(plan) > 0 FROM lake.runs WHERE suite = $suite"


@click.command()
@click.argument("suite", shell_complete=complete_suite)
@click.option("--tasks", "n_tasks", type=click.IntRange(1), help="Choose so many tasks.")
@click.option(
    "--error",
    type=click.FloatRange(0, 1, min_open=True),
    help="Choose as many tasks as 90 % intervals of this half-width take: 0.02 for 2 points.",
)
@click.option("--task-set", help="The task set, if the suite has several.")
@click.option(
    "--write",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the IDs of the tasks to this new file, for `evalstore run --tasks @FILE`.",
)
@click.option(
    "--estimate",
    "run",
    shell_complete=complete_run,
    metavar="RUN",
    help="Estimate the full scores of this run's models, which were asked a part of the tasks.",
)
@table_options
@click.pass_obj
def subset(
    path: Path,
    /,
    suite: str,
    *,
    n_tasks: int | None,
    error: float | None,
    task_set: str | None,
    file: Path | None,
    run: str | None,
    output: TableOptions,
) -> None:
    """Choose tasks of SUITE from which the full score of a model not yet run can be predicted.

    The tasks are chosen on some of the stored models and judged on the others, next to random tasks
    with the same estimator and with the plain mean. It takes 10 models that were asked all tasks.

    With --estimate, the full scores of the models of a run that was asked such tasks, or with
    `evalstore run --adaptive`, with 90 % intervals.

    \b
      evalstore subset palindrome --tasks 50
      evalstore subset mine --error 0.05 --write fewer.txt
      evalstore run mine.yaml --tasks @fewer.txt --model NAME
    """
    if [n_tasks, error, run].count(None) != 2:  # noqa: PLR2004 - one of three
        raise click.UsageError("Give either --tasks or --error, or --estimate.")
    if run is not None and file is not None:
        raise click.UsageError("--write writes chosen tasks: leave out --estimate.")
    if run is not None:
        _estimate(path, suite, run, task_set, output)
        return
    # Imported here: the help must not wait for numpy.
    from warehouse.analysis.items.set_answers import read_set_answers
    from warehouse.analysis.items.subset_report import COLUMNS, subset_rows, subset_sentences
    from warehouse.core.formats.task_lists import write_task_list

    with open_store(path).reading("item_responses") as connection:
        found = read_set_answers(connection, suite, task_set, with_adaptive=False)
        row = connection.execute(_RUNNABLE, {"suite": suite}).fetchone()
    judge = _judge(suite, found)
    n_chosen, judged = _judged(judge, found, n_tasks, error)
    task_ids = _chosen(found, n_chosen)
    if output.fmt == "table":
        for text in subset_sentences(n_chosen, judged, found):
            say_wrapped(text)
        say("")
    print_values(COLUMNS, subset_rows(n_chosen, judged), output.fmt, output.layout(COLUMNS))
    if file is None:
        note_wrapped("--write FILE writes the IDs of the tasks")
        return
    write_task_list(file, task_ids)
    use = (
        f"run them with `evalstore run … --tasks @{file}`"
        if row is not None and row[0]
        else f"a list for the tool that runs {suite}"
    )
    note_wrapped(f"wrote {file}: the IDs of {len(task_ids)} tasks; {use}")


def _estimate(path: Path, suite: str, run: str, task_set: str | None, output: TableOptions) -> None:
    """Print the estimated full scores of a run's models."""
    from warehouse.analysis.items import estimates

    with open_store(path).reading("item_responses verdicts") as connection:
        bank, found = estimates.estimate_run(connection, suite, run, task_set)
    if output.fmt == "table":
        for text in estimates.estimate_sentences(bank, found):
            say_wrapped(text)
        say("")
    rows = estimates.estimate_rows(bank, found)
    print_values(estimates.COLUMNS, rows, output.fmt, output.layout(estimates.ANSWER))


def _judge(suite: str, found: SetAnswers) -> Judge:
    """Return the judge of subsets.

    Raises:
        BadInput: too few models were asked all tasks.
    """
    from warehouse.analysis.items.subsets import MIN_MODELS, Judge

    judge = Judge(found.answers, found.families)
    if judge.n_models < MIN_MODELS:
        raise BadInput(
            f"{suite}, {found.task_set}: to judge a prediction takes {MIN_MODELS} models that were "
            f"asked nine tenths of the tasks or more, and there are {judge.n_models}"
        )
    return judge


def _judged(
    judge: Judge, found: SetAnswers, n_tasks: int | None, error: float | None
) -> tuple[int, Judgements]:
    n_all = len(found.task_ids)
    if n_tasks is not None:
        if n_tasks >= n_all:
            raise BadInput(f"--tasks {n_tasks}: {found.task_set} has {n_all} tasks: run them all")
        return n_tasks, judge.judge(n_tasks)
    smallest = judge.smallest(error or 0.0)
    if smallest is None:
        raise BadInput(
            f"--error {error:g}: no part of the {n_all} tasks of {found.task_set} predicts that "
            "closely: run them all"
        )
    return smallest


def _chosen(found: SetAnswers, n_tasks: int) -> list[str]:
    from warehouse.analysis.items.bank import fit_bank
    from warehouse.analysis.items.subsets import choose_items

    items = choose_items(fit_bank(*found.answers), found.answers, n_tasks)
    if len(items) < n_tasks:
        raise BadInput(
            f"only {len(items)} tasks of {found.task_set} tell models apart: of all others, every "
            f"model passed them or none did; --tasks {len(items)}"
        )
    return [found.task_ids[item] for item in items]
