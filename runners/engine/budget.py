"""A cost limit: a call that would probably exceed it is not started."""

from __future__ import annotations

import math

from warehouse.core.errors import BudgetSpent

# What settling sums of floats may leave behind, as a share of the limit.
_ROUNDING = 1e-9


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

    def reserve(self, estimate: float) -> float:
        """Reserve the expected cost of a call and return it.

        Args:
            estimate: US dollars. The mean cost of the calls so far is used instead if higher.

        Raises:
            BudgetSpent: it would exceed the limit.
        """
        mean = self.spent / self._n_known if self._n_known else 0.0
        amount = max(estimate, mean)
        if self._limit is not None and self.spent + self._reserved + amount > self._limit:
            raise BudgetSpent(self._refusal(self._limit, amount, is_mean=mean > estimate))
        self._reserved += amount
        return amount

    def settle(self, reserved: float, cost: float | None) -> None:
        """Replace a reserved amount by the actual cost, None if unknown."""
        self._reserved -= reserved
        if cost is not None:
            self.spent += cost
            self._n_known += 1

    def _refusal(self, limit: float, amount: float, *, is_mean: bool) -> str:
        parts = [f"{usd(self.spent)} is spent"]
        if self._reserved > limit * _ROUNDING:
            parts.append(f"{usd(self._reserved)} is reserved for calls in progress")
        basis = "the mean so far" if is_mean else "for its prompt and `max_tokens`, 500 if unset"
        return (
            f"the budget of {usd(limit)} leaves no room for the next call: {', '.join(parts)}, "
            f"and the call would reserve {usd(amount)} ({basis})"
        )


def usd(amount: float) -> str:
    """Return an amount of US dollars, to the hundredth of a cent or two digits if it is less."""
    n_digits = 4 if not amount else max(4, 1 - math.floor(math.log10(abs(amount))))
    return f"${amount:.{n_digits}f}"
