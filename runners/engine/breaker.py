"""A circuit breaker: a model whose calls keep failing is no longer called."""

from __future__ import annotations

from runners.providers.base import EMPTY, SKIPPED, Failure, Reply, Result

CIRCUIT_OPEN = "circuit_open"


class CircuitBreaker:
    """Opens after a number of consecutive failed calls and stays open for the rest of the run."""

    def __init__(self, max_failures: int) -> None:
        self._max_failures = max_failures
        self._n_failures = 0
        self._last = ""

    def record(self, result: Result) -> None:
        """Count the result of a call and its retries. An empty response is not a failure here."""
        if isinstance(result, Reply) or result.failure_type == EMPTY:
            self._n_failures = 0
            return
        self._n_failures += 1
        self._last = f"{result.status}, {result.failure_type}"

    @property
    def reason(self) -> str | None:
        """Why the breaker is open; None while it is closed."""
        if self._n_failures < self._max_failures:
            return None
        return f"not called: {self._n_failures} consecutive failures, the last {self._last}"


def skipped(reason: str) -> Failure:
    """Return the result of a call that an open breaker prevented."""
    return Failure(SKIPPED, CIRCUIT_OPEN, reason)
