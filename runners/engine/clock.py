"""The clock of the engine, injected so that tests need not wait."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime


class Clock:
    """Reads the time and waits."""

    def now(self) -> datetime:
        """Return the wall-clock time: UTC without time zone, in whole milliseconds."""
        moment = datetime.now(UTC).replace(tzinfo=None)
        return moment.replace(microsecond=moment.microsecond // 1000 * 1000)

    def seconds(self) -> float:
        """Return a monotonic time in seconds."""
        return time.perf_counter()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
