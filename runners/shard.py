"""A shard of a run: an equal part of its calls, made by a process of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from runners.plan import Cell, Plan

_SHARD = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")


@dataclass(frozen=True, slots=True)
class Shard:
    """Every `count`-th cell of a plan, from the cell `number` on, counted from 1."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `K/N`.

        Raises:
            BadInput: it is not such a text, or K is not one of 1 to N.
        """
        found = _SHARD.fullmatch(text.strip())
        number, count = map(int, found.groups()) if found else (0, 0)
        if not 1 <= number <= count:
            raise BadInput(f"--shard {text}: not K/N with K from 1 to N, such as 3/16")
        return cls(number, count)

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def holds(self, cell: Cell) -> bool:
        """Return whether a cell belongs to this shard."""
        return (cell.seq - self.number) % self.count == 0

    def share_of(self, plan: Plan) -> float:
        """Return the share of a plan's cells that belong to this shard, in 0..1."""
        n_cells = len(plan.models) * plan.attempts * len(plan.tasks)
        n_held = len(range(self.number, n_cells + 1, self.count))
        return n_held / n_cells if n_cells else 0.0
