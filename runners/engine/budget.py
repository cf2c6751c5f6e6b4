"""A limit on what a run may cost: no call is begun that would likely pass it."""

from __future__ import annotations


class Budget:
    """Counts what was spent, and what calls under way are expected to cost.

    Attributes:
        spent: US dollars, over the calls whose cost is known.
    """

    def __init__(self, limit: float | None = None) -> None:
        self.spent = 0.0
        self._limit = limit
        self._reserved = 0.0
        self._n_known = 0

    def reserve(self, estimate: float) -> float | None:
        """Set aside what a call may cost; None where there is no room for it.

        Args:
            estimate: US dollars. Once calls have been paid, their mean counts where it is higher.
        """
        mean = self.spent / self._n_known if self._n_known else 0.0
        amount = max(estimate, mean)
        if self._limit is not None and self.spent + self._reserved + amount > self._limit:
            return None
        self._reserved += amount
        return amount

    def settle(self, reserved: float, cost: float | None) -> None:
        """Put what a call really cost in the place of what was set aside."""
        self._reserved -= reserved
        if cost is not None:
            self.spent += cost
            self._n_known += 1
