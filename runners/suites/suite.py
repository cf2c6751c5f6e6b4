"""What every suite takes and gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from warehouse.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from runners.calls import Request
    from runners.engine import Outcome
    from runners.models import Model, ModelFile
    from runners.plan import Cell, Plan, Task
    from warehouse.journal import Entry
    from warehouse.lake import Row


@dataclass(frozen=True, slots=True)
class Wish:
    """What a user asked for.

    Attributes:
        suite: a family's name, or a file.
        models: those to call.
        files: the model files that there are.
        run_date: the local date, YYYY-MM-DD.
        prompts: file of tasks in the place of the usual one.
        only: ids or numbers of the tasks to ask; empty for all.
        limit: ask the first so many tasks alone.
        attempts: planned repeats.
        is_streamed: whether answers come piece by piece.
        options: what only the suite knows.
    """

    suite: str
    models: tuple[Model, ...]
    files: dict[str, ModelFile]
    run_date: str
    prompts: Path | None = None
    only: tuple[str, ...] = ()
    limit: int | None = None
    attempts: int = 1
    is_streamed: bool = False
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A plan, and the rows that tell of its tasks and models.

    Attributes:
        plan: what is to be asked.
        rows: for tables that do not belong to a run, by table name.
        new_files: model files to write, as they are not there yet.
    """

    plan: Plan
    rows: dict[str, list[Row]]
    new_files: tuple[Model, ...] = ()


class Suite(Protocol):
    """A family of benchmarks.

    Attributes:
        family: its name.
        needs_all: a run is refused where a model cannot be called; otherwise that is recorded.
        one_by_one: models are called one after the other.
        raw_limit: bytes of a model's text that are kept; None for all.
    """

    family: str
    needs_all: bool
    one_by_one: bool
    raw_limit: int | None

    def prepare(self, wish: Wish, /) -> Prepared:
        """Make a plan."""

    def request(self, plan: Plan, cell: Cell, /) -> Request:
        """Say what to ask for a cell."""

    def columns(self, plan: Plan, cell: Cell, outcome: Outcome, /) -> Row:
        """Give the columns that the suite makes of an answer, over the common ones."""

    def describe(self, plan: Plan, run_id: str, timeout_seconds: float, /) -> Row:
        """Give what the run's own row says besides."""

    def before(self, model: Model, first: Cell, invocation: int, /) -> Iterable[Entry]:
        """Note what is to be noted before a model's cells; `first` is the first of them."""

    def after(self, model: Model, invocation: int, /) -> Iterable[Entry]:
        """Note what is to be noted after a model's cells."""


class Quiet:
    """A suite that has nothing to note of the host."""

    def describe(self, _plan: Plan, _run_id: str, _timeout_seconds: float) -> Row:
        """Nothing besides."""
        return {}

    def before(self, _model: Model, _first: Cell, _invocation: int) -> Iterable[Entry]:
        """Nothing."""
        return ()

    def after(self, _model: Model, _invocation: int) -> Iterable[Entry]:
        """Nothing."""
        return ()


def selected(tasks: list[Task], wish: Wish) -> tuple[Task, ...]:
    """Choose tasks by id, or by number from 1, in the file's order; then the first so many.

    Raises:
        BadInput: an id that no task has; no task is left.
    """
    by_name = {str(number): task for number, task in enumerate(tasks, start=1)}
    by_name |= {task.task_id: task for task in tasks}
    unknown = [name for name in wish.only if name not in by_name]
    if unknown:
        raise BadInput(f"no task has the id {', '.join(unknown)}")
    wanted = {by_name[name].task_id for name in wish.only} or {task.task_id for task in tasks}
    chosen = [task for task in tasks if task.task_id in wanted][: wish.limit]
    if not chosen:
        raise BadInput("no task is left to ask")
    return tuple(chosen)


def known_model_rows(wish: Wish) -> list[Row]:
    """Give the rows of the model files that the run uses."""
    paths = {model.path for model in wish.models}
    return [file.row for path, file in wish.files.items() if path in paths]
