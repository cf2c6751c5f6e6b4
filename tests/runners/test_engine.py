"""The engine, with a clock that does not wait and a provider that follows a script."""

import asyncio
import itertools
from datetime import UTC, datetime, timedelta

import pytest

from runners.engine.budget import Budget
from runners.engine.engine import Engine, EngineSettings, Job
from runners.engine.retry import RetryPolicy, retry_after_seconds
from runners.providers.base import ERROR, Failure, Provider, Reply, Request
from warehouse.core.errors import BudgetSpent, Interrupted, ModelsUnavailable

BUSY = Failure("rate_limited", "http_429", "slow down", is_transient=True)
REFUSED = Failure("auth_error", "http_401", "no")


class FakeClock:
    """Sleeps by advancing its own time."""

    def __init__(self):
        self.at = 0.0
        self.slept = []

    def now(self):
        return datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None) + timedelta(seconds=self.at)

    def seconds(self):
        return self.at

    async def sleep(self, seconds):
        self.slept.append(seconds)
        self.at += seconds
        await asyncio.sleep(0)


class Scripted(Provider):
    """Returns one result after another; a number in the script advances the clock."""

    name = "scripted"
    concurrency = 4

    def __init__(self, script, clock=None):
        self.script = iter(script)
        self.clock = clock
        self.calls = []
        self.in_progress = self.peak = 0

    async def call(self, request):
        self.calls.append((request.prompt, self.clock.at if self.clock else None))
        self.in_progress += 1
        self.peak = max(self.peak, self.in_progress)
        await asyncio.sleep(0)
        self.in_progress -= 1
        result = next(self.script)
        while isinstance(result, float):
            self.clock.at += result
            result = next(self.script)
        if isinstance(result, Exception):
            raise result
        return result


def run(provider, n, *, clock=None, budget=None, cost=0.0, **settings):
    """Run n cells; return the recorded outcomes by cell, and the engine."""
    recorded = {}

    async def record(cell, outcome):
        assert cell not in recorded
        recorded[cell] = outcome

    async def main():
        settings.setdefault("retries", RetryPolicy(random=lambda: 1.0))
        engine = Engine(
            EngineSettings(**settings), record, budget=budget, clock=clock or FakeClock()
        )
        await engine.run(Job(i, provider, Request("m", str(i)), cost) for i in range(n))
        return engine

    return recorded, asyncio.run(main())


def test_each_cell_is_called_once_within_the_concurrency():
    provider = Scripted(itertools.repeat(Reply("yes")))
    recorded, _ = run(provider, 50, concurrency=7)
    assert sorted(recorded) == list(range(50))
    assert len(provider.calls) == 50
    assert provider.peak == 7


def test_retries_are_recorded_but_not_part_of_the_latency():
    clock = FakeClock()
    provider = Scripted([0.5, BUSY, 0.25, BUSY, 0.125, Reply("yes")], clock)
    recorded, _ = run(provider, 1, clock=clock)
    outcome = recorded[0]
    assert outcome.result.text == "yes"
    assert [call.failure for call in outcome.failed_calls] == [BUSY, BUSY]
    # The delay doubles: 2 s, then 4 s, with the jitter at its maximum.
    assert [call.waited_seconds for call in outcome.failed_calls] == clock.slept == [2.0, 4.0]
    assert [call.e2e_ms for call in outcome.failed_calls] == [500, 250]
    assert outcome.e2e_ms == 125
    assert outcome.duration_seconds == 0.5 + 2 + 0.25 + 4 + 0.125


def test_the_delay_is_never_shorter_than_the_server_asks_for():
    clock = FakeClock()
    busy = Failure("rate_limited", "http_429", is_transient=True, retry_after=30.0)
    run(Scripted([busy, Reply("yes")], clock), 1, clock=clock)
    assert 30 <= clock.slept[0] <= 31


def test_a_delay_of_hours_ends_the_retries():
    busy = Failure("rate_limited", "http_429", is_transient=True, retry_after=7200.0)
    recorded, _ = run(Scripted([busy]), 1)
    assert recorded[0].result.failure_type == "http_429"


def test_calls_are_limited_and_permanent_failures_not_retried():
    provider = Scripted(itertools.repeat(BUSY))
    recorded, _ = run(provider, 1)
    assert len(provider.calls) == 5
    assert len(recorded[0].failed_calls) == 4
    provider = Scripted([REFUSED])
    assert run(provider, 1)[0][0].failed_calls == ()


def test_a_model_that_fails_every_call_is_no_longer_called():
    provider = Scripted(itertools.repeat(REFUSED))
    recorded, _ = run(provider, 40, concurrency=1)
    assert len(provider.calls) == 5
    skipped = recorded[39].result
    assert (skipped.status, skipped.failure_type) == ("skipped_unavailable", "circuit_open")
    assert skipped.text == "not called: 5 consecutive failures, the last auth_error, http_401"


class Located(Scripted):
    """A provider whose models are at servers of their own."""

    def server(self, _model, base_url):
        return base_url


def located(script, n):
    """Return jobs for the models a and b, n each, at servers of their own."""
    provider = Located(script)
    requests = [Request(m, str(i), base_url=m) for i in range(n) for m in "ab"]
    return provider, [Job((r.model, r.prompt), provider, r) for r in requests]


def test_an_engine_stops_when_no_model_can_be_called():
    provider, jobs = located(itertools.repeat(REFUSED), 40)
    recorded = {}

    async def record(cell, outcome):
        recorded[cell] = outcome

    async def main():
        models = {job.target for job in jobs}
        engine = Engine(EngineSettings(concurrency=1), record, clock=FakeClock(), models=models)
        await engine.run(jobs)
        return engine.stopped

    stopped = asyncio.run(main())
    assert isinstance(stopped, ModelsUnavailable)
    assert str(stopped) == "every model failed 5 calls in a row"
    assert len(provider.calls) == len(recorded) == 10


def test_models_of_different_servers_do_not_wait_for_each_other():
    provider, jobs = located(itertools.repeat(Reply("yes")), 20)

    async def record(_cell, _outcome):
        pass

    async def main():
        engine = Engine(EngineSettings(concurrency=3), record, clock=FakeClock())
        await engine.run(jobs)

    asyncio.run(main())
    assert provider.peak == 6


def test_failures_between_replies_do_not_open_the_breaker():
    provider = Scripted(itertools.cycle([REFUSED] * 4 + [Reply("yes")]))
    recorded, _ = run(provider, 40, concurrency=1)
    assert len(provider.calls) == len(recorded) == 40


def test_empty_responses_do_not_open_the_breaker():
    provider = Scripted(itertools.repeat(Failure("ok", "empty_response")))
    run(provider, 20, concurrency=1)
    assert len(provider.calls) == 20


def test_requests_per_minute():
    clock = FakeClock()
    provider = Scripted(itertools.repeat(Reply("yes")), clock)
    run(provider, 4, clock=clock, requests_per_minute=30)
    assert [at for _, at in provider.calls] == [0, 2, 4, 6]  # 60 s / 30


def test_tokens_per_minute():
    clock = FakeClock()
    provider = Scripted(itertools.repeat(Reply("yes")), clock)
    run(provider, 3, clock=clock, tokens_per_minute=6)
    assert [at for _, at in provider.calls] == [0, 10, 20]  # a token each: 60 s / 6


def test_the_budget_stops_the_run_before_it_is_exceeded():
    provider = Scripted(itertools.repeat(Reply("yes", cost_usd=0.3)))
    recorded, engine = run(provider, 40, budget=Budget(1.0), cost=0.2, concurrency=4)
    assert engine.budget.spent == pytest.approx(0.3 * len(recorded))
    assert engine.budget.spent <= 1.2  # the first four were estimated at 0.2 each
    assert isinstance(engine.stopped, BudgetSpent)
    assert str(engine.stopped) == (
        "the budget of $1.0000 leaves no room for the next call: $0.3000 is spent, "
        "$0.6000 is reserved for calls in progress, and the call would reserve $0.3000 (the mean "
        "so far)"
    )
    assert len(provider.calls) == len(recorded)


def test_a_provider_that_raises_does_not_end_the_run():
    recorded, _ = run(Scripted([ValueError("odd"), Reply("yes")]), 2, concurrency=1)
    assert recorded[0].result == Failure(ERROR, "exception", "odd")
    assert recorded[1].result.text == "yes"


class Hanging(Scripted):
    async def call(self, request):
        self.calls.append(request.prompt)
        await asyncio.Event().wait()


def test_the_timeout_covers_the_whole_call():
    recorded, _ = run(
        Hanging([]), 1, timeout_seconds=0.01, retries=RetryPolicy(max_tries=2, first_seconds=0)
    )
    assert recorded[0].result.text == "timed out after 0.01 s (--timeout-s)"
    assert len(recorded[0].failed_calls) == 1


def test_after_a_stop_calls_in_progress_are_recorded_and_none_begins():
    provider = Scripted(itertools.repeat(Reply("yes")))
    recorded = []

    async def main():
        async def record(cell, _outcome):
            engine.stop(Interrupted("interrupted"))
            await asyncio.sleep(0)
            recorded.append(cell)

        engine = Engine(EngineSettings(concurrency=3), record)
        await engine.run(Job(i, provider, Request("m", "p")) for i in range(50))

    asyncio.run(main())
    assert len(provider.calls) == len(recorded) <= 3


def test_a_second_stop_cancels_calls_in_progress():
    async def main():
        engine = Engine(EngineSettings(), record=None)
        work = asyncio.create_task(engine.run([Job(0, Hanging([]), Request("m", "p"))]))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        engine.stop(Interrupted("interrupted"))
        engine.stop(Interrupted("again"), at_once=True)
        await asyncio.wait_for(work, 60)

    asyncio.run(main())


def test_an_outcome_that_cannot_be_recorded_ends_the_run():
    async def record(_cell, _outcome):
        raise OSError(28, "No space left on device")

    async def main():
        engine = Engine(EngineSettings(), record)
        await engine.run([Job(0, Scripted([Reply("yes")]), Request("m", "p"))])

    with pytest.raises(OSError, match="No space"):
        asyncio.run(main())


NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("Thu, 01 Jan 2026 12:00:09 GMT", 9.0),
        ("Thu, 01 Jan 2026 11:00:00 GMT", 0.0),
        ("soon", None),
        ("Mon, 01 Jan 2026 00:00:00 +9999999999999", None),
        ("Mon, 01 Jan 999999999999999999999 00:00:00 GMT", None),
        ("nan", None),
        ("inf", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after(text, seconds):
    assert retry_after_seconds(text, NOW) == seconds


def test_the_delay_before_the_ten_thousandth_call():
    assert 30 <= RetryPolicy(max_tries=10**6).delay(10**4, None) <= 60
