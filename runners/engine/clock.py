"""Time, as the engine sees it: injected, so that tests need not wait."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What tells the time and waits."""

    def now(self) -> datetime:
        """Give the wall clock's time: UTC without zone, whole milliseconds."""

    def seconds(self) -> float:
        """Give a clock that never goes back, in seconds."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""


class SystemClock:
    """The real one."""

    def now(self) -> datetime:
        """Give the wall clock's time: UTC without zone, whole milliseconds."""
        moment = datetime.now(UTC).replace(tzinfo=None)
        return moment.replace(microsecond=moment.microsecond // 1000 * 1000)

    def seconds(self) -> float:
        """Give a clock that never goes back, in seconds."""
        return time.perf_counter()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
