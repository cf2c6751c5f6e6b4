"""A model that fails every call is given up, instead of being asked for hours."""

from __future__ import annotations

from runners.providers.base import EMPTY, Failure, Reply, Result


class Breaker:
    """Opens after so many failed calls in a row, and stays open for the rest of the command."""

    def __init__(self, failures: int) -> None:
        self._allowed = failures
        self._in_a_row = 0
        self._last = ""

    def note(self, result: Result) -> None:
        """Count how a call ended, its retries included. An empty answer is an answer."""
        if isinstance(result, Reply) or result.failure_type == EMPTY:
            self._in_a_row = 0
            return
        self._in_a_row += 1
        self._last = f"{result.status}, {result.failure_type}"

    @property
    def reason(self) -> str | None:
        """Why it is open; None while it is not."""
        if self._in_a_row < self._allowed:
            return None
        return f"not asked: {self._in_a_row} calls in a row failed, the last with {self._last}"


def not_asked(reason: str) -> Failure:
    """Give what a call counts as that was not made because the breaker is open."""
    return Failure("skipped_unavailable", "circuit_open", reason)
