"""A run: makes the pending calls of a plan; each result is on disk before it counts."""

from __future__ import annotations

import asyncio
import math
import platform
import signal
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from runners.engine.budget import Budget
from runners.engine.engine import Engine, EngineSettings, Job
from runners.journal_writer import JournalWriter, result_row
from runners.models.prices import cost
from runners.plan import cell_key, cells_of, plan_to_json
from runners.providers.keys import named_key
from runners.providers.pool import ProviderPool, estimated_tokens
from runners.suites.registry import suite_of
from warehouse.core.errors import EvalstoreError, Interrupted
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.masking import Mask, secrets_of_environment, secrets_of_url
from warehouse.core.hashing import content_hash
from warehouse.lake.batch import evalstore_version
from warehouse.lake.journal.journal import Entry, Journal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from runners.adaptive import AdaptiveRun
    from runners.completed import CompletedCells, CompletedResult
    from runners.engine.engine import CallOutcome
    from runners.models.model import Model
    from runners.plan import Cell, Plan
    from runners.providers.base import Request
    from runners.shard import Shard
    from runners.suites.base import Suite
    from warehouse.app.store import Store
    from warehouse.core.types import ResultRow, Row, RunRow

_RESERVE_BYTES = 1 << 20
_RESERVE_PER_CALL = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """How to execute a run.

    Attributes:
        engine: limits of the engine.
        max_cost_usd: cost limit of the whole run, including earlier invocations; a shard has its
            share of it.
        retry_failed: whether to repeat failed calls.
        retry_empty: whether to repeat calls that gave an empty answer.
        answers: files that `replay` takes its responses from.
        base_url: new address of the provider of a resumed run; None to keep the old one.
        judge_base_url: new address of the judges of a resumed run; None to keep the old one.
        shard: the part of the run to execute; None for all of it.
    """

    engine: EngineSettings = field(default_factory=EngineSettings)
    max_cost_usd: float | None = None
    retry_failed: bool = False
    retry_empty: bool = False
    answers: tuple[Path, ...] = ()
    base_url: str | None = None
    judge_base_url: str | None = None
    shard: Shard | None = None


@dataclass(frozen=True, slots=True)
class PendingCell:
    """A cell to call, and the content ID of the failed result that the new one replaces."""

    cell: Cell
    stands_in_for: str | None


class Run:
    """A run, claimed by this process.

    Attributes:
        run_id: ID of the run.
        plan: its plan.
        settings: how to execute it.
        suite: the suite that made the plan.
        providers: the providers of its models.
        pending: the cells without a result in the store, of the shard if there is one; in an
            adaptive run only those of models whose full score is not known well enough.
        adaptive: the order of an adaptive run; None for others.
        at_most: words before the number of calls, of which an adaptive run may make fewer.
        stopped: why it stopped early, as an error for the user; None if it did not.
    """

    def __init__(
        self, store: Store, plan: Plan, completed: CompletedCells, settings: RunSettings
    ) -> None:
        self.run_id = completed.generation.run_id
        self.plan = plan
        self.settings = settings
        self.suite: Suite = suite_of(plan.family)
        self.providers = ProviderPool(settings.answers)
        self.stopped: EvalstoreError | None = None
        self._store = store
        self._completed = completed
        self.adaptive = _adaptive_run(plan)
        self.at_most = "at most " if self.adaptive is not None else ""
        self.pending = list(self._pending_cells())
        if self.adaptive is not None:
            undecided = {id(cell.model) for cell in self._next_cells(self.adaptive, self.pending)}
            self.pending = [p for p in self.pending if id(p.cell.model) in undecided]

    @property
    def summary(self) -> str:
        """The query of the table shown at the end.

        Adaptive runs ask what is undecided: the share of tasks that passed is no score.
        """
        if self.adaptive is None:
            return self.suite.summary
        columns = "COLUMNS(lambda name: NOT contains(name, 'pass'))"
        return f"SELECT {columns} FROM ({self.suite.summary}) ORDER BY ALL"  # noqa: S608 - ours

    @property
    def answer(self) -> tuple[str, ...]:
        """The columns of the summary that a terminal shows first."""
        return tuple(n for n in self.suite.answer if self.adaptive is None or "pass" not in n)

    def execute(
        self,
        rows: Mapping[str, Sequence[Row]],
        on_outcome: Callable[[str, CallOutcome], None],
    ) -> None:
        """Make the pending calls and add the results to the lake.

        Args:
            rows: rows of tasks and models to store with the run, by table name.
            on_outcome: called with the model's name and the outcome of each cell.

        Raises:
            EvalstoreError: the store cannot be written.
        """
        if not self.pending and self._completed.plan is not None:
            return
        n_calls = min(self.settings.engine.concurrency or 8, len(self.pending))
        generation = self._completed.generation
        reserve = _RESERVE_BYTES + n_calls * _RESERVE_PER_CALL
        mask = Mask(self._secrets())
        with Journal(self._store.path, generation, mask=mask, reserve_bytes=reserve) as journal:
            try:
                journal.append(self._header(journal.name, rows))
                asyncio.run(self._call_all(journal, on_outcome))
            except OSError as error:
                raise EvalstoreError(
                    f"{self._store.path}: {error.strerror or error}; the results so far are safe: "
                    f"free some space, then `evalstore run --resume {self.run_id}`"
                ) from error

    def job(self, pending: PendingCell) -> Job[PendingCell]:
        """Return the call for a cell, with its expected cost."""
        model = pending.cell.model
        request = self.suite.request(self.plan, pending.cell)
        calls = [(model, request), *self.suite.later_calls(self.plan, pending.cell)]
        usd = sum(cost(self.providers.price(m), *estimated_tokens(r)) or 0.0 for m, r in calls)
        return Job(pending, self.providers.provider(model), request, usd)

    def later_calls(self) -> list[tuple[Model, Request]]:
        """Return a later call of the pending cells for each model, such as a judge."""
        calls: dict[tuple[str, str, str | None], tuple[Model, Request]] = {}
        for pending in self.pending:
            for model, request in self.suite.later_calls(self.plan, pending.cell):
                key = model.provider, model.name, model.base_url
                calls.setdefault(key, (model, request))
        return list(calls.values())

    def _pending_cells(self) -> Iterator[PendingCell]:
        results = {key: list(found) for key, found in self._completed.results.items()}
        shard = self.settings.shard
        for cell in cells_of(self.plan):
            found = results.get(cell_key(cell))
            result = found.pop(0) if found else None
            if self.adaptive is not None and result is not None:
                self.adaptive.answer(cell, result.passed)
            if shard is not None and not shard.holds(cell):
                continue
            if result is None:
                yield PendingCell(cell, None)
            elif self._is_repeated(result):
                yield PendingCell(cell, result.content_id)

    def _is_repeated(self, result: CompletedResult) -> bool:
        # An empty answer is an answer: to draw again for it changes the pass rate.
        if result.is_empty:
            return self.settings.retry_empty
        return self.settings.retry_failed and not result.success

    def _budget(self) -> Budget:
        limit, costs, shard = (
            self.settings.max_cost_usd,
            self._completed.costs_usd,
            self.settings.shard,
        )
        if shard is None:
            budget = Budget(limit)
            budget.spent = math.fsum(costs.values())
            return budget
        budget = Budget(None if limit is None else limit * shard.share_of(self.plan))
        cells = {cell_key(cell) for cell in cells_of(self.plan) if shard.holds(cell)}
        budget.spent = math.fsum(cost for key, cost in costs.items() if key in cells)
        return budget

    async def _call_all(
        self, journal: Journal, on_outcome: Callable[[str, CallOutcome], None]
    ) -> None:
        writer = JournalWriter(journal)
        budget = self._budget()

        async def record(pending: PendingCell, outcome: CallOutcome) -> None:
            row = self._row(journal.name, pending, outcome)
            others = [*self.suite.entries(self.plan, pending.cell, outcome, row)]
            try:
                columns, more = await self.suite.decide(self.plan, pending.cell, row, ask)
            except asyncio.CancelledError:
                # The answer is paid for: it is kept without a verdict.
                row["violation"] = "interrupted before it was judged"
                await writer.add([Entry("results", row), *others])
                raise
            row |= columns
            await writer.add([Entry("results", row), *others, *more])
            if self.adaptive is not None:
                judged = row.get("objective_pass"), row.get("is_correct")
                self.adaptive.answer(pending.cell, judged[1] if judged[0] is None else judged[0])
            on_outcome(pending.cell.model.name, outcome)
            if journal.is_full:
                engine.stop(EvalstoreError("the disk is full"))

        async def ask(model: Model, request: Request) -> CallOutcome:
            return await engine.call(Job(None, self.providers.provider(model), request))

        first = {id(pending.cell.model): pending for pending in self.pending}.values()
        jobs = [self.job(pending) for pending in first]
        models = {job.target for job in jobs}
        engine = Engine(self.settings.engine, record, budget=budget, models=models)
        try:
            with _signals(engine):
                await self._warm_up(engine, jobs)
                for group in self._groups():
                    if engine.stopped is None:
                        await self._call_group(engine, writer, group)
        finally:
            await writer.finish()
            await self.providers.close()
            self.stopped = engine.stopped

    async def _warm_up(self, engine: Engine[PendingCell], jobs: Sequence[Job[PendingCell]]) -> None:
        """Prepare the clients, so that the first calls take no longer than the others."""
        calls = [(job.provider, job.request) for job in jobs]
        later = [(self.providers.provider(m), request) for m, request in self.later_calls()]
        for provider, request in (*calls, *later):
            if engine.stopped is None:
                await provider.warm_up(request)

    async def _call_group(
        self, engine: Engine[PendingCell], writer: JournalWriter, group: list[PendingCell]
    ) -> None:
        """Call some cells concurrently, between the suite's entries before and after."""
        first, invocation = group[0].cell, self._completed.n_invocations + 1
        before = partial(self.suite.entries_before, first.model, first, invocation)
        await writer.add(await asyncio.to_thread(lambda: list(before())))
        for cells in self._rounds(group):
            await engine.run(map(self.job, cells))
            if engine.stopped is not None:
                break
        after = partial(self.suite.entries_after, first.model, invocation)
        await writer.add(await asyncio.to_thread(lambda: list(after())))

    def _rounds(self, group: list[PendingCell]) -> Iterator[list[PendingCell]]:
        """Yield cells to call: all, or in an adaptive run those that the answers so far ask for."""
        if self.adaptive is None:
            yield group
            return
        left = {pending.cell.seq: pending for pending in group}
        while cells := self._next_cells(self.adaptive, left.values()):
            yield [left.pop(cell.seq) for cell in cells]

    def _next_cells(self, adaptive: AdaptiveRun, left: Iterable[PendingCell]) -> list[Cell]:
        """Return the next cells of each model whose full score is not known well enough."""
        cells = [pending.cell for pending in left]
        chosen: list[Cell] = []
        for model in self.plan.models:
            limit = self.settings.engine.concurrency or self.providers.provider(model).concurrency
            chosen += adaptive.next_cells(model, cells, limit)
        return chosen

    def _groups(self) -> list[list[PendingCell]]:
        """Return the cells to call concurrently: all, or one model at a time."""
        if not self.suite.one_model_at_a_time:
            return [self.pending] if self.pending else []
        by_model: dict[int, list[PendingCell]] = {}
        for pending in self.pending:
            by_model.setdefault(id(pending.cell.model), []).append(pending)
        return list(by_model.values())

    def _row(self, invocation: str, pending: PendingCell, outcome: CallOutcome) -> ResultRow:
        row = result_row(self.plan, self.run_id, invocation, pending.cell, outcome)
        row |= self.suite.columns(self.plan, pending.cell, outcome)
        row["stands_in_for"] = pending.stands_in_for
        limit = self.suite.max_raw_bytes
        raw = (row["raw_output"] or "").encode()
        if limit is not None and len(raw) > limit:
            row["raw_output"] = raw[:limit].decode("utf-8", "ignore")
            row["raw_output_truncated"] = True
        return row

    def _header(self, invocation: str, rows: Mapping[str, Sequence[Row]]) -> Iterable[Entry]:
        plan = self.plan
        paths = {model.path for model in plan.models}
        versions = {"evalstore": evalstore_version(), "python": platform.python_version()}
        timeout_seconds = self.settings.engine.timeout_seconds
        row: RunRow = {
            "content_id": content_hash("run", plan.suite, self.run_id, invocation),
            "origin": "runner",
            "run_date": plan.run_date,
            "model_path": paths.pop() if len(paths) == 1 else None,
            "task_set": plan.task_set,
            "prompt_template": plan.template,
            "template_hash": content_hash(plan.template) if plan.template else None,
            "plan": plan_to_json(plan),
            "git_commit": plan.git_commit,
            "versions": json_text(versions),
            **self.suite.run_columns(plan, self.run_id, timeout_seconds),
        }
        yield Entry("runs", row)
        for table, table_rows in rows.items():
            yield from (Entry(table, table_row) for table_row in table_rows)

    def _secrets(self) -> Iterator[str]:
        yield from secrets_of_environment()
        for model in (*self.plan.models, *(model for model, _ in self.later_calls())):
            yield from secrets_of_url(model.base_url or "")
            if key := named_key(model.api_key_env):
                yield key
            headers = model.parameters.get("extra_headers")
            if isinstance(headers, dict):
                yield from map(str, headers.values())


def _adaptive_run(plan: Plan) -> AdaptiveRun | None:
    if plan.adaptive is None:
        return None
    # Imported here: other runs must not wait for numpy.
    from runners.adaptive import AdaptiveRun

    return AdaptiveRun(plan, plan.adaptive)


@contextmanager
def _signals(engine: Engine[PendingCell]) -> Iterator[None]:
    """Stop cleanly at Ctrl-C and SIGTERM; at a second one without waiting for calls in progress."""
    loop = asyncio.get_running_loop()
    kinds = (signal.SIGINT, signal.SIGTERM)

    def stop() -> None:
        engine.stop(Interrupted("interrupted"), at_once=engine.stopped is not None)

    for kind in kinds:
        loop.add_signal_handler(kind, stop)
    try:
        yield
    finally:
        for kind in kinds:
            loop.remove_signal_handler(kind)
