"""When a failed call is tried again: exponential backoff with jitter, and what servers ask for."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Retrying:
    """How often, and after how long.

    Attributes:
        tries: calls in all, the first one included.
        first_seconds: longest wait before the second try; doubled for each further one.
        longest_seconds: longest wait of our own choice.
        longest_asked_seconds: a server that asks for a longer wait than this is not waited for.
        random: gives a number from 0 to 1, for the jitter.
    """

    tries: int = 5
    first_seconds: float = 2.0
    longest_seconds: float = 60.0
    longest_asked_seconds: float = 600.0
    random: Callable[[], float] = random.random

    def wait(self, tried: int, asked: float | None) -> float | None:
        """Give the seconds to wait after so many tries; None to give up.

        What the server asks for is never undercut; a little jitter on top of it keeps many
        calls from coming back in the same instant.
        """
        if tried >= self.tries:
            return None
        # Above 2^1023 there is no float: whoever tries a thousand times must not fail for that.
        doubled = self.first_seconds * 2.0 ** min(tried - 1, 60)
        backoff: float = min(doubled, self.longest_seconds)
        if asked is None:
            return backoff * (0.5 + self.random() / 2)
        if asked > self.longest_asked_seconds:
            return None
        return asked + self.random() * min(self.first_seconds, 1.0)


def retry_after_seconds(text: str | None, now: datetime | None = None) -> float | None:
    """Read a Retry-After header: seconds, or an HTTP date; None where it is neither.

    Args:
        text: the header's value.
        now: the time that a date is compared with, UTC.
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
