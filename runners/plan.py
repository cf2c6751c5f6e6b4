"""What a run is to ask: models × attempts × tasks. It is kept with the run, so that it resumes."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from runners.model_files import Model
from warehouse.errors import BadInput
from warehouse.formats.json_text import canonical_json, json_text

if TYPE_CHECKING:
    from collections.abc import Iterator

Key = tuple[str, str, str | None, str, str, int]


@dataclass(frozen=True, slots=True)
class Task:
    """A task of a plan.

    Attributes:
        task_id: its id in the set; the prompt's text where it has none.
        prompt: without the template.
        task_hash: of its version.
        name: for people.
        reference: the right answer.
        validator: the rule that decides.
        expected_tools: tools of which an answer should use one.
        image: name of the picture's file in the cache.
    """

    task_id: str
    prompt: str
    task_hash: str | None = None
    name: str | None = None
    reference: str | None = None
    validator: Any = None
    expected_tools: tuple[str, ...] = ()
    image: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run is to ask.

    Attributes:
        suite: as its results are recorded.
        family: the suite's way of asking and judging: palindrome, openclaw, posters or own.
        run_date: local date on which it began.
        task_set: name of the task set.
        models: those to be called, in order.
        tasks: those to be asked, in order.
        template: what a task's prompt is put into, at `{prompt}`.
        attempts: planned repeats.
        is_streamed: whether answers come piece by piece.
        options: what only the suite knows.
        git_commit: of the checkout that the suite's files lie in, if they do.
    """

    suite: str
    family: str
    run_date: str
    task_set: str
    models: tuple[Model, ...]
    tasks: tuple[Task, ...]
    template: str | None = None
    attempts: int = 1
    is_streamed: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    git_commit: str | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One thing to ask: a model, a task, and which planned repeat. `seq` is its place."""

    model: Model
    task: Task
    attempt: int
    seq: int


def cells_of(plan: Plan) -> Iterator[Cell]:
    """Give the cells of a plan, in order."""
    seq = 0
    for model in plan.models:
        for attempt in range(1, plan.attempts + 1):
            for task in plan.tasks:
                seq += 1
                yield Cell(model, task, attempt, seq)


def cell_key(plan: Plan, cell: Cell) -> Key:
    """Give what knows a cell in its run.

    Results of the palindrome suite name a model's file in the place of the provider.
    """
    model = cell.model
    reached_by = (model.path or "") if plan.family == "palindrome" else model.provider
    level, settings = model.thinking_level, canonical_json(model.sampling)
    return reached_by, model.name, level, settings, cell.task.task_id, cell.attempt


def plan_to_json(plan: Plan) -> str:
    """Write a plan as JSON."""
    return json_text(asdict(plan))


def plan_from_json(text: str) -> Plan:
    """Read a plan that `plan_to_json` wrote.

    Raises:
        BadInput: it is none, or another version's.
    """
    try:
        document = json.loads(text)
        models = tuple(Model(**model) for model in document.pop("models"))
        tasks = tuple(
            Task(**{**task, "expected_tools": tuple(task["expected_tools"])})
            for task in document.pop("tasks")
        )
        return Plan(models=models, tasks=tasks, **document)
    except (ValueError, TypeError, KeyError) as error:
        raise BadInput(f"the run's plan cannot be read ({error})") from error
