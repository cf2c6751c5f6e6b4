"""Makes the calls of a run: many at once, within limits, tried again where that may help.

One event loop, and so many workers a provider as it may have calls at once. What a call gave is
handed to `record`, and counts when `record` returns: that is when it is on disk.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from runners.engine.breaker import Breaker, not_asked
from runners.engine.budget import Budget
from runners.engine.clock import Clock, SystemClock
from runners.engine.limits import Limiter
from runners.engine.retry import Retrying
from runners.providers.base import ERROR, EXCEPTION, Failure, Reply, Request, Result

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator
    from datetime import datetime

    from runners.providers.base import Provider

# After Ctrl-C, calls under way are paid already: they get this long to answer.
GRACE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Job:
    """A cell, and the call that it asks for.

    Attributes:
        cell: what the caller knows it by.
        provider: who is to make the call.
        request: the call.
        cost: US dollars that it may cost, as far as that can be told before.
    """

    cell: Any
    provider: Provider
    request: Request
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Try:
    """A failed call that was tried again: when, what came of it, and the wait that followed."""

    failure: Failure
    started_at: datetime
    e2e_ms: int
    waited_seconds: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a cell ended.

    Attributes:
        result: of the last try.
        started_at: of the last try; of the decision where none was made.
        ended_at: of the last try.
        e2e_ms: of the last try, without queueing and backoff.
        duration_seconds: of all tries, with the waits between them.
        earlier: the tries before the last.
    """

    result: Result
    started_at: datetime
    ended_at: datetime
    e2e_ms: int | None
    duration_seconds: float
    earlier: tuple[Try, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """How to run.

    Attributes:
        timeout_seconds: of one call, in total.
        concurrency: calls at once for each provider; None for the provider's own.
        requests_per_minute: for each provider.
        tokens_per_minute: for each provider, by an estimate from the length of the prompts.
        failures_in_a_row: after so many a model is given up.
        retrying: when a call is tried again.
    """

    timeout_seconds: float = 300.0
    concurrency: int | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    failures_in_a_row: int = 5
    retrying: Retrying = field(default_factory=Retrying)


class Engine:
    """The engine of one command.

    Attributes:
        budget: what was spent.
        stop_reason: why it stopped before all was asked; None while it did not.
    """

    def __init__(
        self,
        settings: Settings,
        record: Callable[[Any, Outcome], Awaitable[None]],
        *,
        budget: Budget | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.budget = budget or Budget()
        self.stop_reason: str | None = None
        self._settings = settings
        self._record = record
        self._clock = clock or SystemClock()
        self._limiters: dict[str, Limiter] = {}
        self._breakers: dict[tuple[str, str], Breaker] = defaultdict(
            lambda: Breaker(settings.failures_in_a_row)
        )
        self._workers: set[asyncio.Task[None]] = set()
        self._busy: set[asyncio.Task[Any] | None] = set()

    async def run(self, jobs: Iterable[Job]) -> None:
        """Make the calls, until all are recorded or the engine is stopped.

        Raises:
            OSError: a result could not be recorded.
        """
        by_provider: dict[str, list[Job]] = defaultdict(list)
        for job in jobs:
            by_provider[job.provider.name].append(job)
        for queue in by_provider.values():
            self._start_workers(queue)
        try:
            await self._watch()
        finally:
            for worker in self._workers:
                worker.cancel()
            await asyncio.gather(*self._workers, return_exceptions=True)
            self._workers.clear()

    def stop(self, reason: str, *, at_once: bool = False) -> None:
        """Begin no further call; those under way may still answer, unless `at_once`."""
        self.stop_reason = self.stop_reason or reason
        for worker in self._workers:
            if at_once or worker not in self._busy:
                worker.cancel()

    def _start_workers(self, queue: list[Job]) -> None:
        provider = queue[0].provider
        limits = self._settings
        if provider.name not in self._limiters:
            self._limiters[provider.name] = Limiter(
                self._clock, limits.requests_per_minute, limits.tokens_per_minute
            )
        jobs = iter(queue)
        for _ in range(min(limits.concurrency or provider.concurrency, len(queue))):
            self._workers.add(asyncio.create_task(self._work(jobs)))

    async def _watch(self) -> None:
        """Wait for the workers; once stopped, only so long for those that have a call under way."""
        pending = self._workers
        while pending:
            limit = None if self.stop_reason is None else GRACE_SECONDS
            # Looked at now and then: a stop comes from a signal, which wakes nobody here.
            done, pending = await asyncio.wait(
                pending, timeout=limit or 0.2, return_when=asyncio.FIRST_COMPLETED
            )
            for worker in done:
                if not worker.cancelled():
                    worker.result()
            if limit is not None and not done:
                return

    async def _work(self, jobs: Iterator[Job]) -> None:
        for job in jobs:
            if self.stop_reason is not None:
                return
            await self._do(job)

    async def _do(self, job: Job) -> None:
        breaker = self._breakers[job.provider.name, job.request.model]
        if breaker.reason is not None:
            now = self._clock.now()
            skipped = Outcome(not_asked(breaker.reason), now, now, None, 0.0)
            await self._record(job.cell, skipped)
            return
        reserved = self.budget.reserve(job.cost)
        if reserved is None:
            self.stop("the budget is spent")
            return
        cost = None
        try:
            outcome = await self._ask(job)
            cost = outcome.result.cost_usd
            breaker.note(outcome.result)
            await self._record(job.cell, outcome)
        finally:
            self.budget.settle(reserved, cost)
            self._busy.discard(asyncio.current_task())

    async def _ask(self, job: Job) -> Outcome:
        began = self._clock.seconds()
        earlier: list[Try] = []
        while True:
            await self._limiters[job.provider.name].wait(job.request.estimated_tokens)
            waited = self._clock.seconds() - began
            outcome = await self._call(job)
            failure = outcome.result
            wait = self._wait(failure, len(earlier) + 1)
            if wait is None or not isinstance(failure, Failure):
                # Without waits and retries the same as e2e_ms, to the millisecond.
                duration = round(waited, 3) + outcome.duration_seconds
                return replace(outcome, duration_seconds=duration, earlier=tuple(earlier))
            earlier.append(Try(failure, outcome.started_at, outcome.e2e_ms or 0, wait))
            self._busy.discard(asyncio.current_task())
            await self._clock.sleep(wait)

    def _wait(self, result: Result, tried: int) -> float | None:
        if isinstance(result, Reply) or not result.is_transient or self.stop_reason is not None:
            return None
        return self._settings.retrying.wait(tried, result.retry_after)

    async def _call(self, job: Job) -> Outcome:
        # From here until it is recorded, the call is under way.
        self._busy.add(asyncio.current_task())
        started_at = self._clock.now()
        began = int(self._clock.seconds() * 1000)
        try:
            async with asyncio.timeout(self._settings.timeout_seconds):
                result = await job.provider.call(job.request)
        except TimeoutError:
            result = job.provider.timed_out
        except Exception as error:  # noqa: BLE001 - one broken reply must not end the run
            result = Failure(ERROR, EXCEPTION, str(error) or type(error).__name__)
        e2e_ms = max(int(self._clock.seconds() * 1000) - began, 0)
        return Outcome(result, started_at, self._clock.now(), e2e_ms, e2e_ms / 1000)
