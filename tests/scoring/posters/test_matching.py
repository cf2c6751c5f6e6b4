from functools import partial
from math import inf

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from warehouse.engine.scoring.posters.hungarian import assign, find_cheapest
from warehouse.engine.scoring.posters.matching import CORE, FULL, EventPairs

Costs = list[list[float]]


class Matrix:
    """Costs that are known from the start."""

    def __init__(self, costs: Costs) -> None:
        self.rows, self.columns = len(costs), len(costs[0])
        self._costs = costs

    def floors(self, row: int) -> list[float]:
        return self._costs[row]

    def settle(self, row: int, column: int) -> float:
        return self._costs[row][column]

    def cheapest(self, row: int) -> tuple[float, int]:
        least = min(self._costs[row])
        return least, self._costs[row].index(least)


def plain_assign(costs: Costs) -> list[int | None]:  # noqa: C901, PLR0912 - as in textbooks
    """Assign as in textbooks, on the full square matrix, with 1-based rows and columns."""
    rows, columns = len(costs), len(costs[0])
    n = max(rows, columns)
    square = [[1.0] * n for _ in range(n)]
    for row, line in enumerate(costs):
        square[row][:columns] = line
    u, v, owner, way = [0.0] * (n + 1), [0.0] * (n + 1), [0] * (n + 1), [0] * (n + 1)
    for i in range(1, n + 1):
        owner[0], j0 = i, 0
        slack, used = [inf] * (n + 1), [False] * (n + 1)
        while True:
            used[j0] = True
            i0, delta, j1 = owner[j0], inf, 0
            for j in range(1, n + 1):
                if not used[j]:
                    reduced = square[i0 - 1][j - 1] - u[i0] - v[j]
                    if reduced < slack[j]:
                        slack[j], way[j] = reduced, j0
                    if slack[j] < delta:
                        delta, j1 = slack[j], j
            for j in range(n + 1):
                if used[j]:
                    u[owner[j]] += delta
                    v[j] -= delta
                else:
                    slack[j] -= delta
            j0 = j1
            if owner[j0] == 0:
                break
        while j0:
            owner[j0], j0 = owner[way[j0]], way[j0]
    found: list[int | None] = [None] * rows
    for column in range(1, columns + 1):
        if owner[column] <= rows:
            found[owner[column] - 1] = column - 1
    return found


class Guarded(Matrix):
    """Costs of which only lower bounds are known: each is a share less than the cost."""

    def __init__(self, costs: Costs, shares: list[float]) -> None:
        super().__init__(costs)
        self._shares = shares

    def floors(self, row: int) -> list[float]:
        shares = self._shares
        return [
            cost - abs(cost) * shares[(row * self.columns + column) % len(shares)]
            for column, cost in enumerate(super().floors(row))
        ]

    def cheapest(self, row: int) -> tuple[float, int]:
        return find_cheapest(list(self.floors(row)), partial(self.settle, row))


# Few distinct values cause ties; tenths and thirds cause rounding errors.
cost = st.sampled_from([0.0, 0.1, 0.3, 1 / 3, 0.7000000000000001, 1.0, -2.220446049250313e-16])
cost |= st.floats(0, 1)


@st.composite
def matrices(draw: st.DrawFn) -> Costs:
    rows, columns = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    return draw(st.lists(st.lists(cost, min_size=columns, max_size=columns),
                         min_size=rows, max_size=rows))  # fmt: skip


@pytest.mark.slow
@given(matrices(), st.lists(st.sampled_from([0.0, 0.0, 0.5, 1.0]), min_size=1, max_size=9))
@example([[1.0, 1.0, 1.0]], [1.0])
@example([[0.1], [0.1], [0.1]], [0.0])
def test_assignment_equals_the_plain_algorithm_including_ties(
    costs: Costs, shares: list[float]
) -> None:
    assert assign(Matrix(costs)) == plain_assign(costs) == assign(Guarded(costs, shares))


@pytest.mark.slow
@given(matrices())
def test_assignment_is_optimal(costs: Costs) -> None:
    found = [
        (row, column) for row, column in enumerate(assign(Matrix(costs))) if column is not None
    ]
    assert len(found) == min(len(costs), len(costs[0]))
    assert len({column for _, column in found}) == len(found)
    best = np.array(costs)[linear_sum_assignment(costs)].sum()
    assert abs(sum(costs[row][column] for row, column in found) - best) < 1e-12


words = st.sampled_from(["", "a", "ab", "abc", "ลานคนเมือง", "ลานคนเมือ", "ลานเบียร์"])
events = st.lists(
    st.tuples(
        st.sampled_from(["", "2026-01-01", "2026-01-02", "2026-01-03"]),
        st.sampled_from(["", "19:00"]), words, words, words,
        st.sampled_from(["thailand", "laos"]), words, words, st.sampled_from(["active", ""]),
    ),
    min_size=1, max_size=6,
)  # fmt: skip


@pytest.mark.slow
@given(events, events)
def test_matches_equal_those_of_the_full_matrix(
    gold: list[tuple[str, ...]], prediction: list[tuple[str, ...]]
) -> None:
    pairs = EventPairs(gold, prediction)
    for terms in (FULL, CORE):
        matches = EventPairs(gold, prediction).match(terms)
        similar = [
            [pairs.similarity(row, column, terms) for column in range(len(prediction))]
            for row in range(len(gold))
        ]
        columns = plain_assign([[1.0 - value for value in line] for line in similar])
        assert [match.prediction for match in matches] == columns
        assert [match.similarity for match in matches] == [
            0.0 if column is None else line[column]
            for line, column in zip(similar, columns, strict=True)
        ]
