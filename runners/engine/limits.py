"""Rate limits: requests and tokens per minute."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runners.engine.clock import Clock

_MINUTE = 60.0


class Bucket:
    """Spreads an allowance evenly over the minute. Unused allowance is not saved up.

    Providers count per minute, but refuse bursts.
    """

    def __init__(self, per_minute: float, clock: Clock) -> None:
        self._rate = per_minute / _MINUTE
        self._clock = clock
        self._free_at = clock.seconds()

    def reserve(self, amount: float) -> float:
        """Reserve an amount and return the seconds to wait before using it."""
        now = self._clock.seconds()
        starts_at = max(self._free_at, now)
        self._free_at = starts_at + amount / self._rate
        return starts_at - now


class Limiter:
    """The rate limits of one provider. Calls proceed in the order of their arrival."""

    def __init__(
        self, clock: Clock, requests_per_minute: float | None, tokens_per_minute: float | None
    ) -> None:
        self._clock = clock
        self._requests = Bucket(requests_per_minute, clock) if requests_per_minute else None
        self._tokens = Bucket(tokens_per_minute, clock) if tokens_per_minute else None
        self._turn = asyncio.Lock()

    async def wait(self, tokens: int) -> None:
        """Wait until a request of about this many tokens may be sent."""
        if self._requests is None and self._tokens is None:
            return
        async with self._turn:
            waits = [0.0]
            if self._requests is not None:
                waits.append(self._requests.reserve(1))
            if self._tokens is not None:
                waits.append(self._tokens.reserve(tokens))
            if max(waits) > 0:
                await self._clock.sleep(max(waits))
