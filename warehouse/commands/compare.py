"""`evalstore compare`: two models on the tasks that both attempted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from warehouse.cli import (
    TableOptions,
    check_suite,
    open_store,
    print_rows,
    say,
    say_wrapped,
    table_options,
)
from warehouse.commands.comparison import score_sentence, sentence
from warehouse.completion import complete_model, complete_suite
from warehouse.errors import BadInput
from warehouse.output.suggestions import did_you_mean
from warehouse.sql_files import shown_views

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from warehouse.store import Store
    from warehouse.types import Row

_MODELS = "SELECT DISTINCT model FROM results WHERE model IS NOT NULL ORDER BY model"
_IS_PAIR = "(model_a, model_b) IN (($a, $b), ($b, $a)) AND ($suite IS NULL OR suite = $suite)"
_VERDICT_VIEW, _SCORE_VIEW = "paired_comparisons", "score_comparisons"
_VERDICT = "passed"
_VERDICTS = f"SELECT * FROM {_VERDICT_VIEW} WHERE {_IS_PAIR}"  # noqa: S608 - a constant
# Without `--metric`, posters are compared by their main score, and logs without verdicts by all.
_MAIN_SCORES = f"""
SELECT *
FROM {_SCORE_VIEW}
WHERE {_IS_PAIR} AND (suite <> 'posters' OR metric = 'app_quality')
"""  # noqa: S608 - a constant
_SCORES = f"""
SELECT * EXCLUDE (n_both, n_neither)
FROM scores.compared_pairs
WHERE {_IS_PAIR} AND metric = $metric AND task_set IS NOT NULL
ORDER BY suite, task_set, scorer, filter, p_value, model_a, settings_a, model_b, settings_b
"""  # noqa: S608 - a constant
_METRICS = f"SELECT DISTINCT metric FROM scores.compared_pairs WHERE {_IS_PAIR} ORDER BY ALL"  # noqa: S608 - a constant
_TASKS = """
SELECT
    a.suite, a.task_set, a.task_id, a.metric, a.scorer, a.filter,
    a.provider AS provider_a, a.model AS model_a, a.settings AS settings_a, a.score AS score_a,
    b.provider AS provider_b, b.model AS model_b, b.settings AS settings_b, b.score AS score_b
FROM scores.latest_scores AS a
JOIN scores.latest_scores AS b
    ON a.suite = b.suite AND a.task_set = b.task_set AND a.task_id = b.task_id
    AND a.metric = b.metric AND a.scorer IS NOT DISTINCT FROM b.scorer
    AND a.filter IS NOT DISTINCT FROM b.filter
WHERE a.model = $a AND b.model = $b AND a.score <> b.score AND a.metric = $metric
    AND (
        a.model <> b.model
        OR (coalesce(a.provider, chr(30)), a.settings) < (coalesce(b.provider, chr(30)), b.settings)
    )
    AND ($suite IS NULL OR a.suite = $suite)
ORDER BY ALL
"""
_PASSED_TASKS = f"""
SELECT
    suite, task_set, task_id, provider_a, model_a, settings_a, score_a AS pass_rate_a,
    provider_b, model_b, settings_b, score_b AS pass_rate_b
FROM ({_TASKS})
WHERE scorer IS NULL AND filter IS NULL
ORDER BY ALL
"""  # noqa: S608 - a constant
# The columns of a list of tasks that answer.
_ANSWER = ("task_id", "model_a", "pass_rate_a", "score_a", "model_b", "pass_rate_b", "score_b")


@click.command()
@click.argument("model_a", shell_complete=complete_model)
@click.argument("model_b", shell_complete=complete_model)
@click.option("--suite", shell_complete=complete_suite, help="Compare only on tasks of this suite.")
@click.option("--metric", help="Compare by this metric; default: passed, if there are verdicts.")
@click.option("--tasks", is_flag=True, help="List the tasks on which the two differ.")
@table_options
@click.pass_obj
def compare(
    path: Path,
    model_a: str,
    model_b: str,
    suite: str | None,
    metric: str | None,
    *,
    tasks: bool,
    output: TableOptions,
) -> None:
    """Compare MODEL_A and MODEL_B on the tasks that both were asked.

    The unit is the task, by each model's latest run of it, and attempts at a task are averaged.
    Pass or fail with one attempt each is judged by McNemar's exact test, anything else by a paired
    t test over the tasks, with Holm's adjustment over all pairs. `--metric` takes any score:
    of imported logs, or of posters, which are compared by app_quality by default (use
    `--suite posters` for models that also attempted other tasks). Give the same name twice to
    compare a model's settings.

    \b
      evalstore compare example/aurora-2 example/kaamos-mini
      evalstore compare example/aurora-2 example/kaamos-mini --tasks
    """
    check_suite(path, suite)
    store = open_store(path)
    _check_models(store, (model_a, model_b))
    parameters = {"a": model_a, "b": model_b, "suite": suite}
    pairs = _rows(store, _VERDICTS, parameters) if metric in {None, _VERDICT} else []
    if pairs:
        query, view, in_words = _VERDICTS, _VERDICT_VIEW, sentence
    else:
        query, view, in_words = _MAIN_SCORES, _SCORE_VIEW, score_sentence
        if metric is not None:
            query, parameters["metric"] = _SCORES, metric
        pairs = _rows(store, query, parameters)
    if not pairs:
        raise _nothing_shared(store, parameters)
    if output.fmt == "table":
        for pair in pairs:
            say_wrapped(in_words(pair, first=model_a))
        say("")
    if tasks:
        query = _PASSED_TASKS if view == _VERDICT_VIEW else _TASKS
        parameters["metric"] = _VERDICT if view == _VERDICT_VIEW else metric or pairs[0]["metric"]
    print_rows(path, query, output, parameters, answer=_ANSWER if tasks else _answer(view))


def _answer(view: str) -> tuple[str, ...]:
    return shown_views()[view].answer


def _nothing_shared(store: Store, parameters: dict[str, str | None]) -> BadInput:
    """Return the error that two models have no task in common, by the metric if one was given."""
    names = f"{parameters['a']!r} and {parameters['b']!r}"
    metric = parameters.pop("metric", None)
    if metric is None:
        hint = "`evalstore show leaderboard` lists the models"
        return BadInput(f"{names} have no scored task in common; {hint}")
    known = [row["metric"] for row in _rows(store, _METRICS, parameters)]
    shared = f"they share: {', '.join(known)}" if known else "they share none by any metric"
    hint = did_you_mean(metric, known, shared)
    return BadInput(f"--metric: {names} have no task in common with a score {metric!r}; {hint}")


def _rows(store: Store, query: str, parameters: dict[str, str | None]) -> list[Row]:
    with store.sql(query, parameters).cursor() as cursor:
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _check_models(store: Store, names: Iterable[str]) -> None:
    known = [name for (name,) in store.sql(_MODELS).fetchall()]
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known, "`evalstore show leaderboard` lists the models")
            raise BadInput(f"the store has no results of a model {name!r}; {hint}")
