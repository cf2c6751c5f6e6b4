"""How well comparisons keep their level and coverage, by simulation; prints the tables of the docs.

    python -m bench.simulations.coverage [--quick]

Each side has a probability to pass each cluster of tasks, from a beta distribution with the given
mean and correlation of attempts; the two sides' probabilities share half of their variance. For the
level both have the same distribution; for the coverage the second side's mean may be lower. An
interval is its test inverted, so that it covers a difference that neither one-sided test rejects.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from warehouse.engine.statistics.bounded_means import excess_of_bounded_means
from warehouse.engine.statistics.score_test import excess_of_proportions
from warehouse.engine.statistics.symmetry import symmetric_means

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SEED = 23
_SIMULATIONS = 400
_CLUSTERS = (10, 20, 50, 200)
_RATES = (0.02, 0.1, 0.5, 0.9, 0.98)
_CORRELATIONS = (0.0, 0.3, 0.9)
_ATTEMPTS = ((1, 1), (3, 3), (10, 10), (1, 3), (1, 10))
_SIZES = (1, 5, 20)
_DROP = 0.1
_MOST_TASKS = 1000
_TAIL = 0.025
# Of a share of 5 % in a cell: 3.3 standard errors, which one of 1,000 cells exceeds.
_ERRORS = 3.3


@dataclass(frozen=True)
class Cell:
    """A cell of the grid: clusters, pass rate, correlation, attempts, tasks in a cluster."""

    clusters: int
    rate: float
    correlation: float
    attempts: tuple[int, int]
    size: int
    drop: float


@dataclass(frozen=True)
class Found:
    """What a cell shows: shares of the simulations; no level where the sides differ."""

    cell: Cell
    test: str
    level: float | None
    coverage: float


def cells() -> Iterator[Cell]:
    """Yield the grid."""
    grid = product(_CLUSTERS, _RATES, _CORRELATIONS, _ATTEMPTS, _SIZES, (0.0, _DROP))
    for clusters, rate, correlation, attempts, size, drop in grid:
        if rate - drop > 0 and clusters * size <= _MOST_TASKS:
            yield Cell(clusters, rate, correlation, attempts, size, drop)


def simulate(number: int, cell: Cell, simulations: int) -> Found:
    """Return the level and coverage of the test that `compare` would choose."""
    random = np.random.default_rng([_SEED, number])
    sizes = random.integers(1, cell.size, cell.clusters, endpoint=True)
    shared = random.standard_normal((simulations, cell.clusters))
    sums = []
    for attempts, rate in zip(cell.attempts, (cell.rate, cell.rate - cell.drop), strict=True):
        own = random.standard_normal(shared.shape)
        chances = _chances((shared + own) / np.sqrt(2), rate, cell.correlation)
        passed = random.binomial(np.broadcast_to(sizes * attempts, shared.shape), chances)
        sums.append(passed / attempts)
    is_single = cell.attempts == (1, 1) and cell.size == 1
    tails = _score_tails if is_single else _mean_tails
    rejected = np.array([tails(a - b, sizes, cell.drop) for a, b in zip(*sums, strict=True)])
    share = float((rejected.min(axis=1) <= _TAIL).mean())
    test = "score" if is_single else "bounded_mean"
    return Found(cell, test, None if cell.drop else share, 1 - share)


def _score_tails(differences: np.ndarray, sizes: np.ndarray, drop: float) -> tuple[float, float]:
    only_a, only_b = int((differences > 0).sum()), int((differences < 0).sum())
    return _tail(only_a, only_b, len(sizes), drop), _tail(only_b, only_a, len(sizes), -drop)


_tail = cache(excess_of_proportions)


def _mean_tails(sums: np.ndarray, sizes: np.ndarray, drop: float) -> tuple[float, float]:
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    differences = np.repeat(sums / sizes, sizes)
    higher = excess_of_bounded_means(differences, drop, largest=1.0, clusters=clusters)
    lower = excess_of_bounded_means(-differences, -drop, largest=1.0, clusters=clusters)
    return higher or 0.0, lower or 0.0


def graded(
    simulations: int, random: np.random.Generator
) -> Iterator[tuple[str, int, float, float]]:
    """Yield level and coverage for values other than verdicts, by the number of tasks."""
    shapes = {
        "shares (F1)": lambda shape: random.beta(0.5, 0.5, shape),
        "normal": random.standard_normal,
        "logarithms of lognormal costs": lambda shape: 1.5 * random.standard_normal(shape),
    }
    for (name, draw), n in product(shapes.items(), (10, 20, 50, 200)):
        differences = draw((simulations, n)) - draw((simulations, n))
        if name.startswith("shares"):
            tails = np.array([_mean_tails(row, np.ones(n, dtype=int), 0.0) for row in differences])
            p_values = 2 * tails.min(axis=1)
        else:
            p_values = np.array(
                [found.p_value for found in symmetric_means(differences, np.ones(n))]
            )
        level = float((p_values < 2 * _TAIL).mean())
        yield name, n, level, 1 - level


def _chances(scores: np.ndarray, rate: float, correlation: float) -> np.ndarray:
    """Return probabilities from a beta distribution, for standard normal scores."""
    if correlation == 0:
        return np.full(scores.shape, rate)
    weight = (1 - correlation) / correlation
    at = np.linspace(-5, 5, 2001)
    quantiles = stats.beta.ppf(stats.norm.cdf(at), rate * weight, (1 - rate) * weight)
    return np.interp(scores, at, quantiles)


def _line(name: str, rows: Sequence[Found], error: float) -> str:
    shares = [row.coverage for row in rows]
    levels = [row.level for row in rows if row.level is not None]
    above = sum(level > 2 * _TAIL + error for level in levels)
    return (
        f"| {name} | {len(rows)} | {np.mean(shares):.3f} | {min(shares):.3f} | "
        f"{sum(share < 0.9 for share in shares)} | {np.mean(levels):.3f} | {max(levels):.3f} | "  # noqa: PLR2004
        f"{above} |"
    )


def main() -> None:
    """Simulate the grid and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulations")
    simulations = _SIMULATIONS // (10 if parser.parse_args().quick else 1)
    print("| values | tasks | level | coverage |\n| --- | --- | --- | --- |")
    for name, n, level, coverage in graded(simulations, np.random.default_rng(_SEED)):
        print(f"| {name} | {n} | {level:.3f} | {coverage:.3f} |", flush=True)
    report(
        [simulate(number, cell, simulations) for number, cell in enumerate(cells())], simulations
    )


def report(found: Sequence[Found], simulations: int) -> None:
    """Print the table of the grid, and its cells that do not keep level or coverage."""
    error = _ERRORS * float(np.sqrt(0.05 * 0.95 / simulations))
    print(
        "\n| test, clusters | cells | mean coverage | least | below 90 % | mean level | largest "
        "| above 5 % + error |\n| --- | --- | --- | --- | --- | --- | --- | --- |"
    )
    for test, clusters in product(("score", "bounded_mean"), _CLUSTERS):
        rows = [row for row in found if (row.test, row.cell.clusters) == (test, clusters)]
        print(_line(f"`{test}`, {clusters}", rows, error))
    print(_line("all", found, error))
    failing = [row for row in found if row.coverage < 0.9 or (row.level or 0) > 0.05 + error]  # noqa: PLR2004
    print(f"\n{len(failing)} cells below 90 % or above the level")
    for row in failing:
        print(f"- {row}")


if __name__ == "__main__":
    main()
