"""The interface between the runner and the suites.

To add a suite, write one module with a class derived from `Suite` and a constant `SUITE`, an
instance of it, and add one line to `SUITES` in `runners/suites/registry.py`.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

from runners.models.addresses import Address
from runners.suites.options import SuiteOptions
from warehouse.core.errors import BadInput
from warehouse.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from runners.engine.engine import CallOutcome
    from runners.models.model import Model
    from runners.models.model_files import ModelFile
    from runners.plan import Cell, Plan, Task
    from runners.providers.base import Request
    from warehouse.app.store import Store
    from warehouse.core.types import ResultRow, Row, RunRow
    from warehouse.lake.journal.journal import Entry

# The pass rate is that of `leaderboard`, or for a replay that of `replay_leaderboard`.
SUMMARY = """
SELECT
    calls.model,
    round(coalesce(
        any_value(rates.pass_rate),
        CASE WHEN count(passed) > 0 THEN count(*) FILTER (outcome) / count(outcome) END
    ), 4) AS pass_rate,
    exact_sum(calls.cost_usd) AS cost_usd,
    count(DISTINCT task_id) AS n_tasks,
    count(*) FILTER (passed) AS n_passed,
    count(*) FILTER (failure_type = 'empty_response') AS n_empty,
    count(*) FILTER (NOT is_answered AND failure_type <> 'empty_response') AS n_failed,
    count(passed) AS n_judged,
    count(*) AS n_results,
    round(any_value(rates.min_pass_rate), 4) AS min_pass_rate,
    round(any_value(rates.max_pass_rate), 4) AS max_pass_rate,
    -- Below 6 tasks no median is shown, as in `leaderboard`.
    CASE
        WHEN count(DISTINCT task_id) FILTER (is_answered AND calls.latency_ms IS NOT NULL) >= 6
            THEN round(median(calls.latency_ms) FILTER (is_answered))
    END AS p50_ms,
    calls.settings,
    calls.provider
FROM scores.outcomes AS calls
JOIN (SELECT suite, run_id, result_id, failure_type FROM results) AS results
    USING (suite, run_id, result_id)
LEFT JOIN scores.run_rates AS rates USING (suite, run_id, provider, model, settings, task_set)
WHERE suite = $suite AND run_id = $run_id
GROUP BY calls.model, calls.settings, calls.provider
ORDER BY calls.model, calls.settings, calls.provider
"""
# The columns that answer, for a terminal.
SUMMARY_ANSWER = (
    "model",
    "pass_rate",
    "cost_usd",
    "n_tasks",
    "n_passed",
    "n_empty",
    "min_pass_rate",
    "max_pass_rate",
    "settings",
)

# Calls another model within the limits of the run, such as a judge.
Ask: TypeAlias = "Callable[[Model, Request], Awaitable[CallOutcome]]"

PLACEHOLDER = "{prompt}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """A run that the user asked for.

    Attributes:
        suite: name of a suite, or path of a file.
        models: the models to call.
        files: the available model files, by path.
        run_date: local date, YYYY-MM-DD.
        store: the store, for what is already known.
        prompts: task file to use instead of the default; for posters, folder of prompts.
        task_ids: IDs or numbers of the tasks to run; empty for all.
        limit: run only the first N tasks; None for all.
        attempts: number of attempts per task.
        is_streamed: whether to stream responses.
        options: options that only some suites take.
        at: the address of all calls of the run.
        judge_at: the address of judges.
    """

    suite: str
    models: tuple[Model, ...]
    files: dict[str, ModelFile]
    run_date: str
    store: Store
    prompts: Path | None = None
    task_ids: tuple[str, ...] = ()
    limit: int | None = None
    attempts: int = 1
    is_streamed: bool = False
    options: SuiteOptions = field(default_factory=SuiteOptions)
    at: Address = field(default_factory=Address)
    judge_at: Address = field(default_factory=Address)


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A plan, with the rows that describe its tasks and models.

    Attributes:
        plan: the calls to make.
        rows: rows to store with the run, by table name.
        folder: where the suite's files are.
        new_files: models whose files do not exist yet and are to be written.
        warnings: messages for the user.
    """

    plan: Plan
    rows: Mapping[str, Sequence[Row]]
    folder: Path
    _: KW_ONLY
    new_files: tuple[Model, ...] = ()
    warnings: tuple[str, ...] = ()


class Suite(Protocol):
    """A benchmark: which calls it needs and how it scores them.

    Only `family`, `prepare` and `columns` are required.

    Attributes:
        family: name of the suite in plans; a key of `SUITES`.
        options: names of the fields of `SuiteOptions` that it takes.
        needs_all_models: refuse to start if a model cannot be called; otherwise record it.
        one_model_at_a_time: finish the cells of a model before those of the next.
        max_raw_bytes: bytes to keep of a model's text; None for all.
        summary: query for the table shown at the end, with `$suite` and `$run_id`.
        answer: the columns of that table that a terminal shows first.
        view: the view to suggest to the user, with one row per result.
    """

    family: str
    options: tuple[str, ...] = ()
    needs_all_models: bool = True
    one_model_at_a_time: bool = False
    max_raw_bytes: int | None = None
    summary: str = SUMMARY
    answer: tuple[str, ...] = SUMMARY_ANSWER
    view: str = "verdicts"

    @abstractmethod
    def prepare(self, spec: RunSpec, /) -> PreparedRun:
        """Make the plan of a run.

        Raises:
            BadInput: a file or an option cannot be used.
        """

    @abstractmethod
    def columns(self, plan: Plan, cell: Cell, outcome: CallOutcome, /) -> ResultRow:
        """Return the suite's own columns of a result; they override the common ones."""

    def default_models(self) -> Sequence[Model]:
        """Return the models to call if the user names none."""
        return ()

    def request(self, plan: Plan, cell: Cell, /) -> Request:
        """Return the call for a cell: the task in the template; other braces stay as they are."""
        text = (plan.template or PLACEHOLDER).replace(PLACEHOLDER, cell.task.prompt)
        request = cell.model.request(text, task_id=cell.task.task_id, attempt=cell.attempt)
        return replace(request, is_streamed=plan.is_streamed)

    def moved(self, plan: Plan, _base_url: str | None, _judge_base_url: str | None, /) -> Plan:
        """Return a plan with its other models, such as judges, at new addresses."""
        return plan

    def entries(
        self, _plan: Plan, _cell: Cell, _outcome: CallOutcome, _result: ResultRow, /
    ) -> Iterable[Entry]:
        """Return rows of other tables to store with a result."""
        return ()

    def later_calls(self, _plan: Plan, _cell: Cell, /) -> Iterable[tuple[Model, Request]]:
        """Return the calls that a result will need, such as a judge's, without its text."""
        return ()

    async def decide(
        self, _plan: Plan, _cell: Cell, _result: ResultRow, _ask: Ask, /
    ) -> tuple[ResultRow, Sequence[Entry]]:
        """Return columns of a result, and rows of other tables, that take more than its text."""
        return {}, ()

    def check(self, _plan: Plan, /) -> None:
        """Check before the first call of a command that everything the plan needs is there.

        Raises:
            BadInput: something is missing.
        """
        return

    def run_columns(self, _plan: Plan, _run_id: str, _timeout_seconds: float, /) -> RunRow:
        """Return the suite's own columns of the row in `runs`."""
        return {}

    def entries_before(self, _model: Model, _first: Cell, _invocation: int, /) -> Iterable[Entry]:
        """Return rows to store before the calls; `first` is the first cell."""
        return ()

    def entries_after(self, _model: Model, _invocation: int, /) -> Iterable[Entry]:
        """Return rows to store after the calls."""
        return ()


def selected(tasks: list[Task], spec: RunSpec) -> tuple[Task, ...]:
    """Select tasks by ID or number (from 1) in the order of the file, then apply the limit.

    Raises:
        BadInput: no task has a given ID, or no task is left.
    """
    by_name = {str(number): task for number, task in enumerate(tasks, start=1)}
    by_name |= {task.task_id: task for task in tasks}
    unknown = [name for name in spec.task_ids if name not in by_name]
    if unknown:
        near = did_you_mean(unknown[0], (task.task_id for task in tasks))
        hint = f"; {near}" if near else ""
        raise BadInput(f"--tasks: no task has the ID {', '.join(unknown)}{hint}")
    wanted = {by_name[name].task_id for name in spec.task_ids} or {task.task_id for task in tasks}
    chosen = [task for task in tasks if task.task_id in wanted][: spec.limit]
    if not chosen:
        raise BadInput("no task is selected")
    return tuple(chosen)


def known_model_rows(spec: RunSpec) -> list[Row]:
    """Return the rows of the model files that the run uses."""
    paths = {model.path for model in spec.models}
    return [file.row for path, file in spec.files.items() if path in paths]
