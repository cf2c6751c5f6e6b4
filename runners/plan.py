"""The plan of a run: models × attempts × tasks. It is stored with the run, for `--resume`."""

from __future__ import annotations

import json
from dataclasses import KW_ONLY, asdict, dataclass, field
from typing import TYPE_CHECKING

from runners.models.model import Model
from warehouse.core.errors import BadInput
from warehouse.core.formats.json_text import canonical_json, json_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Model file or provider, model, thinking level, settings, task, attempt.
CellKey = tuple[str, str, str | None, str, str, int]


@dataclass(frozen=True, slots=True)
class Task:
    """A task of a plan.

    Attributes:
        task_id: ID in the task set, or the prompt for tasks without one.
        prompt: the prompt, without the template.
        task_hash: hash of this version of the task.
        name: human-readable name.
        reference: the correct answer.
        validator: rule that decides whether an answer passes.
        scorer: in suites of one's own, how an answer is judged (`engine.scoring.custom`).
        expected_tools: tools of which the answer should use one.
        image: file name of the image in the cache.
        cluster: name that it shares with the tasks of its set that it depends on.
    """

    task_id: str
    prompt: str
    _: KW_ONLY
    task_hash: str | None = None
    name: str | None = None
    reference: str | None = None
    validator: object = None
    scorer: Mapping[str, object] | None = None
    expected_tools: tuple[str, ...] = ()
    image: str | None = None
    cluster: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveBank:
    """What an adaptive run knows of its tasks, see `analysis.items.bank`.

    Attributes:
        error: half-width of the interval of the full score at which a model is asked no more.
        factor: standard errors from the score to the end of its interval.
        slope: slope of all tasks.
        intercepts: difficulties, in the order of the plan's tasks.
        systems: the models whose answers gave these; empty where older runs do not say it.
        guess: probability to guess a task that a model does not know.
    """

    error: float
    factor: float
    slope: float
    intercepts: tuple[float, ...]
    systems: tuple[str, ...] = ()
    guess: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The calls of a run.

    Attributes:
        suite: name of the suite, as recorded in results.
        family: name of the implementation; `own` for a user's file.
        run_date: local date on which the run began.
        task_set: name of the task set.
        models: models to call, in order.
        tasks: tasks to run, in order.
        template: text around each prompt, which replaces `{prompt}`; None for none.
        attempts: number of attempts per task.
        is_streamed: whether to stream responses.
        options: values that only the suite interprets.
        git_commit: commit of the checkout with the suite's files; None if there is none.
        adaptive: what chooses the next task by the answers so far; None to ask all in order.
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
    options: Mapping[str, object] = field(default_factory=dict)
    git_commit: str | None = None
    adaptive: AdaptiveBank | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """A planned call: model, task and attempt (from 1). `seq` is its position in the plan."""

    model: Model
    task: Task
    attempt: int
    seq: int


def cells_of(plan: Plan) -> Iterator[Cell]:
    """Yield the cells of a plan, in order."""
    seq = 0
    for model in plan.models:
        for attempt in range(1, plan.attempts + 1):
            for task in plan.tasks:
                seq += 1
                yield Cell(model, task, attempt, seq)


def cell_key(cell: Cell) -> CellKey:
    """Return the key that identifies a cell's results in its run.

    Two models of a plan may differ in their files only, as in the price.
    """
    model = cell.model
    settings = canonical_json(model.sampling)
    source = model.path or model.provider
    return source, model.name, model.thinking_level, settings, cell.task.task_id, cell.attempt


def plan_to_json(plan: Plan) -> str:
    """Return a plan as JSON; versions without adaptive runs can read it if it is of none."""
    document = asdict(plan)
    if plan.adaptive is None:
        del document["adaptive"]
    return json_text(document)


def plan_from_json(text: str) -> Plan:
    """Parse a plan that `plan_to_json` wrote.

    Raises:
        BadInput: the text is not a plan, or one of another version.
    """
    try:
        document = json.loads(text)
        models = tuple(Model(**model) for model in document.pop("models"))
        tasks = tuple(
            Task(**{**task, "expected_tools": tuple(task["expected_tools"])})
            for task in document.pop("tasks")
        )
        if bank := document.pop("adaptive", None):
            lists = ("intercepts", "systems")
            bank |= {name: tuple(bank[name]) for name in lists if name in bank}
            bank = AdaptiveBank(**bank)
        return Plan(models=models, tasks=tasks, adaptive=bank, **document)
    except (ValueError, TypeError, KeyError) as error:
        raise BadInput(f"the plan of the run cannot be read ({error})") from error
