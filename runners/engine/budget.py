"""A cost limit: a call that would probably exceed it is not started."""

from __future__ import annotations


class Budget:
    """Tracks what was spent, and the expected cost of calls in progress.

    Attributes:
        spent: US dollars, over the calls whose cost is known.
    """

    def __init__(self, limit: float | None = None) -> None:
        self.spent = 0.0
        self._limit = limit
        self._reserved = 0.0
        self._n_known = 0

    def reserve(self, estimate: float) -> float | None:
        """Reserve the expected cost of a call and return it; None if it exceeds the limit.

        Args:
            estimate: US dollars. The mean cost of the calls so far is used instead if higher.
        """
        mean = self.spent / self._n_known if self._n_known else 0.0
        amount = max(estimate, mean)
        if self._limit is not None and self.spent + self._reserved + amount > self._limit:
            return None
        self._reserved += amount
        return amount

    def settle(self, reserved: float, cost: float | None) -> None:
        """Replace a reserved amount by the actual cost, None if unknown."""
        self._reserved -= reserved
        if cost is not None:
            self.spent += cost
            self._n_known += 1
