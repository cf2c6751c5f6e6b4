"""Retries of failed calls: exponential backoff with jitter, and `Retry-After` of servers."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often a call is retried, and after what delay.

    Attributes:
        max_tries: maximum number of calls, including the first.
        first_seconds: maximum delay before the second call; doubled for each one after it.
        max_seconds: maximum delay, unless the server asks for a longer one.
        max_retry_after_seconds: if a server asks for a longer delay, the call is not retried.
        random: returns a number from 0 to 1, for the jitter.
    """

    max_tries: int = 5
    first_seconds: float = 2.0
    max_seconds: float = 60.0
    max_retry_after_seconds: float = 600.0
    random: Callable[[], float] = random.random

    def delay(self, n_tries: int, retry_after: float | None) -> float | None:
        """Return the seconds to wait before the next call; None for no more calls.

        The delay is never shorter than the server asks for; some jitter on top keeps
        concurrent calls from returning at the same moment.

        Args:
            n_tries: calls made so far, at least 1.
            retry_after: seconds that the server asks to wait; None if it does not say.
        """
        if n_tries >= self.max_tries:
            return None
        # Capped: 2.0 ** 1024 overflows, and a user may allow thousands of tries.
        doubled = self.first_seconds * 2.0 ** min(n_tries - 1, 60)
        backoff: float = min(doubled, self.max_seconds)
        if retry_after is None:
            return backoff * (0.5 + self.random() / 2)
        if retry_after > self.max_retry_after_seconds:
            return None
        return retry_after + self.random() * min(self.first_seconds, 1.0)


def retry_after_seconds(text: str | None, now: datetime | None = None) -> float | None:
    """Parse a `Retry-After` header: seconds or an HTTP date; None if it is neither.

    Args:
        text: value of the header.
        now: the current time, UTC; None to read the clock.
    """
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        return _until(text, now or datetime.now(UTC))
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _until(text: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max((zoned - now).total_seconds(), 0.0)
