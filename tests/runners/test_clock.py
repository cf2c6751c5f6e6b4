"""The clock of the system, as the engine reads it."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from runners.engine import clock
from runners.engine.clock import Clock


class FixedTime(datetime):
    """A moment, which is read in the time zone that is asked for."""

    moment = None

    @classmethod
    def now(cls, tz=None):
        return cls.moment.astimezone(tz)


@pytest.mark.parametrize(
    ("microsecond", "kept"),
    [(0, 0), (999, 0), (1_000, 1_000), (45_678, 45_000), (999_999, 999_000)],
)
def test_the_time_is_utc_in_whole_milliseconds(monkeypatch, microsecond, kept):
    """Rounded down: the lake keeps milliseconds, and no call begins in the future."""
    monkeypatch.setattr(clock, "datetime", FixedTime)
    helsinki = timezone(timedelta(hours=2))
    monkeypatch.setattr(
        FixedTime, "moment", FixedTime(2026, 3, 1, 1, 30, 59, microsecond, tzinfo=helsinki)
    )
    now = Clock().now()
    assert now.tzinfo is None
    assert now == datetime(2026, 2, 28, 23, 30, 59, kept, tzinfo=UTC).replace(tzinfo=None)
