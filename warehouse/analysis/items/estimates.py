"""Full scores of models that were asked a part of the tasks, estimated from a bank of others."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from warehouse.analysis.items.bank import Bank, fit_bank, predict_scores
from warehouse.analysis.items.set_answers import read_set_answers
from warehouse.analysis.items.subsets import MIN_MODELS, Judge
from warehouse.core.errors import BadInput
from warehouse.core.suggestions import did_you_mean
from warehouse.core.text.figures import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import duckdb

_RUNS = "SELECT run_id, plan FROM lake.runs WHERE suite = $suite ORDER BY run_id, plan IS NULL"
_ANSWERS = """
SELECT model, settings, task_set, task_id,
    count(*) FILTER (passed) AS n_passed, count(passed) AS n_judged, count(*) AS n_results
FROM verdicts
WHERE suite = $suite AND run_id = $run_id AND ($task_set IS NULL OR task_set = $task_set)
GROUP BY ALL ORDER BY ALL
"""
COLUMNS = (
    *("model", "settings", "full_score", "full_score_low", "full_score_high", "n_answered"),
    *("n_tasks", "n_without_verdict", "order", "calibrated_on", "task_ids"),
)
ANSWER = COLUMNS[:7]


class _Cell(NamedTuple):
    """What a model of the run answered to a task."""

    model: str
    settings: str
    task_set: str
    task_id: str
    n_passed: int
    n_judged: int
    n_results: int


@dataclass(frozen=True, slots=True)
class ScoreBank:
    """What a full score is estimated with.

    Attributes:
        bank: parameters of all tasks.
        task_ids: the tasks, in the order of the parameters.
        factor: standard errors from the score to the end of its 90 % interval.
        systems: the models whose answers gave the parameters; empty if that is not known.
        order: `adaptive`, if each task was chosen by the answers before, else `chosen before`.
    """

    bank: Bank
    task_ids: Sequence[str]
    factor: float
    systems: Sequence[str]
    order: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimated full score of a model, from 0 to 1, and the tasks with a verdict behind it."""

    model: str
    settings: str
    score: float
    reach: float
    task_ids: Sequence[str]
    n_without_verdict: int


def estimate_text(score: float, reach: float, n_answered: int, n_tasks: int) -> str:
    """Return a full score with its interval, and what it rests on."""
    low, high = 100 * max(score - reach, 0), 100 * min(score + reach, 1)
    return (
        f"estimated full score {100 * score:.1f} % (90 % interval {low:.1f} to {high:.1f} %), by "
        f"{n_answered} of {n_tasks:,} tasks"
    )


def estimate_run(
    connection: duckdb.DuckDBPyConnection, suite: str, run_id: str, task_set: str | None
) -> tuple[ScoreBank, list[Estimate]]:
    """Estimate the full scores of the models of a run.

    An adaptive run is estimated by the parameters of its plan, with which it stopped; another by
    those of the stored models, without the models of the run.

    Raises:
        BadInput: there is no such run, nothing of it has a verdict, or the bank does not serve.
    """
    runs = connection.execute(_RUNS, {"suite": suite}).fetchall()
    names = list(dict.fromkeys(name for name, _ in runs))
    if run_id not in names:
        hint = did_you_mean(run_id, names, "`evalstore runs` lists the runs")
        raise BadInput(f"--estimate: {suite} has no run {run_id!r}; {hint}")
    which = {"suite": suite, "run_id": run_id, "task_set": task_set}
    cells = [_Cell(*row) for row in connection.execute(_ANSWERS, which).fetchall()]
    judged = [cell for cell in cells if cell.n_judged]
    if not judged:
        raise BadInput(f"--estimate: no answer of {run_id} has a verdict")
    sets = sorted({cell.task_set for cell in cells})
    if len(sets) > 1:
        listed = ", ".join(sets)
        raise BadInput(f"{run_id} has several task sets: name one with --task-set: {listed}")
    plan = next((plan for name, plan in runs if name == run_id), None)
    bank = _planned_bank(plan or "{}")
    if bank is None:
        models, tasks = {cell.model for cell in cells}, {cell.task_id for cell in judged}
        bank = _fitted_bank(connection, suite, sets[0], models=models, tasks=tasks)
    return bank, list(_estimates(bank, cells))


def _planned_bank(text: str) -> ScoreBank | None:
    """Return the bank of the plan of an adaptive run; None for another's."""
    plan = json.loads(text)
    stored = plan.get("adaptive")
    if not stored:
        return None
    task_ids = [task["task_id"] for task in plan["tasks"]]
    bank = Bank(stored["slope"], np.array(stored["intercepts"]), stored.get("guess", 0.0))
    return ScoreBank(bank, task_ids, stored["factor"], stored.get("systems", ()), "adaptive")


def _fitted_bank(
    connection: duckdb.DuckDBPyConnection,
    suite: str,
    task_set: str,
    *,
    models: set[str],
    tasks: set[str],
) -> ScoreBank:
    found = read_set_answers(connection, suite, task_set, without=models)
    if unknown := sorted(tasks.difference(found.task_ids)):
        raise BadInput(
            f"no other model was asked {len(unknown)} of the tasks, such as {unknown[0]}: their "
            "difficulty is not known"
        )
    judge = Judge(found.answers, found.families)
    if judge.n_models < MIN_MODELS:
        raise BadInput(
            f"{suite}, {task_set}: to judge an estimate takes {MIN_MODELS} other models that were "
            f"asked nine tenths of the tasks or more, and there are {judge.n_models}"
        )
    items = np.array([at for at, task in enumerate(found.task_ids) if task in tasks])
    bank = fit_bank(*found.answers)
    return ScoreBank(bank, found.task_ids, judge.factor(items), found.systems, "chosen before")


def _estimates(bank: ScoreBank, cells: Sequence[_Cell]) -> Iterator[Estimate]:
    places = {task_id: at for at, task_id in enumerate(bank.task_ids)}
    by_model: dict[tuple[str, str], list[_Cell]] = {}
    for cell in cells:
        by_model.setdefault((cell.model, cell.settings), []).append(cell)
    for key, own in by_model.items():
        passed, attempts = np.zeros((2, 1, len(places)))
        for cell in own:
            if cell.n_judged:
                at = places[cell.task_id]
                passed[0, at], attempts[0, at] = cell.n_passed, cell.n_judged
        predicted = predict_scores(bank.bank, passed, attempts)
        yield Estimate(
            *key,
            float(predicted.scores[0]),
            bank.factor * float(predicted.errors[0]),
            [bank.task_ids[at] for at in np.flatnonzero(attempts[0]).tolist()],
            sum(cell.n_results - cell.n_judged for cell in own),
        )


def estimate_rows(bank: ScoreBank, estimates: Sequence[Estimate]) -> list[tuple[object, ...]]:
    """Return a row of `COLUMNS` for each model; without a verdict there is no score."""
    return [
        (
            *(each.model, each.settings, *_score_columns(each), len(each.task_ids)),
            *(len(bank.task_ids), each.n_without_verdict, bank.order),
            *(list(bank.systems) or None, list(each.task_ids)),
        )
        for each in estimates
    ]


def _score_columns(each: Estimate) -> tuple[float | None, ...]:
    if not each.task_ids:
        return None, None, None
    low, high = max(each.score - each.reach, 0), min(each.score + each.reach, 1)
    return round(each.score, 4), round(low, 4), round(high, 4)


def estimate_sentences(bank: ScoreBank, estimates: Sequence[Estimate]) -> Iterator[str]:
    """Yield the estimated full score of each model, and what it rests on."""
    for each in estimates:
        name = f"{each.model} ({each.settings})" if each.settings else each.model
        if not each.task_ids:
            yield f"{name}: no task has a verdict, nothing is known of its full score"
            continue
        n_answered = len(each.task_ids)
        text = estimate_text(each.score, each.reach, n_answered, len(bank.task_ids))
        unjudged = "result without a verdict is", "results without a verdict are"
        left = f"; {counted(each.n_without_verdict, *unjudged)} left out"
        yield f"{name}: {text}{left if each.n_without_verdict else ''}"
    of = f"{len(bank.systems)} stored models: " if bank.systems else "models that are not recorded"
    how = "as the run knew them when it stopped" if bank.order == "adaptive" else "as they are now"
    yield f"The tasks' difficulties are those of {of}{', '.join(bank.systems)}; {how}."
