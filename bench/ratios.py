"""What a benchmark gives: ratios of two ways to do the same work, measured in one run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ratio:
    """One row of the table of results.

    Attributes:
        work: what was done, with its size.
        against: the other way to do it.
        value: the ratio; what it divides is said in `figures`.
        figures: the two measurements with their units.
        at_least: the floor, where more is better.
        at_most: the ceiling, where less is better.
    """

    work: str
    against: str
    value: float
    figures: str
    at_least: float | None = None
    at_most: float | None = None

    @property
    def reached(self) -> bool:
        """Whether the ratio keeps its bounds."""
        above = self.at_least is None or self.value >= self.at_least
        return above and (self.at_most is None or self.value <= self.at_most)

    @property
    def wanted(self) -> str:
        """The bound as text."""
        if self.at_least is not None:
            return f"at least {self.at_least:g} ×"
        return "" if self.at_most is None else f"at most {self.at_most:g} ×"
