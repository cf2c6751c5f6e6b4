"""`evalstore rescore`: the verdicts of a changed scorer on stored answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from warehouse.app.console.cli import TableOptions, note, open_store, print_rows, table_options
from warehouse.app.console.completion import complete_run, complete_suite

if TYPE_CHECKING:
    from datetime import datetime

    from runners.rescore.rescore import RescoreReport

_SUITES = "SELECT DISTINCT suite FROM lake.runs"
_CHANGES = """
SELECT
    suite, model, settings, count(*) AS n_rescored,
    count(*) FILTER (passed) AS n_passed_before,
    count(*) FILTER (rescored) AS n_passed,
    count(*) FILTER (change = 'gained') AS n_gained,
    count(*) FILTER (change = 'lost') AS n_lost,
    count(*) FILTER (rescored IS NULL) AS n_undecided
FROM rescored_verdicts
WHERE suite = $suite AND scorer = $scorer AND version = $version
    AND ($runs IS NULL OR list_contains($runs, run_id))
GROUP BY suite, model, settings
ORDER BY suite, model, settings
"""


_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("target", metavar="[FILE|RUN]", required=False, type=click.Path())
@click.option(
    "--scorer", type=_FILE, help="With a RUN: judge its answers by the scorer of this file."
)
@click.option(
    "--run",
    "runs",
    multiple=True,
    shell_complete=complete_run,
    help="Judge only the answers of this run; repeatable.",
)
@click.option("--name", help="Name of the scorer.  [default: the file's name]")
@click.option(
    "--suite",
    shell_complete=complete_suite,
    help="Suite of the answers.  [default: the one that the file names]",
)
@click.option(
    "--as-of",
    metavar="DATE",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Without a FILE: score posters by the ground truth as of the end of this day, UTC.",
)
@click.option("--tasks", is_flag=True, help="With --as-of: list each poster.")
@table_options
@click.pass_obj
def rescore(
    path: Path,
    target: str | None,
    *,
    scorer: Path | None,
    runs: tuple[str, ...],
    name: str | None,
    suite: str | None,
    as_of: datetime | None,
    tasks: bool,
    output: TableOptions,
) -> None:
    """Judge stored answers by the scorers of FILE: a suite's file, or openclaw prompts.

    No model is called. The verdicts are stored next to the others, as `rescored`, with the name of
    the scorer and its version, a hash of its rules: `passed` does not change, nor does any export.
    The view rescored_verdicts has all of them, and what changed. The same file again adds nothing.

    An answer is judged by the rule of the task with the same ID, if it has the same prompt.
    Where a log does not hold the prompt, it is that of the task set that the run used.

    The answers of a RUN of any tool can be judged by a scorer alone: with `--scorer` the file has
    a `scorer`, and the references are those of the tasks in the store.

    Poster predictions have no such file: `--as-of` scores them by the ground truth as it was at a
    date, next to today's scores. Nothing is stored.

    \b
      evalstore rescore tasks/house_tools.json
      evalstore rescore tasks/house_tools.json --run 20260303_140000 --name strict
      evalstore rescore 2026-03-04/models/example-usva-3.yaml --scorer lenient.yaml
      evalstore rescore --as-of 2026-05-01
    """
    if as_of is not None:
        if (target, name, suite, scorer) != (None, None, None, None):
            raise click.UsageError("--as-of is about posters: it takes no FILE, --name or --suite")
        _print_as_of(path, as_of, runs, output, is_by_poster=tasks)
    elif target is None or tasks:
        raise click.UsageError("--tasks needs --as-of" if tasks else "give a FILE, or --as-of DATE")
    else:
        _rescore(path, target, scorer, runs, output, name=name, suite=suite)


def _rescore(
    path: Path,
    target: str,
    bare: Path | None,
    runs: tuple[str, ...],
    output: TableOptions,
    *,
    name: str | None,
    suite: str | None,
) -> None:
    from runners.judging.answers import stored_answers
    from runners.rescore.rescore import rescore as rescore_answers
    from runners.rescore.scorer import read_bare_scorer, read_scorer
    from warehouse.lake.forgetting import find_run

    store = open_store(path)
    if bare is None:
        context = click.get_current_context()
        file: Path = _FILE.convert(target, context.command.params[0], context)
        suites = [name for (name,) in store.sql(_SUITES).fetchall()]
        scorer = read_scorer(file, name=name, suite=suite, suites=suites)
    else:
        runs = (target, *runs)
        found = [find_run(store.lake, run, suite) for run in runs]
        answers = (answer for run in found for answer in stored_answers(store, run, needs=()))
        scorer = read_bare_scorer(bare, name=name, suite=found[0][0], answers=answers)
    keys = [find_run(store.lake, run, scorer.suite) for run in runs] or None
    report = rescore_answers(store, scorer, keys)
    no_rule = "the file has no rule for the task"
    if bare is not None:
        no_rule = "the store has no reference for the task that suits the scorer"
    for line in _lines(report, no_rule):
        note(line)
    note(f"scorer {scorer.name}@{scorer.version}: {_answers(report.n_new)} judged")
    parameters = {
        "suite": scorer.suite,
        "scorer": scorer.name,
        "version": scorer.version,
        "runs": list(runs) or None,
    }
    print_rows(path, _CHANGES, output, parameters)


def _print_as_of(
    path: Path,
    as_of: datetime,
    runs: tuple[str, ...],
    output: TableOptions,
    *,
    is_by_poster: bool,
) -> None:
    from runners.rescore.poster_gold import MODELS, POSTERS, SUITE, parameters
    from warehouse.lake.forgetting import find_run

    store = open_store(path)
    for run in runs:
        find_run(store.lake, run, SUITE)
    query = POSTERS if is_by_poster else MODELS
    print_rows(path, query, output, parameters(as_of.date(), runs))


def _lines(report: RescoreReport, no_rule: str) -> list[str]:
    counts = (
        (report.n_known, "judged before by this version"),
        (report.n_undecided, "without a verdict: see `reason` in rescored_verdicts"),
        (report.n_other_prompt, "not judged: the file has another prompt for the task"),
        (
            report.n_unknown_prompt,
            "not judged: the prompt is not known; import the task set of the run",
        ),
        (report.n_other_task, f"not judged: {no_rule}"),
    )
    return [f"{_answers(n)} {text}" for n, text in counts if n]


def _answers(count: int) -> str:
    return f"{count:,} answer" if count == 1 else f"{count:,} answers"
