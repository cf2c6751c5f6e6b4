"""`evalstore plan`: how many tasks and attempts a comparison takes, and what it costs."""

from __future__ import annotations

from dataclasses import astuple, fields
from typing import TYPE_CHECKING

import click

from warehouse.app.commands.comparison import found_rescorer
from warehouse.app.console.cli import (
    TableOptions,
    check_suite,
    open_store,
    print_rows,
    print_values,
    say,
    say_wrapped,
    table_options,
)
from warehouse.app.console.completion import complete_model, complete_suite
from warehouse.core.errors import BadInput
from warehouse.engine.views.sql_files import shown_views

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from warehouse.analysis.decisions.planning import PlanRow, Wanted

_ANSWER = (
    "n_attempts",
    "n_tasks",
    "n_tasks_safe",
    "n_calls",
    "cost_usd",
    "is_cheapest",
    "detectable_difference",
)
_LABEL_ANSWER = (
    "scorer",
    "metric",
    "accuracy",
    "n_answers",
    "n_labels",
    "width",
    "width_of_labels",
)


@click.command()
@click.argument("model", required=False, shell_complete=complete_model)
@click.argument("other", required=False, shell_complete=complete_model)
@click.option(
    "--difference",
    type=click.FloatRange(0, min_open=True),
    help="True difference to find, in the metric's unit: 0.05 for 5 points of a pass rate.",
)
@click.option(
    "--margin",
    type=click.FloatRange(0),
    help="Plan for a gate whose `max_drop` this is, with a one-sided test.",
)
@click.option("--metric", default="passed", show_default=True, help="Metric to compare by.")
@click.option(
    "--scorer", metavar="NAME[@VERSION]", help="Take `passed` from this re-score; see rescore."
)
@click.option("--suite", shell_complete=complete_suite, help="Only this suite.")
@click.option("--task-set", help="Only this task set.")
@click.option(
    "--attempts", type=click.IntRange(1, 1000), multiple=True, help="Attempts per task. Repeatable."
)
@click.option(
    "--power",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="Probability that the difference is found.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Level of the test.",
)
@click.option(
    "--correlation",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="Without OTHER: how much the two models find the same tasks hard.",
)
@click.option(
    "--labels",
    metavar="SUITE",
    multiple=True,
    shell_complete=complete_suite,
    help="Plan labels of people instead, which correct the judges of a suite. Repeatable.",
)
@click.option(
    "--noise",
    metavar="SUITE",
    multiple=True,
    shell_complete=complete_suite,
    help="Say instead where the noise in a suite's scores is: tasks, attempts, runs. Repeatable.",
)
@table_options
@click.pass_obj
def plan(
    path: Path,
    /,
    model: str | None,
    other: str | None,
    *,
    difference: float | None,
    margin: float | None,
    metric: str,
    scorer: str | None,
    suite: str | None,
    task_set: str | None,
    attempts: tuple[int, ...],
    power: float,
    alpha: float,
    correlation: float,
    labels: tuple[str, ...],
    noise: tuple[str, ...],
    output: TableOptions,
) -> None:
    """Plan a comparison: the tasks and attempts that it takes to find a difference, and their cost.

    The variance within and between tasks, and the cost of a call, are those of MODEL and OTHER in
    the store; without OTHER, of MODEL and a model like it. MODEL and OTHER can also be
    MODEL@DATE, run:RUN_ID or tag:NAME=VALUE. With --labels: how wide the intervals of judges'
    figures will be with so many labels of a model's answers, chosen at random. With --noise:
    whether more attempts or more tasks would narrow the errors of scores, by variance_parts.

    \b
      evalstore plan example/aurora-2 example/kaamos-mini --difference 0.05
      evalstore plan example/aurora-2 --difference 0.05 --attempts 1 --attempts 4
      evalstore plan example/aurora-2 --difference 0.05 --margin 0.02
      evalstore plan --labels arena
      evalstore plan --noise palindrome
    """
    if noise:
        _say_noise(path, noise, output, is_alone=not (model or difference or labels))
        return
    if labels:
        _plan_labels(path, labels, output, is_comparison=bool(model or difference))
        return
    from warehouse.analysis.decisions.planning import ATTEMPTS, Wanted

    if model is None or difference is None:
        missing = "argument 'MODEL'" if model is None else "option '--difference'"
        raise click.UsageError(f"Missing {missing}.")
    check_suite(path, suite)
    _check(scorer, metric, margin, difference)
    wanted = Wanted(
        difference=difference,
        margin=margin,
        power=power,
        alpha=alpha,
        attempts=tuple(sorted(set(attempts))) or ATTEMPTS,
        correlation=correlation,
    )
    texts, chosen = [model] if other is None else [model, other], (metric, suite, task_set)
    with open_store(path).reading() as connection:
        plans = _plans(connection, texts, chosen, wanted=wanted, scorer=scorer)
    _write(plans, wanted, output)


def _check(scorer: str | None, metric: str, margin: float | None, difference: float) -> None:
    if scorer is not None and metric != "passed":
        raise BadInput(f"--scorer: a re-score is a verdict; leave out --metric {metric}")
    if margin is not None and margin >= difference:
        raise BadInput(f"--margin {margin}: a gate finds drops above it; --difference is not")


def _plan_labels(
    path: Path, suites: tuple[str, ...], output: TableOptions, *, is_comparison: bool
) -> None:
    from warehouse.analysis.decisions.label_planning import (
        LabelPlanRow,
        label_sentences,
        plan_labels,
    )

    if is_comparison:
        raise click.UsageError("--labels plans no comparison: leave out MODEL and --difference")
    for suite in suites:
        check_suite(path, suite)
    with open_store(path).reading() as connection:
        rows = plan_labels(connection, suites)
    if output.fmt == "table":
        for text in label_sentences(rows):
            say_wrapped(text)
        say("")
    names = [field.name for field in fields(LabelPlanRow)]
    print_values(names, map(astuple, rows), output.fmt, output.layout(_LABEL_ANSWER))


def _say_noise(
    path: Path, suites: tuple[str, ...], output: TableOptions, *, is_alone: bool
) -> None:
    from warehouse.analysis.decisions.noise import noise_sentences

    if not is_alone:
        raise click.UsageError("--noise plans nothing: leave out MODEL, --difference and --labels")
    for suite in suites:
        check_suite(path, suite)
    store = open_store(path)
    if output.fmt == "table":
        with store.reading() as connection:
            for text in noise_sentences(connection, suites):
                say_wrapped(text)
                say("")
    rows = "FROM variance_parts WHERE list_contains($suites, suite)"
    answer = shown_views()["variance_parts"].answer
    print_rows(path, rows, output, {"suites": list(suites)}, answer=answer)


def _write(plans: list[list[PlanRow]], wanted: Wanted, output: TableOptions) -> None:
    from warehouse.analysis.decisions.planning import plan_sentence

    if output.fmt == "table":
        for rows in plans:
            say_wrapped(plan_sentence(rows, wanted))
        say("")
    columns = [field.name for field in fields(plans[0][0]) if field.name != "scale"]
    values = [[getattr(row, name) for name in columns] for rows in plans for row in rows]
    answer = _ANSWER if len(plans) == 1 else ("suite", "task_set", "a", "b", *_ANSWER)
    print_values(columns, values, output.fmt, output.layout(answer))


def _plans(
    connection: duckdb.DuckDBPyConnection,
    texts: list[str],
    chosen: tuple[str, str | None, str | None],
    *,
    wanted: Wanted,
    scorer: str | None,
) -> list[list[PlanRow]]:
    from warehouse.analysis.decisions.clusters import set_clusters
    from warehouse.analysis.decisions.paired import panels
    from warehouse.analysis.decisions.planning import MIN_TASKS, mean_costs, plan_rows
    from warehouse.analysis.decisions.series import ALIASES, read_series
    from warehouse.analysis.decisions.sides import resolve_sides
    from warehouse.engine.statistics.arrays import MIN_CLUSTERS

    metric, suite, task_set = chosen
    rescorer = found_rescorer(connection, scorer, suite)
    sides = resolve_sides(connection, texts, suite=suite)
    named = ALIASES.get(metric, metric)
    found = panels(
        read_series(connection, sides, metric=named, task_set=task_set, rescorer=rescorer)
    )
    set_clusters(connection, found)
    scales = {panel.scale for panel in found if panel.scale is not None}
    if any(wanted.difference > scale for scale in scales):
        raise BadInput(
            f"--difference {wanted.difference:g}: {metric!r} goes from 0 to {max(scales):g}; "
            f"5 points are {0.05 * max(scales):g}"
        )
    costs = mean_costs(panels(read_series(connection, sides, metric="cost_usd", task_set=task_set)))
    plans = [rows for panel in found for rows in plan_rows(panel, costs, wanted)]
    if not plans:
        names = " and ".join(map(repr, texts))
        raise BadInput(
            f"{names}: fewer than {MIN_TASKS} tasks, or {MIN_CLUSTERS} clusters of them, with "
            f"values of {metric!r}, too few to plan with; run a part of the suite first"
        )
    return plans
