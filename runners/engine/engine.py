"""Makes the calls of a run: concurrently, within limits, retried where that may help.

One event loop, and for each server as many workers as it may have simultaneous calls. The
outcome of a call is passed to `record` and counts once `record` returns: then it is on disk.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from runners.engine.breaker import CircuitBreaker, skipped
from runners.engine.budget import Budget
from runners.engine.clock import Clock
from runners.engine.limits import Limiter
from runners.engine.retry import RetryPolicy
from runners.providers.base import ERROR, EXCEPTION, Failure, Reply, Request, Result
from warehouse.core.errors import BudgetSpent, ModelsUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
    from datetime import datetime

    from runners.providers.base import Provider
    from warehouse.core.errors import EvalstoreError

# Calls in progress at Ctrl-C will be billed: they get this long to finish.
GRACE_SECONDS = 5.0

CellT = TypeVar("CellT")
Server: TypeAlias = tuple[str, str]
Target: TypeAlias = tuple[Server, str]


@dataclass(frozen=True, slots=True)
class Job(Generic[CellT]):
    """A cell and the call that it needs.

    Attributes:
        cell: passed on to `record` with the outcome.
        provider: makes the call.
        request: the call.
        cost: expected cost in US dollars; 0 if unknown.
    """

    cell: CellT
    provider: Provider
    request: Request
    cost: float = 0.0

    @property
    def server(self) -> Server:
        """The provider and the server that it calls: what limits hold for."""
        request = self.request
        return self.provider.name, self.provider.server(request.model, request.base_url)

    @property
    def target(self) -> Target:
        """The model and its server: what a circuit breaker is for."""
        return self.server, self.request.model


@dataclass(frozen=True, slots=True)
class FailedCall:
    """A failed call that was retried.

    Attributes:
        failure: its result.
        started_at: UTC.
        e2e_ms: duration of the call in milliseconds.
        waited_seconds: delay before the next call.
    """

    failure: Failure
    started_at: datetime
    e2e_ms: int
    waited_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """The outcome of a cell's call, retries included.

    Attributes:
        result: of the last call.
        started_at: of the last call, or of the decision to make none; UTC.
        ended_at: of the last call; UTC.
        e2e_ms: duration of the last call in milliseconds, without queueing and delays.
        duration_seconds: of all calls and the delays between them.
        failed_calls: the calls before the last.
    """

    result: Result
    started_at: datetime
    ended_at: datetime
    e2e_ms: int | None
    duration_seconds: float
    failed_calls: tuple[FailedCall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """Limits of the engine.

    Attributes:
        timeout_seconds: total time limit of one call.
        concurrency: maximum simultaneous calls per server; None for the provider's default.
        requests_per_minute: per server; None for no limit.
        tokens_per_minute: per server, estimated from the prompts; None for no limit.
        max_consecutive_failures: a model that fails this often in a row is no longer called.
        retries: when a call is retried.
    """

    timeout_seconds: float = 300.0
    concurrency: int | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    max_consecutive_failures: int = 5
    retries: RetryPolicy = field(default_factory=RetryPolicy)


class Engine(Generic[CellT]):
    """The engine of one command.

    Attributes:
        budget: tracks the costs.
        stopped: why it stopped early, as an error for the user; None if it did not.
    """

    def __init__(
        self,
        settings: EngineSettings,
        record: Callable[[CellT, CallOutcome], Awaitable[None]],
        *,
        budget: Budget | None = None,
        clock: Clock | None = None,
        models: Collection[Target] = (),
    ) -> None:
        """Create an engine, which stops once none of `models` may be called any more."""
        self.budget = budget or Budget()
        self.stopped: EvalstoreError | None = None
        self._settings = settings
        self._record = record
        self._clock = clock or Clock()
        self._models = models
        self._skips: deque[tuple[CellT, CallOutcome]] = deque()
        self._limiters: dict[Server, Limiter] = {}
        # Simultaneous calls by `call`.
        self._others: dict[Server, asyncio.Semaphore] = {}
        self._breakers: dict[Target, CircuitBreaker] = defaultdict(
            lambda: CircuitBreaker(settings.max_consecutive_failures)
        )
        self._workers: set[asyncio.Task[None]] = set()
        self._busy: set[asyncio.Task[None] | None] = set()

    async def run(self, jobs: Iterable[Job[CellT]]) -> None:
        """Make the calls, until all are recorded or the engine is stopped.

        Raises:
            OSError: a result could not be recorded.
        """
        by_server: dict[Server, list[Job[CellT]]] = defaultdict(list)
        for job in jobs:
            by_server[job.server].append(job)
        for queue in by_server.values():
            self._start_workers(queue)
        try:
            await self._watch()
            # Not before: where no model is left in the end, they are still to be made.
            while self._skips and self.stopped is None:
                await self._record(*self._skips.popleft())
        finally:
            for worker in self._workers:
                worker.cancel()
            await asyncio.gather(*self._workers, return_exceptions=True)
            self._workers.clear()

    async def call(self, job: Job[None]) -> CallOutcome:
        """Make another call for a cell in progress, within the same limits except the budget.

        The budget counts it; the cost of the cell's job should include it.
        """
        breaker = self._breakers[job.target]
        if breaker.reason is not None:
            return self._skipped(breaker)
        server = job.server
        if server not in self._others:
            n_calls = self._settings.concurrency or job.provider.concurrency
            self._others[server] = asyncio.Semaphore(n_calls)
        async with self._others[server]:
            outcome = await self._call_with_retries(job)
        breaker.record(outcome.result)
        self.budget.spent += outcome.result.cost_usd or 0.0
        return outcome

    def stop(self, reason: EvalstoreError, *, at_once: bool = False) -> None:
        """Start no more calls; those in progress may finish, unless `at_once`."""
        self.stopped = self.stopped or reason
        for worker in self._workers:
            if at_once or worker not in self._busy:
                worker.cancel()

    def _start_workers(self, queue: list[Job[CellT]]) -> None:
        provider = queue[0].provider
        limits = self._settings
        jobs = iter(queue)
        for _ in range(min(limits.concurrency or provider.concurrency, len(queue))):
            self._workers.add(asyncio.create_task(self._work(jobs)))

    async def _watch(self) -> None:
        """Wait for the workers; after a stop, at most `GRACE_SECONDS` for calls in progress."""
        pending = self._workers
        while pending:
            limit = None if self.stopped is None else GRACE_SECONDS
            # Polled: a stop comes from a signal handler, which does not wake this task.
            done, pending = await asyncio.wait(
                pending, timeout=limit or 0.2, return_when=asyncio.FIRST_COMPLETED
            )
            for worker in done:
                if not worker.cancelled():
                    worker.result()
            if limit is not None and not done:
                return

    async def _work(self, jobs: Iterator[Job[CellT]]) -> None:
        for job in jobs:
            if self.stopped is not None:
                return
            await self._process(job)

    async def _process(self, job: Job[CellT]) -> None:
        breaker = self._breakers[job.target]
        if breaker.reason is not None:
            if self._models and all(self._breakers[model].reason for model in self._models):
                self.stop(self._unavailable())
                return
            self._skips.append((job.cell, self._skipped(breaker)))
            return
        try:
            reserved = self.budget.reserve(job.cost)
        except BudgetSpent as spent:
            self.stop(spent)
            return
        cost = None
        try:
            outcome = await self._call_with_retries(job)
            cost = outcome.result.cost_usd
            breaker.record(outcome.result)
            await self._record(job.cell, outcome)
        finally:
            self.budget.settle(reserved, cost)
            self._busy.discard(asyncio.current_task())

    def _skipped(self, breaker: CircuitBreaker) -> CallOutcome:
        now = self._clock.now()
        return CallOutcome(
            result=skipped(breaker.reason or ""),
            started_at=now,
            ended_at=now,
            e2e_ms=None,
            duration_seconds=0.0,
        )

    def _unavailable(self) -> ModelsUnavailable:
        n_failures = self._settings.max_consecutive_failures
        which = "every model" if len(self._models) > 1 else "the model"
        return ModelsUnavailable(f"{which} failed {n_failures} calls in a row")

    def _limiter(self, server: Server) -> Limiter:
        if server not in self._limiters:
            limits = self._settings
            self._limiters[server] = Limiter(
                self._clock, limits.requests_per_minute, limits.tokens_per_minute
            )
        return self._limiters[server]

    async def _call_with_retries(self, job: Job[CellT] | Job[None]) -> CallOutcome:
        began = self._clock.seconds()
        failed: list[FailedCall] = []
        while True:
            await self._limiter(job.server).wait(job.request.estimated_tokens)
            waited = self._clock.seconds() - began
            outcome = await self._call(job)
            result = outcome.result
            delay = self._delay(result, len(failed) + 1)
            if delay is None or not isinstance(result, Failure):
                # Without delays and retries equal to e2e_ms, to the millisecond.
                duration = round(waited, 3) + outcome.duration_seconds
                return replace(outcome, duration_seconds=duration, failed_calls=tuple(failed))
            failed.append(FailedCall(result, outcome.started_at, outcome.e2e_ms or 0, delay))
            self._busy.discard(asyncio.current_task())
            await self._clock.sleep(delay)

    def _delay(self, result: Result, n_tries: int) -> float | None:
        if isinstance(result, Reply) or not result.is_transient or self.stopped is not None:
            return None
        return self._settings.retries.delay(n_tries, result.retry_after)

    async def _call(self, job: Job[CellT] | Job[None]) -> CallOutcome:
        # From here until it is recorded, the call counts as in progress.
        self._busy.add(asyncio.current_task())
        started_at = self._clock.now()
        began = int(self._clock.seconds() * 1000)
        try:
            async with asyncio.timeout(self._settings.timeout_seconds):
                result = await job.provider.call(job.request)
        except TimeoutError:
            timed_out = job.provider.timed_out
            seconds = f"{self._settings.timeout_seconds:g}"
            result = replace(timed_out, text=timed_out.text.format(seconds))
        except Exception as error:  # noqa: BLE001 - one broken response must not end the run
            result = Failure(ERROR, EXCEPTION, str(error) or type(error).__name__)
        e2e_ms = max(int(self._clock.seconds() * 1000) - began, 0)
        result = result.shortened if isinstance(result, Failure) else result
        return CallOutcome(
            result=result,
            started_at=started_at,
            ended_at=self._clock.now(),
            e2e_ms=e2e_ms,
            duration_seconds=e2e_ms / 1000,
        )
