"""How often intervals of percentiles and of the cost of a passed call contain the truth.

Latencies and costs are lognormal; half the variance of the logarithm is the task's. Next to them
are textbook methods: order statistics as if all calls were independent, and Fieller's interval.

    python -m bench.simulations.percentiles [--quick]
"""

from __future__ import annotations

import argparse
from itertools import product
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from tools.simulation_tables import print_table, summary
from warehouse.engine.statistics.macros import macros

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from tools.simulation_tables import Row
    from warehouse.engine.statistics.arrays import Floats, Indices

    Ends = tuple[float | None, float | None]

# Of each row of costs and passes of tasks.
_RATIOS = """
SELECT ratio_interval({
    n: len(a), n_counted: len(list_filter(c, lambda x: x > 0)),
    amount: list_sum(a), total: list_sum(c), amount_squares: list_dot_product(a, a),
    products: list_dot_product(a, c), squares: list_dot_product(c, c)
})
FROM (SELECT unnest($a::DOUBLE[][]) AS a, unnest($c::DOUBLE[][]) AS c)
"""
MIN_TASKS = 20  # of an interval of costs
_SEED = 31
SIMULATIONS = 2000
TASKS = (10, 20, 50, 200, 1000)
_ATTEMPTS = (1, 3, 5)
_SPREADS = (0.5, 1.0, 2.0)
_PASS_RATE = 0.7
_COST = "cost of a passed call"
FIGURES = {"p50": _SPREADS, "p95": _SPREADS, _COST: (0.5, 1.0), f"{_COST}, σ 2": (2.0,)}


def cell(
    figure: str, spread: float, attempts: int, n: int, simulations: int
) -> tuple[float, float, float, float]:
    """Return coverage and mean width, divided by the truth: ours, and the textbook method's.

    A width is NaN where no interval has two ends.
    """
    random = np.random.default_rng([_SEED, int(10 * spread), attempts, n])
    tasks = np.repeat(np.arange(n), attempts)
    is_cost = figure.startswith(_COST)
    share = 0.0 if is_cost else float(figure[1:]) / 100
    truth = np.exp(spread**2 / 2) / _PASS_RATE if is_cost else 0.0
    truth = truth or np.exp(spread * stats.norm.ppf(share))
    drawn: list[Floats] = []
    totals: list[tuple[Floats, Floats]] = []
    for _ in range(simulations):
        of_task = random.normal(size=n)[tasks]
        own = random.normal(size=len(tasks))
        values: Floats = np.exp(spread * (of_task + own) / np.sqrt(2))
        if is_cost:
            is_passed = random.random(len(tasks)) < _PASS_RATE
            totals.append((_task_sums(tasks, values), _task_sums(tasks, is_passed)))
        else:
            drawn.append(np.sort(values))
    if is_cost:
        found = _of_costs(totals)
    else:
        ordered = np.array(drawn)
        found = [_of_percentiles(ordered, share, size) for size in (n, len(tasks))]
    ours, textbook = (_judged(ends, truth) for ends in found)
    return (*ours, *textbook)


def _of_costs(totals: Sequence[tuple[Floats, Floats]]) -> list[list[Ends]]:
    """Return our intervals and Fieller's, where there is ours."""
    parameters = dict(
        zip(
            "ac",
            ([row.tolist() for row in each] for each in zip(*totals, strict=True)),
            strict=True,
        )
    )
    rows = macros().execute(_RATIOS, parameters).fetchall()
    found = [
        (ends, _fieller(*each))
        for (ends,), each in zip(rows, totals, strict=True)
        if ends[0] is not None
    ]
    return [list(each) for each in zip(*found, strict=True)]


def _of_percentiles(ordered: Floats, share: float, n: int) -> list[Ends]:
    """Return the intervals of rows of sorted values, as if `n` of each were independent."""
    query = "SELECT percentile_interval(range($size), $n, percentile_ranks($n, $share))"
    size = ordered.shape[1]
    [(at,)] = macros().execute(query, {"size": size, "n": n, "share": share}).fetchall()
    low, high = (
        [None] * len(ordered) if place is None else ordered[:, place].tolist()
        for place in (at["low"], at["high"])
    )
    return list(zip(low, high, strict=True))


def _task_sums(tasks: Indices, values: npt.ArrayLike) -> Floats:
    return np.bincount(tasks, weights=values).astype(np.float64)


def _judged(limits: Sequence[Ends], truth: float) -> tuple[float, float]:
    ends = np.array(
        [(-np.inf if low is None else low, high or np.inf) for low, high in limits], dtype=float
    )
    covers = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    reaches = (ends[:, 1] - ends[:, 0]) / truth
    closed = reaches[np.isfinite(reaches)]
    return float(covers.mean()), float(closed.mean()) if len(closed) else float("nan")


def _fieller(amounts: Floats, counts: Floats) -> Ends:
    """Return Fieller's interval of a ratio of means (1954, JRSS B 16, 175)."""
    n = len(amounts)
    scale = stats.t.ppf(0.975, n - 1) ** 2 * n * np.cov(amounts, counts)
    square = counts.sum() ** 2 - scale[1, 1]
    middle = amounts.sum() * counts.sum() - scale[0, 1]
    root = middle**2 - square * (amounts.sum() ** 2 - scale[0, 0])
    if square <= 0 or root < 0:
        return None, None
    return float((middle - np.sqrt(root)) / square), float((middle + np.sqrt(root)) / square)


def cells(figure: str, n: int, simulations: int) -> list[tuple[float, float, float, float]]:
    """Return the cells of a figure at `n` tasks, for each spread and number of attempts."""
    grid = product(FIGURES[figure], _ATTEMPTS)
    return [cell(figure, spread, attempts, n, simulations) for spread, attempts in grid]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulations")
    simulations = SIMULATIONS // (10 if parser.parse_args().quick else 1)
    columns = ("figure", "tasks", "mean coverage", "least", "width", "textbook: mean", "least")
    print_table((*columns, "width"), _rows(simulations))


def _rows(simulations: int) -> Iterator[Row]:
    for figure, n in product(FIGURES, TASKS):
        if n >= MIN_TASKS or not figure.startswith(_COST):
            ours, width, textbook, textbook_width = np.array(cells(figure, n, simulations)).T
            figures = (*summary(ours, width), *summary(textbook, textbook_width))
            yield figure, str(n), *(f"{each:.3f}" if isfinite(each) else "" for each in figures)


if __name__ == "__main__":
    main()
