"""The assignment of least cost, with ties broken as in the reference program.

The shortest augmenting path form of the Hungarian method (Jonker and Volgenant, 1987): rows enter
one after the other, columns are scanned in ascending order, and only a strictly smaller value
counts as an improvement, so that the lowest column wins a tie. The choice among several optimal
assignments, and every rounding on the way, are those of the plain algorithm on the full square
matrix; only work that provably cannot change the result is skipped.
"""

from collections.abc import Callable, Sequence
from math import inf
from typing import Protocol

PADDING = 1.0
_FREE = -1


class Costs(Protocol):
    """A matrix of costs of at most 1.0, each a lower bound until it is settled.

    Attributes:
        rows, columns: numbers of rows and columns, at least 1.
    """

    rows: int
    columns: int

    def floors(self, row: int) -> Sequence[float]:
        """Return a lower bound of each cost of the row."""

    def settle(self, row: int, column: int) -> float:
        """Return the cost."""

    def cheapest(self, row: int) -> tuple[float, int]:
        """Return the row's least cost and the lowest column that has it."""


def assign(costs: Costs) -> list[int | None]:
    """Return the column of each row; None for a row that gets no column.

    A matrix that is not square is padded with costs of 1.0.
    """
    solution = _Solution(costs)
    for row in range(costs.rows):
        solution.enter(row)
    if costs.rows < costs.columns and not solution.is_reduced():
        for row in range(costs.rows, costs.columns):
            solution.enter(row)
    owned = {owner: column for column, owner in enumerate(solution.owners[: costs.columns])}
    return [owned.get(row) for row in range(costs.rows)]


def find_cheapest(line: list[float], settle: Callable[[int], float]) -> tuple[float, int]:
    """Return the least value of a line of lower bounds, and the lowest column that has it.

    The least bound of the line is the least value once it is settled and unchanged: no value is
    below its bound.
    """
    while True:
        least = min(line)
        column = line.index(least)
        line[column] = settle(column)
        if line[column] == least:
            return least, column


class _Solution:
    """The potentials and owners of the algorithm, after the rows entered so far."""

    def __init__(self, costs: Costs) -> None:
        self.costs = costs
        self.size = max(costs.rows, costs.columns)
        self.fill = [PADDING] * (self.size - costs.columns)
        self.row_potentials = [0.0] * self.size
        self.column_potentials = [0.0] * self.size
        self.shifted = False
        self.owners = [_FREE] * self.size

    def enter(self, row: int) -> None:
        """Assign a column to the row, moving earlier rows if that is cheaper."""
        cost, column = self._cheapest(row)
        if self.owners[column] == _FREE:
            self.row_potentials[row] = cost
            self.owners[column] = row
        else:
            self._augment(row)
            self.shifted = True

    def is_reduced(self) -> bool:
        """Return whether no reduced cost of the real rows is below zero.

        In exact arithmetic this always holds; rounding may break it. While it holds, rows of
        padding do not move other rows: such a row reaches every free column at a reduced cost of
        zero, and no path through another row is strictly shorter.
        """
        potentials = self.column_potentials
        return not self.shifted or (
            max(potentials) <= 0.0
            and all(
                self._settle(row, column) - self.row_potentials[row] - v >= 0.0
                for row in range(self.costs.rows)
                for column, (floor, v) in enumerate(zip(self._line(row), potentials, strict=True))
                if floor - self.row_potentials[row] - v < 0.0
            )
        )

    def _line(self, row: int) -> list[float]:
        if row >= self.costs.rows:
            return [PADDING] * self.size
        return [*self.costs.floors(row), *self.fill]

    def _settle(self, row: int, column: int) -> float:
        if row >= self.costs.rows or column >= self.costs.columns:
            return PADDING
        return self.costs.settle(row, column)

    def _cheapest(self, row: int) -> tuple[float, int]:
        """Return the row's least cost minus potentials, and the lowest column that has it."""
        if not self.shifted and row < self.costs.rows:
            return self.costs.cheapest(row)
        potentials = self.column_potentials
        line = [cost - v for cost, v in zip(self._line(row), potentials, strict=True)]
        return find_cheapest(line, lambda column: self._settle(row, column) - potentials[column])

    def _augment(self, row: int) -> None:
        """Shift owners along the shortest path from the row to a free column."""
        column, came_from = self._shortest_path(row)
        while column != _FREE:
            previous = came_from[column]
            self.owners[column] = row if previous == _FREE else self.owners[previous]
            column = previous

    def _shortest_path(self, row: int) -> tuple[int, list[int]]:
        """Return the free column at the end, and for each column the one before it."""
        u, v, owners = self.row_potentials, self.column_potentials, self.owners
        slack, came_from = [inf] * self.size, [_FREE] * self.size
        unseen, path = list(range(self.size)), list[int]()
        current, column = row, _FREE
        while True:
            delta, nearest = inf, _FREE
            line, base = self._line(current), u[current]
            for j in unseen:
                if line[j] - base - v[j] < slack[j]:
                    reduced = self._settle(current, j) - base - v[j]
                    if reduced < slack[j]:
                        slack[j], came_from[j] = reduced, column
                if slack[j] < delta:
                    delta, nearest = slack[j], j
            u[row] += delta
            for j in path:
                u[owners[j]] += delta
                v[j] -= delta
            for j in unseen:
                slack[j] -= delta
            if owners[nearest] == _FREE:
                return nearest, came_from
            unseen.remove(nearest)
            path.append(nearest)
            current, column = owners[nearest], nearest
