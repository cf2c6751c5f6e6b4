"""The result of a benchmark: ratios of two ways to do the same work, measured in one run."""

from __future__ import annotations

from dataclasses import dataclass

_TOLERANCE = 0.1


@dataclass(frozen=True)
class Ratio:
    """A row of the table of results.

    Attributes:
        work: the work, with its size.
        against: the other way to do it, and what the ratio expresses.
        value: the ratio of the two measurements.
        figures: the two measurements with their units.
        at_least: the target if higher is better.
        at_most: the target if lower is better.
        is_lower_better: whether lower is better, where there is no target.
    """

    work: str
    against: str
    value: float
    figures: str
    at_least: float | None = None
    at_most: float | None = None
    is_lower_better: bool = False

    @property
    def is_met(self) -> bool:
        """Whether the ratio meets its target."""
        above = self.at_least is None or self.value >= self.at_least
        return above and (self.at_most is None or self.value <= self.at_most)

    def is_worse_than(self, last: float) -> bool:
        """Return whether it is worse than an earlier ratio by more than a tenth of it."""
        if self.at_most is not None or self.is_lower_better:
            return self.value > last * (1 + _TOLERANCE)
        return self.value < last * (1 - _TOLERANCE)

    @property
    def target(self) -> str:
        """The target as text."""
        if self.at_least is not None:
            return f"at least {self.at_least:.3g} ×"
        return "" if self.at_most is None else f"at most {self.at_most:.3g} ×"
