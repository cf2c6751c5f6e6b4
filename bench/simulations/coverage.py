"""How well comparisons keep their level and coverage, by simulation; prints the tables of the docs.

    python -m bench.simulations.coverage [--quick]

Each side has a probability to pass each cluster of tasks, from a beta distribution with the given
mean and correlation of attempts; the two sides' probabilities share half of their variance. For the
level both have the same distribution; for the coverage the second side's mean may be lower. Tests
and intervals are the product's own, with fewer flips and resamples: the level of a test by random
flips does not depend on their number.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from warehouse.statistics import permutation
from warehouse.statistics.bootstrap import mean_intervals
from warehouse.statistics.mcnemar import mcnemar
from warehouse.statistics.permutation import sign_flips
from warehouse.statistics.proportions import newcombe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SEED = 23
_SIMULATIONS, _QUICK = 1000, 100
_RESAMPLES = 1000
_CLUSTERS = (10, 20, 50, 200, 1000)
_RATES = (0.02, 0.1, 0.5, 0.9, 0.98)
_CORRELATIONS = (0.0, 0.3, 0.9)
_ATTEMPTS = ((1, 1), (3, 3), (10, 10), (1, 3), (1, 10))
_SIZES = (1, 5, 20)
_DROP = 0.1
_FEW_CLUSTERS, _FEW_DISCORDANT = 20, 5
# Of a share of 5 % in a cell: 3.3 standard errors, which one of 1,000 cells exceeds.
_ERRORS = 3.3
_ROUNDING = 1e-9


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
    """What a cell shows: shares of the simulations, and how many clusters and tasks differ."""

    cell: Cell
    method: str
    level: float | None
    coverage: float
    width: float
    discordant: float

    @property
    def is_claimed(self) -> bool:
        """Whether the documentation claims coverage here."""
        return self.cell.clusters >= _FEW_CLUSTERS and self.discordant >= _FEW_DISCORDANT


def cells() -> Iterator[Cell]:
    """Yield the grid."""
    grid = product(_CLUSTERS, _RATES, _CORRELATIONS, _ATTEMPTS, _SIZES, (0.0, _DROP))
    for clusters, rate, correlation, attempts, size, drop in grid:
        if rate - drop > 0 and clusters * size <= 1000:  # noqa: PLR2004 - tasks
            yield Cell(clusters, rate, correlation, attempts, size, drop)


def simulate(number: int, cell: Cell, simulations: int) -> Found:
    """Return the level and coverage of the method that `compare` would choose."""
    random = np.random.default_rng([_SEED, number])
    sizes = _sizes(cell, random)
    shared = random.standard_normal((simulations, cell.clusters))
    least = min(cell.attempts)
    sums, tested, single = [], [], []
    for attempts, rate in zip(cell.attempts, (cell.rate, cell.rate - cell.drop), strict=True):
        own = random.standard_normal(shared.shape)
        chances = _chances((shared + own) / np.sqrt(2), rate, cell.correlation)
        first = random.binomial(np.broadcast_to(sizes * least, shared.shape), chances)
        more = random.binomial(np.broadcast_to(sizes * (attempts - least), shared.shape), chances)
        tested.append(first / least)
        sums.append((first + more) / attempts)
        single.append(first)
    differences = sums[0] - sums[1]
    discordant = float((differences != 0).sum(axis=1).mean())
    if cell.attempts == (1, 1) and cell.size == 1:
        method, p_values, ends = "mcnemar", *_mcnemar(*single)
    else:
        method = "sign_flip"
        each = np.eye(simulations)
        p_values = [test.p_value for test in sign_flips(tested[0] - tested[1], each)]
        largest = np.ones(simulations)
        found = mean_intervals(
            differences, sizes.astype(float), each, largest=largest, resamples=_RESAMPLES
        )
        ends = np.array([end or (np.nan, np.nan) for end in found])
    covered = (ends[:, 0] <= cell.drop + _ROUNDING) & (cell.drop - _ROUNDING <= ends[:, 1])
    return Found(
        cell=cell,
        method=method,
        level=None if cell.drop else float((np.array(p_values) < 0.05).mean()),  # noqa: PLR2004
        coverage=float(covered.mean()),
        width=float(np.median(ends[:, 1] - ends[:, 0])),
        discordant=discordant,
    )


def graded(
    simulations: int, random: np.random.Generator
) -> Iterator[tuple[str, int, float, float]]:
    """Yield level and coverage for scores other than verdicts, by the number of tasks."""
    draws = {
        "normal": random.standard_normal,
        "shares (F1)": lambda shape: random.beta(0.5, 0.5, shape),
        "lognormal (latency)": lambda shape: random.lognormal(0, 1, shape),
        "lognormal, wide (cost)": lambda shape: random.lognormal(0, 1.5, shape),
    }
    for (name, draw), n in product(draws.items(), (10, 20, 50, 200, 1000)):
        difference = draw((simulations, n)) - draw((simulations, n))
        each, largest = np.eye(simulations), np.abs(difference).max(axis=1)
        p_values = [test.p_value for test in sign_flips(difference, each)]
        found = mean_intervals(difference, np.ones(n), each, largest=largest, resamples=_RESAMPLES)
        covered = np.mean([low <= 0 <= high for low, high in found])
        yield name, n, float(np.mean(np.array(p_values) < 0.05)), float(covered)  # noqa: PLR2004


def choice(
    simulations: int, random: np.random.Generator
) -> Iterator[tuple[str, float, float, int]]:
    """Yield each interval with its mean and least coverage, and its cells below 90 %."""
    covered: dict[str, list[float]] = defaultdict(list)
    grid = product((20, 50), (0.05, 0.2, 0.5, 0.9), (0.0, 0.3, 0.9), ((1, 1), (3, 3), (1, 10)))
    for clusters, rate, correlation, attempts in grid:
        cell = Cell(clusters, rate, correlation, attempts, 1, 0.0)
        shared = random.standard_normal((simulations, clusters))
        rates = []
        for n in attempts:
            own = random.standard_normal(shared.shape)
            chances = _chances((shared + own) / np.sqrt(2), rate, cell.correlation)
            rates.append(random.binomial(n, chances) / n)
        differences = rates[0] - rates[1]
        if (differences != 0).sum(axis=1).mean() < _FEW_DISCORDANT:
            continue
        for name, (low, high) in _intervals(differences, random).items():
            covered[name].append(float(((low <= _ROUNDING) & (high >= -_ROUNDING)).mean()))
    for name, shares in covered.items():
        yield name, float(np.mean(shares)), min(shares), sum(share < 0.9 for share in shares)  # noqa: PLR2004


def _intervals(
    differences: np.ndarray, random: np.random.Generator
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    simulations, n = differences.shape
    counts = random.multinomial(n, np.full(n, 1 / n), size=_RESAMPLES).astype(float)
    means = counts @ differences.T / n
    mean, error = differences.mean(axis=1), differences.std(axis=1, ddof=1) / np.sqrt(n)
    quantile = stats.t.ppf(0.975, n - 1)
    squares = np.maximum(counts @ (differences**2).T / n - means**2, 0)
    with np.errstate(all="ignore"):
        scores = np.nan_to_num((means - mean) / np.sqrt(squares / (n - 1)))
    above, below = np.quantile(scores, [0.025, 0.975], axis=0, method="inverted_cdf")
    added = mean_intervals(
        differences, np.ones(n), np.eye(simulations), largest=np.ones(simulations),
        resamples=_RESAMPLES,
    )  # fmt: skip
    low, high = np.array(added).T
    return {
        "percentile": tuple(np.quantile(means, [0.025, 0.975], axis=0)),
        "BCa": _bca(differences, means),
        "studentised": (mean - below * error, mean - above * error),
        "Student's t, no bootstrap": (mean - quantile * error, mean + quantile * error),
        "percentile, two clusters added": (low, high),
    }


def _bca(differences: np.ndarray, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Efron 1987, Journal of the American Statistical Association 82, 171."""
    mean = differences.mean(axis=1)
    spread = mean[:, np.newaxis] - differences
    with np.errstate(all="ignore"):
        skew = -(spread**3).sum(axis=1) / (6 * (spread**2).sum(axis=1) ** 1.5)
    skew, near = np.nan_to_num(skew), np.abs(means - mean) < 1e-12  # noqa: PLR2004
    share = ((means < mean) & ~near).mean(axis=0) + near.mean(axis=0) / 2
    bias = stats.norm.ppf(np.clip(share, 1e-4, 1 - 1e-4))
    ordered, places = np.sort(means, axis=0), np.arange(len(mean))
    ends = []
    for z in (-1.96, 1.96):
        level = stats.norm.cdf(bias + (bias + z) / (1 - skew * (bias + z)))
        rows = np.clip((level * len(means)).astype(int), 0, len(means) - 1)
        ends.append(ordered[rows, places])
    return ends[0], ends[1]


def _sizes(cell: Cell, random: np.random.Generator) -> np.ndarray:
    return random.integers(1, cell.size, cell.clusters, endpoint=True)


def _chances(scores: np.ndarray, rate: float, correlation: float) -> np.ndarray:
    """Return probabilities from a beta distribution, for standard normal scores."""
    if correlation == 0:
        return np.full(scores.shape, rate)
    weight = (1 - correlation) / correlation
    at = np.linspace(-5, 5, 2001)
    quantiles = stats.beta.ppf(stats.norm.cdf(at), rate * weight, (1 - rate) * weight)
    return np.interp(scores, at, quantiles)


def _mcnemar(a: np.ndarray, b: np.ndarray) -> tuple[list[float], np.ndarray]:
    p_values, ends = [], []
    for one, other in zip(a, b, strict=True):
        both, only_a, only_b = int((one * other).sum()), int((one > other).sum()), 0
        only_b = int((one < other).sum())
        p_values.append(mcnemar(only_a, only_b).exact)
        ends.append(newcombe(both, only_a, only_b, len(one) - both - only_a - only_b))
    return p_values, np.array(ends)


def _described(cell: Cell) -> str:
    a, b = cell.attempts
    return (
        f"{cell.clusters} clusters of up to {cell.size}, rates {cell.rate:g} and "
        f"{cell.rate - cell.drop:g}, correlation {cell.correlation:g}, attempts {a} and {b}"
    )


def _line(name: str, rows: Sequence[Found], error: float) -> str:
    shares = [row.coverage for row in rows]
    levels = [row.level for row in rows if row.level is not None]
    above = sum(level > 0.05 + error for level in levels)
    return (
        f"| {name} | {len(rows)} | {np.mean(shares):.3f} | {min(shares):.3f} | "
        f"{sum(share < 0.9 for share in shares)} | {np.mean(levels):.3f} | {max(levels):.3f} | "  # noqa: PLR2004
        f"{above} |"
    )


def main() -> None:
    """Simulate the grid and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few simulations")
    simulations = _QUICK if parser.parse_args().quick else _SIMULATIONS
    use_few_flips()
    random = np.random.default_rng(_SEED)
    print("| interval | mean coverage | least | cells below 90 % |\n| --- | --- | --- | --- |")
    for name, mean, least, below in choice(simulations, random):
        print(f"| {name} | {mean:.3f} | {least:.3f} | {below} |")
    print("\n| scores | tasks | level | coverage |\n| --- | --- | --- | --- |")
    for name, n, level, coverage in graded(simulations, random):
        print(f"| {name} | {n} | {level:.3f} | {coverage:.3f} |", flush=True)
    found = [simulate(number, cell, simulations) for number, cell in enumerate(cells())]
    report(found, simulations)


def use_few_flips() -> None:
    """Let tests by random flips use 1,000 of them."""
    permutation._ALL_FLIPS_OF, permutation._FIRST, permutation._MOST = 9, 1000, 1000  # noqa: SLF001
    permutation._ROWS = (1000,)  # noqa: SLF001


def report(found: Sequence[Found], simulations: int) -> None:
    """Print the table of the grid, and its cells that do not keep level or coverage."""
    error = _ERRORS * np.sqrt(0.05 * 0.95 / simulations)
    print(
        "\n| method, clusters | cells | mean coverage | least | below 90 % | mean level "
        "| largest | above 5 % + error |\n| --- | --- | --- | --- | --- | --- | --- | --- |"
    )
    for method, clusters in product(("mcnemar", "sign_flip"), _CLUSTERS):
        rows = [row for row in found if (row.method, row.cell.clusters) == (method, clusters)]
        claimed = [row for row in rows if row.is_claimed]
        if claimed:
            print(_line(f"{method}, {clusters}", claimed, error))
        elif rows:
            print(_line(f"{method}, {clusters} (not claimed)", rows, error))
    claimed = [row for row in found if row.is_claimed]
    print(_line("all that is claimed", claimed, error))
    few = [row for row in found if row.cell.clusters >= _FEW_CLUSTERS and not row.is_claimed]
    print(_line("fewer than 5 discordant clusters", few, error))
    failing = [
        row
        for row in found
        if row.coverage < 0.9 or (row.level or 0) > 0.05 + error  # noqa: PLR2004
    ]
    print(f"\n{len(failing)} cells below 90 % or above the level:\n")
    for row in failing:
        level = "" if row.level is None else f", level {row.level:.3f}"
        print(
            f"- {_described(row.cell)} ({row.discordant:.1f} discordant clusters): coverage "
            f"{row.coverage:.3f}{level}{'' if row.is_claimed else '; not claimed'}"
        )


if __name__ == "__main__":
    main()
