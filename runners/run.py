"""Runs a plan: what the store lacks is asked; an answer is on disk before it counts."""

from __future__ import annotations

import asyncio
import platform
import signal
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from runners.engine.budget import Budget
from runners.engine.engine import Engine, EngineSettings, Job
from runners.journal_writer import Place, Recorder, result_row
from runners.plan import cell_key, cells_of, plan_to_json
from runners.prices import cost
from runners.providers.pool import ProviderPool, estimated_tokens
from runners.suites.registry import family_of
from warehouse.errors import EvalstoreError
from warehouse.formats.json_text import json_text
from warehouse.formats.masking import Mask, secrets_of_environment, secrets_of_url
from warehouse.hashing import content_hash
from warehouse.journal.journal import Entry, Journal
from warehouse.lake.lake import evalstore_version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from runners.completed import CompletedCells
    from runners.engine.engine import CallOutcome
    from runners.plan import Cell, Plan
    from runners.suites.base import Suite
    from warehouse.store import Store
    from warehouse.types import ResultRow, Row

_RESERVE_BYTES = 1 << 20
_RESERVE_PER_CALL = 1 << 16


@dataclass(frozen=True, slots=True)
class Options:
    """How to run.

    Attributes:
        settings: of the engine.
        max_cost_usd: what the run may cost, with what it has cost already.
        retry_failed: ask again what failed.
        answers: the files that `replay` answers from.
        base_url: where the provider of a resumed run is now; None for where it was.
    """

    settings: EngineSettings = field(default_factory=EngineSettings)
    max_cost_usd: float | None = None
    retry_failed: bool = False
    answers: tuple[Path, ...] = ()
    base_url: str | None = None


@dataclass(frozen=True, slots=True)
class PendingCell:
    """A cell to be asked, and the failure that its result is to stand in for."""

    cell: Cell
    stands_in_for: str | None


class Run:
    """One run, claimed by this process.

    Attributes:
        run_id: its name.
        plan: what it is to ask.
        options: how to run it.
        family: how its suite asks and judges.
        callers: its providers.
        wanted: the cells that the store lacks.
        stop_reason: why it stopped before all was asked; None while it did not.
    """

    def __init__(
        self, store: Store, run_id: str, plan: Plan, done: CompletedCells, options: Options
    ) -> None:
        self.run_id = run_id
        self.plan = plan
        self.stop_reason: str | None = None
        self.options = options
        self.family: Suite = family_of(plan.family)
        self._store = store
        self._done = done
        self.callers = ProviderPool(options.answers)
        self.wanted = list(self._lacking())

    def execute(
        self, rows: Mapping[str, Sequence[Row]], on_outcome: Callable[[str, CallOutcome], None]
    ) -> None:
        """Ask what is lacking, and put it into the lake.

        Args:
            rows: of tasks and models, to be kept with the run.
            on_outcome: told of each cell that ended, with its model's name.

        Raises:
            EvalstoreError: the store cannot be written.
        """
        if not self.wanted and self._done.plan is not None:
            return
        settings = self.options.settings
        n_calls = min(settings.concurrency or 8, len(self.wanted))
        generation = self._done.generation
        reserve = _RESERVE_BYTES + n_calls * _RESERVE_PER_CALL
        mask = Mask(self._secrets())
        with Journal(self._store.path, generation, mask=mask, reserve_bytes=reserve) as journal:
            try:
                journal.append(self._header(journal.name, rows))
                asyncio.run(self._ask(journal, on_outcome))
            except OSError as error:
                raise EvalstoreError(
                    f"{self._store.path}: {error.strerror or error}; what was answered before is "
                    f"safe: make room, then `evalstore run --resume {self.run_id}`"
                ) from error

    def _lacking(self) -> Iterator[PendingCell]:
        rows = {key: list(found) for key, found in self._done.rows.items()}
        for cell in cells_of(self.plan):
            found = rows.get(cell_key(self.plan, cell))
            if not found:
                yield PendingCell(cell, None)
                continue
            row = found.pop(0)
            if self.options.retry_failed and not row.success:
                yield PendingCell(cell, row.content_id)

    async def _ask(self, journal: Journal, on_outcome: Callable[[str, CallOutcome], None]) -> None:
        recorder = Recorder(journal)
        place = Place(self.plan.suite, self.run_id, journal.name)
        budget = Budget(self.options.max_cost_usd)
        budget.spent = self._done.cost_usd

        async def record(wanted: PendingCell, outcome: CallOutcome) -> None:
            row = self._row(place, wanted, outcome)
            further = self.family.entries(self.plan, wanted.cell, outcome, row)
            await recorder.add([Entry("results", row), *further])
            on_outcome(wanted.cell.model.name, outcome)
            if journal.is_full:
                engine.stop("the disk is full")

        engine = Engine(self.options.settings, record, budget=budget)
        try:
            with _signals(engine):
                for wanted in self._in_turn():
                    if engine.stop_reason is None:
                        await self._ask_together(engine, recorder, wanted)
        finally:
            await recorder.finish()
            await self.callers.close()
            self.stop_reason = engine.stop_reason

    async def _ask_together(
        self, engine: Engine[PendingCell], recorder: Recorder, wanted: list[PendingCell]
    ) -> None:
        """Ask some cells at the same time, and note what the suite notes before and after."""
        first, invocation = wanted[0].cell, self._done.n_invocations + 1
        before = partial(self.family.before, first.model, first, invocation)
        await recorder.add(await asyncio.to_thread(lambda: list(before())))
        await engine.run(map(self.job, wanted))
        after = partial(self.family.after, first.model, invocation)
        await recorder.add(await asyncio.to_thread(lambda: list(after())))

    def _in_turn(self) -> list[list[PendingCell]]:
        """Give what is asked at the same time: a model after the other, where the suite says so."""
        if not self.family.one_by_one:
            return [self.wanted] if self.wanted else []
        by_model: dict[Any, list[PendingCell]] = {}
        for wanted in self.wanted:
            by_model.setdefault(id(wanted.cell.model), []).append(wanted)
        return list(by_model.values())

    def job(self, wanted: PendingCell) -> Job[PendingCell]:
        """Give the call that a cell asks for, with what it may cost."""
        model = wanted.cell.model
        request = self.family.request(self.plan, wanted.cell)
        usd = cost(self.callers.price(model), *estimated_tokens(request)) or 0.0
        return Job(wanted, self.callers.provider(model), request, usd)

    def _row(self, place: Place, wanted: PendingCell, outcome: CallOutcome) -> ResultRow:
        row: ResultRow = {
            **result_row(self.plan, place, wanted.cell, outcome),
            **self.family.columns(self.plan, wanted.cell, outcome),
            "stands_in_for": wanted.stands_in_for,
        }
        limit = self.family.raw_limit
        raw = (row["raw_output"] or "").encode()
        if limit is not None and len(raw) > limit:
            row["raw_output"] = raw[:limit].decode("utf-8", "ignore")
            row["raw_output_truncated"] = True
        return row

    def _header(self, invocation: str, rows: Mapping[str, Sequence[Row]]) -> Iterable[Entry]:
        plan = self.plan
        paths = {model.path for model in plan.models}
        yield Entry(
            "runs",
            {
                "content_id": content_hash("run", plan.suite, self.run_id, invocation),
                "origin": "runner",
                "run_date": plan.run_date,
                "model_path": paths.pop() if len(paths) == 1 else None,
                "task_set": plan.task_set,
                "prompt_template": plan.template,
                "template_hash": content_hash(plan.template) if plan.template else None,
                "plan": plan_to_json(plan),
                "git_commit": plan.git_commit,
                "versions": json_text(
                    {"evalstore": evalstore_version(), "python": platform.python_version()}
                ),
                **self.family.describe(plan, self.run_id, self.options.settings.timeout_seconds),
            },
        )
        for table, table_rows in rows.items():
            yield from (Entry(table, row) for row in table_rows)

    def _secrets(self) -> Iterator[str]:
        yield from secrets_of_environment()
        for model in self.plan.models:
            yield from secrets_of_url(model.base_url or "")
            headers = model.parameters.get("extra_headers")
            if isinstance(headers, dict):
                yield from map(str, headers.values())


@contextmanager
def _signals(engine: Engine[PendingCell]) -> Iterator[None]:
    """Stop cleanly at Ctrl-C and SIGTERM; a second one does not wait for calls under way."""
    loop = asyncio.get_running_loop()
    kinds = (signal.SIGINT, signal.SIGTERM)

    def stop() -> None:
        engine.stop("interrupted", at_once=engine.stop_reason is not None)

    for kind in kinds:
        loop.add_signal_handler(kind, stop)
    try:
        yield
    finally:
        for kind in kinds:
            loop.remove_signal_handler(kind)
