"""`evalstore history`: the figures of a model, run by run."""

from __future__ import annotations

import shutil
import sys
from itertools import groupby
from typing import TYPE_CHECKING

import click

from warehouse.app.console.cli import (
    TableOptions,
    check_suite,
    note_wrapped,
    open_store,
    print_rows,
    say,
    say_wrapped,
    table_options,
)
from warehouse.app.console.completion import complete_model, complete_suite
from warehouse.core.errors import BadInput
from warehouse.core.suggestions import did_you_mean
from warehouse.engine.query import rows_by_name
from warehouse.engine.views.sql_files import shown_views

if TYPE_CHECKING:
    from pathlib import Path

    from warehouse.app.store import Store
    from warehouse.core.types import Row

_VIEW = "model_history"
_VERDICT = "passed"
_MODELS = """
SELECT DISTINCT model FROM results
WHERE model IS NOT NULL AND ($suite IS NULL OR suite = $suite) ORDER BY model
"""
_OF_MODEL = "model = $model AND ($suite IS NULL OR suite = $suite)"
# The rows of the view, and one of each series for every run of it that got no answer at all.
_HISTORY = f"""
WITH figures AS (FROM {_VIEW} WHERE {_OF_MODEL}),

runs AS (
    SELECT
        *, [suite, task_set, provider, model, settings] AS tasks_of_model,
        n_unanswered = n_results AS is_unanswered
    FROM scores.run_rates
    WHERE {_OF_MODEL}
),

listed AS (
    SELECT
        *, [suite, task_set, provider, model, settings] AS tasks_of_model,
        [tasks_of_model::VARCHAR, metric, scorer, filter] AS series
    FROM figures
),

unanswered AS (
    SELECT DISTINCT
        listed.suite, listed.task_set, listed.metric, listed.scorer, listed.filter,
        listed.provider, listed.model, listed.settings, runs.run_id, runs.run_date,
        runs.started_at, runs.n_tasks, runs.n_results, runs.n_unanswered
    FROM runs
    JOIN listed ON runs.tasks_of_model = listed.tasks_of_model
    WHERE runs.is_unanswered AND (runs.run_id, listed.series) NOT IN (
        SELECT (run_id, series) FROM listed
    )
),

shown AS (FROM figures UNION ALL BY NAME FROM unanswered)

SELECT shown.*
FROM shown
JOIN runs
    ON shown.run_id = runs.run_id
    AND [shown.suite, shown.task_set, shown.provider, shown.model, shown.settings]
        = runs.tasks_of_model
WHERE $metric IS NULL OR shown.metric = $metric
ORDER BY
    shown.suite, shown.task_set, shown.metric <> 'passed', shown.metric, shown.scorer,
    shown.filter, shown.provider, shown.model, shown.settings, runs.position
"""  # noqa: S608 - a constant
_DRIFT = f"SELECT * FROM drift WHERE {_OF_MODEL} AND is_drift"  # noqa: S608 - a constant
_OUTAGES = f"SELECT * FROM outages WHERE {_OF_MODEL}"  # noqa: S608 - a constant
_SERIES = ("suite", "task_set", "metric", "scorer", "filter", "provider", "model", "settings")


@click.command()
@click.argument("model", shell_complete=complete_model)
@click.option("--metric", help="Show this metric; default: passed, if there are verdicts.")
@click.option("--suite", shell_complete=complete_suite, help="Only the runs of this suite.")
@table_options
@click.pass_obj
def history(
    path: Path, model: str, *, metric: str | None, suite: str | None, output: TableOptions
) -> None:
    """Show how a MODEL did from run to run, and whether it has changed.

    On a terminal, a line for each run: the figure, its 95 % interval as a chart, and the change
    against the run before on the tasks that both asked. Pipes and other formats get the rows of
    the view model_history, and one for each run without any answer; `--wide` and `--columns` show
    them on a terminal, too.

    \b
      evalstore history example/aurora-2
      evalstore history example/aurora-2 --format csv
    """
    check_suite(path, suite)
    store = open_store(path)
    known = [name for (name,) in store.sql(_MODELS, {"suite": suite}).fetchall()]
    if model not in known:
        hint = did_you_mean(model, known, "`evalstore show leaderboard` lists the models")
        where = "" if suite is None else f" in {suite}"
        raise BadInput(f"the store has no results of a model {model!r}{where}; {hint}")
    of_model = {"model": model, "suite": suite}
    rows = _rows(store, _HISTORY, {**of_model, "metric": None})
    for row in _rows(store, _OUTAGES, of_model):
        from warehouse.app.commands.history_chart import outage_pieces, sentence

        note_wrapped(f"warning: {sentence(outage_pieces(row))}")
    metric = _chosen(rows, model, metric)
    is_plain = output.is_wide or output.columns or not sys.stdout.isatty()
    if output.fmt != "table" or is_plain:
        parameters = {**of_model, "metric": metric}
        print_rows(path, _HISTORY, output, parameters, answer=shown_views()[_VIEW].answer)
        return
    _print_charts([row for row in rows if row["metric"] == metric])
    for row in _rows(store, _DRIFT, of_model):
        from warehouse.app.commands.history_chart import drift_pieces, sentence

        say_wrapped(sentence(drift_pieces(row)))


def _print_charts(rows: list[Row]) -> None:
    from warehouse.app.commands.history_chart import chart, legend, title

    width = shutil.get_terminal_size().columns
    encoding = sys.stdout.encoding or "utf-8"
    for _, series in groupby(rows, key=lambda row: [row[name] for name in _SERIES]):
        of_series = list(series)
        say_wrapped(title(of_series[0]))
        for line in chart(of_series, width, encoding=encoding):
            say(line)
        for text in legend(of_series):
            say_wrapped(text)
        say("")


def _chosen(rows: list[Row], model: str, metric: str | None) -> str:
    """Return the metric to show: by default the verdict, and where there is none the first.

    Raises:
        BadInput: the model has no figures, or none by the metric.
    """
    known = sorted({row["metric"] for row in rows}, key=lambda name: (name != _VERDICT, name))
    if not known:
        raise BadInput(
            f"{model!r} has no figures: it got no answers, or they were not judged, or are "
            "replays, which `evalstore show replay_leaderboard` has"
        )
    if metric is not None and metric not in known:
        hint = did_you_mean(metric, known, f"its metrics are: {', '.join(known)}")
        raise BadInput(f"--metric: {model!r} has no figures by {metric!r}; {hint}")
    return metric or known[0]


def _rows(store: Store, query: str, parameters: dict[str, str | None]) -> list[Row]:
    with store.sql(query, parameters).cursor() as cursor:
        return rows_by_name(cursor)
