"""Adaptive runs: each model is asked what says most about its full score, until that is known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from runners.plan import AdaptiveBank
from warehouse.analysis.items.adaptive import AdaptiveOrder, calibrate
from warehouse.analysis.items.bank import Bank, fit_bank
from warehouse.analysis.items.estimates import estimate_text
from warehouse.analysis.items.set_answers import read_set_answers
from warehouse.analysis.items.subsets import Answers, Judge
from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from runners.models.model import Model
    from runners.plan import Cell, Plan
    from runners.suites.base import PreparedRun
    from warehouse.app.store import Store

MIN_MODELS = 30
_ERROR = 0.05
_AT_ONCE = 8
# Below so many tasks the interval needs a large part of them.
_FEW_TASKS = 200


class AdaptiveRun:
    """The order in which each model of a run is asked, made of its answers so far."""

    def __init__(self, plan: Plan, stored: AdaptiveBank) -> None:
        self._stored = stored
        bank = Bank(stored.slope, np.array(stored.intercepts), stored.guess)
        self._items = {task.task_id: item for item, task in enumerate(plan.tasks)}
        self._orders = {
            id(model): AdaptiveOrder(bank, stored.factor, stored.error) for model in plan.models
        }
        self._models = plan.models

    def answer(self, cell: Cell, passed: bool | None) -> None:  # noqa: FBT001 - a verdict, as stored
        """Take a verdict into account; None, where a call failed, says nothing."""
        if passed is not None:
            item = self._items[cell.task.task_id]
            self._orders[id(cell.model)].answer(item, passed=bool(passed))

    def next_cells(self, model: Model, cells: Iterable[Cell], n_at_once: int) -> list[Cell]:
        """Return those of a model's cells to call next; none once its full score is known."""
        by_item = {self._items[cell.task.task_id]: cell for cell in cells if cell.model is model}
        is_open = np.zeros(len(self._items), dtype=bool)
        is_open[list(by_item)] = True
        chosen = self._orders[id(model)].next_items(is_open, n_at_once)
        return [by_item[item] for item in chosen.tolist()]

    def sentences(self) -> Iterator[str]:
        """Yield the predicted full score of each model, and what it rests on."""
        n_tasks = len(self._items)
        for model in self._models:
            order = self._orders[id(model)]
            if not order.answered.any():
                yield f"{model.name}: no task has a verdict, nothing is known of its full score"
                continue
            score, reach = float(order.prediction().scores[0]), order.half_width()
            n_answered = int(order.answered.sum())
            text = f"{model.name}: {estimate_text(score, reach, n_answered, n_tasks)}"
            is_reached = reach <= self._stored.error
            yield text if is_reached else f"{text}; not yet ± {100 * self._stored.error:g} points"
        yield (
            "the tasks were chosen by the answers: the share of them that passed is no score, and "
            "the run does not count as a full one"
        )


def with_adaptive_order(
    prepared: PreparedRun, store: Store, error: float | None, n_at_once: int | None
) -> PreparedRun:
    """Return a run whose tasks are asked in adaptive order, by a bank of stored results.

    Args:
        prepared: the run.
        store: has the results of other models.
        error: half-width of the interval at which a model is asked no more; None for 0.05.
        n_at_once: calls that are made at once; None for 8.

    Raises:
        BadInput: too few models, or a task that none was asked.
    """
    plan = prepared.plan
    with store.reading("item_responses") as connection:
        found = read_set_answers(connection, plan.suite, plan.task_set)
    columns = {task_id: column for column, task_id in enumerate(found.task_ids)}
    unknown = [task.task_id for task in plan.tasks if task.task_id not in columns]
    if unknown:
        raise BadInput(
            f"--adaptive: no stored model was asked {len(unknown)} of the {len(plan.tasks)} tasks, "
            f"such as {unknown[0]}: choose others with --tasks, or leave out --adaptive"
        )
    chosen = [columns[task.task_id] for task in plan.tasks]
    answers = Answers(*(matrix[:, chosen] for matrix in found.answers))
    judge = Judge(answers, found.families, has_guesses=True)
    if judge.n_models < MIN_MODELS:
        raise BadInput(
            f"--adaptive: {judge.n_models} models were asked nine tenths of the tasks or more; it "
            f"takes {MIN_MODELS} to know how hard each is"
        )
    error = error or _ERROR
    factor, n_asked = calibrate(judge, error, n_at_once or _AT_ONCE)
    bank = fit_bank(*answers, has_guesses=True)
    stored = AdaptiveBank(
        error=error,
        factor=factor,
        slope=bank.slope,
        intercepts=tuple(bank.intercepts.tolist()),
        guess=bank.guess,
        systems=tuple(found.systems),
    )
    text = f"--adaptive would have asked the stored models {n_asked:.0f} of {len(chosen)} tasks"
    few = f"; below {_FEW_TASKS} tasks it saves little" if len(chosen) < _FEW_TASKS else ""
    return replace(
        prepared,
        plan=replace(plan, adaptive=stored),
        warnings=(*prepared.warnings, *([text + few] if few else [])),
    )
