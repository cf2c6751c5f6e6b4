"""What every suite takes and gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from runners.providers.base import Request
from warehouse.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from runners.engine.engine import CallOutcome
    from runners.model_files import Model, ModelFile
    from runners.plan import Cell, Plan, Task
    from warehouse.journal.journal import Entry
    from warehouse.store import Store
    from warehouse.types import ResultRow, Row, RunRow

PLACEHOLDER = "{prompt}"
_SUMMARY = """
SELECT provider, model, settings, count(*) AS n_results,
    count(*) FILTER (NOT success) AS n_failed, count(*) FILTER (passed) AS n_passed,
    round(count(*) FILTER (passed) / nullif(count(passed), 0), 4) AS pass_rate,
    round(median(latency_ms) FILTER (success)) AS p50_ms, exact_sum(cost_usd) AS cost_usd
FROM verdicts
WHERE suite = $suite AND run_id = $run_id
GROUP BY ALL ORDER BY ALL
"""


@dataclass(frozen=True, slots=True)
class PosterFiles:
    """What a user says of the posters.

    Attributes:
        urls: the list of their addresses.
        images: folder with their pictures, `<id>.<suffix>`; None has them downloaded.
        include: list of those that belong; None for all.
        exclude: list of those that are not scored, with the reason.
        dataset: its name; None for that of the project's folder.
        of_run: the run to judge.
    """

    urls: Path | None = None
    images: Path | None = None
    include: Path | None = None
    exclude: Path | None = None
    dataset: str | None = None
    of_run: str | None = None


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What a user asked for.

    Attributes:
        suite: a family's name, or a file.
        models: those to call.
        files: the model files that there are.
        run_date: the local date, YYYY-MM-DD.
        store: what is known already.
        prompts: file of tasks in the place of the usual one; for posters, the folder of prompts.
        only: ids or numbers of the tasks to ask; empty for all.
        limit: ask the first so many tasks alone.
        attempts: planned repeats.
        is_streamed: whether answers come piece by piece.
        posters: what is said of the posters.
    """

    suite: str
    models: tuple[Model, ...]
    files: dict[str, ModelFile]
    run_date: str
    store: Store
    prompts: Path | None = None
    only: tuple[str, ...] = ()
    limit: int | None = None
    attempts: int = 1
    is_streamed: bool = False
    posters: PosterFiles = field(default_factory=PosterFiles)


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A plan, and the rows that tell of its tasks and models.

    Attributes:
        plan: what is to be asked.
        rows: to be kept with the run, by table name.
        folder: where the suite's files lie.
        new_files: model files to write, as they are not there yet.
        notes: what a person should know.
    """

    plan: Plan
    rows: Mapping[str, Sequence[Row]]
    folder: Path
    new_files: tuple[Model, ...] = ()
    notes: tuple[str, ...] = ()


class Suite(Protocol):
    """A family of benchmarks.

    Attributes:
        family: its name.
        needs_all: a run is refused where a model cannot be called; otherwise that is recorded.
        one_by_one: models are called one after the other.
        raw_limit: bytes of a model's text that are kept; None for all.
        summary: query for what a person sees at the end, with `$suite` and `$run_id`.
        view: which view has a row for each result.
    """

    family: str
    needs_all: bool
    one_by_one: bool
    raw_limit: int | None
    summary: str
    view: str

    def prepare(self, wish: RunSpec, /) -> PreparedRun:
        """Make a plan."""

    def request(self, plan: Plan, cell: Cell, /) -> Request:
        """Say what to ask for a cell."""

    def columns(self, plan: Plan, cell: Cell, outcome: CallOutcome, /) -> ResultRow:
        """Give the columns that the suite makes of an answer, over the common ones."""

    def entries(
        self, plan: Plan, cell: Cell, outcome: CallOutcome, result: ResultRow, /
    ) -> Iterable[Entry]:
        """Give the rows of other tables that an answer makes, beside its own `result`."""

    def describe(self, plan: Plan, run_id: str, timeout_seconds: float, /) -> RunRow:
        """Give what the run's own row says besides."""

    def before(self, model: Model, first: Cell, invocation: int, /) -> Iterable[Entry]:
        """Note what is to be noted before a model's cells; `first` is the first of them."""

    def after(self, model: Model, invocation: int, /) -> Iterable[Entry]:
        """Note what is to be noted after a model's cells."""


class PromptSuite:
    """A suite that puts tasks into a template, and has nothing to note besides."""

    needs_all = True
    one_by_one = False
    raw_limit: int | None = None
    summary = _SUMMARY
    view = "verdicts"

    def request(self, plan: Plan, cell: Cell) -> Request:
        """Put the task into the template, as it stands: braces in either mean nothing."""
        model = cell.model
        return Request(
            model.name,
            (plan.template or PLACEHOLDER).replace(PLACEHOLDER, cell.task.prompt),
            task_id=cell.task.task_id,
            attempt=cell.attempt,
            parameters=model.sampling,
            thinking_level=model.thinking_level,
            is_streamed=plan.is_streamed,
            base_url=model.base_url,
            price=model.price,
        )

    def entries(
        self, _plan: Plan, _cell: Cell, _outcome: CallOutcome, _result: ResultRow
    ) -> Iterable[Entry]:
        """Nothing."""
        return ()

    def describe(self, _plan: Plan, _run_id: str, _timeout_seconds: float) -> RunRow:
        """Nothing besides."""
        return {}

    def before(self, _model: Model, _first: Cell, _invocation: int) -> Iterable[Entry]:
        """Nothing."""
        return ()

    def after(self, _model: Model, _invocation: int) -> Iterable[Entry]:
        """Nothing."""
        return ()


def selected(tasks: list[Task], wish: RunSpec) -> tuple[Task, ...]:
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


def known_model_rows(wish: RunSpec) -> list[Row]:
    """Give the rows of the model files that the run uses."""
    paths = {model.path for model in wish.models}
    return [file.row for path, file in wish.files.items() if path in paths]
