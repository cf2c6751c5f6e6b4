"""How often the boards' 95 % intervals of rates, pass@k and scores contain the true mean.

A sample is the number of tasks with each value. All such numbers are enumerated where they are at
most 10,000, else they are drawn, as scores with any value are. The ends come from the macros that
the views call. Next to them is a textbook method: for rates Clopper and Pearson's interval, or with
several attempts Wilson's for a trial of each task, otherwise Student's t of the tasks' values.

    python -m bench.simulations.intervals [--quick]
"""

from __future__ import annotations

import argparse
from dataclasses import astuple, dataclass
from functools import cache
from itertools import combinations, product
from math import comb, inf
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pyarrow as pa
from scipy import special, stats

from tools.simulation_tables import Row, print_table, summary
from warehouse.engine.views.sql_files import shipped_sql

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from warehouse.engine.statistics.arrays import Floats

_SEED = 23
DRAWS = 4000
_MOST_ENUMERATED = 10_000
_ROUNDING = 1e-12
TASKS = (5, 10, 20, 50, 200, 1000)
_RATES = (0.02, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.98)
_ATTEMPTS = (1, 3, 5)
PASS_AT = ((3, 2), (5, 3), (5, 5))  # attempts and k
_DIFFICULTIES = ("alike", "Beta", "all or nothing")
_BETA = 2.0  # the sum of the parameters of the tasks' rates
# Of Beta shapes the sum of the parameters, of mixtures the share of the first kind.
_SPREADS = {"Beta": (0.5, 2.0, 10.0)}
_SHARES = (0.2, 0.5, 0.8)
SHAPES = ("Beta", "0, 1 and Beta", "0, 1/2 and 1", "two values", "mostly 0")
_APART = ((0.5, 1.0), (0.0, 0.5), (0.4, 0.6))
_DISCRETE: dict[str, list[tuple[Sequence[float], Sequence[float]]]] = {
    "0, 1/2 and 1": [
        ((0.0, 0.5, 1.0), ((1 - between) * (1 - mean), between, (1 - between) * mean))
        for mean, between in product(_RATES, _SHARES)
    ],
    "two values": [(values, (share, 1 - share)) for values, share in product(_APART, _RATES)],
}
_LIMITS = """
SELECT
    wilson_low(sums / n * trials, trials) AS low,
    wilson_high(sums / n * trials, trials) AS high
FROM (SELECT *, effective_tasks(n, results, sums, squares) AS trials FROM samples)
"""


@dataclass(frozen=True)
class Coverage:
    """What the intervals of a cell show.

    Attributes:
        ours: share of the boards' intervals that contain the true mean.
        width: their mean width.
        textbook: share of the textbook method's intervals that contain it.
        textbook_width: their mean width.
    """

    ours: float
    width: float
    textbook: float
    textbook_width: float


@dataclass(frozen=True)
class Samples:
    """Samples of equally many tasks: sums of the values and of their squares, and weights."""

    n: int
    results: float
    truth: float
    sums: Floats
    squares: Floats
    weights: Floats

    def coverage(self) -> Coverage:
        """Return the coverage of the boards' and of the textbook interval."""
        ours = _judged(board_limits(self), self)
        return Coverage(*ours, *_judged(_textbook_limits(self), self))


def board_limits(samples: Samples) -> tuple[Floats, Floats]:
    """Return the ends of the interval of `leaderboard` and `metrics`, for each sample."""
    columns = {"sums": samples.sums, "squares": samples.squares}
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    query = f"WITH samples AS (SELECT *, $n AS n, $results AS results FROM rows) {_LIMITS}"
    connection = _macros().cursor()
    connection.register("rows", table)
    # As in the views, whole numbers of results are whole numbers.
    results = samples.results if samples.results == inf else int(samples.results)
    found = connection.execute(query, {"n": samples.n, "results": results}).fetchnumpy()
    return found["low"], found["high"]


def _textbook_limits(samples: Samples) -> tuple[Floats, Floats]:
    """Return the ends of the textbook interval, for each sample."""
    n, sums = samples.n, samples.sums
    if samples.results == n:
        lows = special.betaincinv(np.maximum(sums, 1), n - sums + 1, 0.025)
        highs = special.betaincinv(sums + 1, np.maximum(n - sums, 1), 0.975)
        return np.where(sums == 0, 0.0, lows), np.where(sums == n, 1.0, highs)
    if samples.results < inf:
        z = stats.norm.ppf(0.975)
        reach = z * np.sqrt(sums * (n - sums) / n + z**2 / 4)
        return (sums + z**2 / 2 - reach) / (n + z**2), (sums + z**2 / 2 + reach) / (n + z**2)
    variances = np.maximum(samples.squares - sums**2 / n, 0.0) / (n - 1)
    reach = stats.t.ppf(0.975, n - 1) * np.sqrt(variances / n)
    return sums / n - reach, sums / n + reach


def _judged(limits: tuple[Floats, Floats], samples: Samples) -> tuple[float, float]:
    low, high = limits
    covers = (low <= samples.truth + _ROUNDING) & (samples.truth - _ROUNDING <= high)
    # What of an interval is outside 0 to 1 says nothing.
    widths = np.clip(high, 0, 1) - np.clip(low, 0, 1)
    return float(covers @ samples.weights), float(widths @ samples.weights)


@cache
def _macros() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    for file in shipped_sql():
        if file.name in {"effective_tasks", "wilson_low", "wilson_high"}:
            connection.execute(file.sql)
    return connection


@cache
def _compositions(n: int, n_values: int) -> Floats:
    """Return all ways to give `n` tasks one of some values, as numbers of tasks."""
    bars = np.array(list(combinations(range(n + n_values - 1), n_values - 1)), dtype=float)
    edges = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, n + n_values - 1)))
    counts: Floats = np.diff(edges, axis=1) - 1
    return counts


def discrete(
    random: np.random.Generator,
    draws: int,
    n: int,
    *,
    results: float,
    values: Floats,
    chances: Floats,
) -> Samples:
    """Return samples of tasks that have one of some values, weighted or drawn.

    Args:
        random: of the draws.
        draws: number of samples, where they are not enumerated.
        n: tasks.
        results: what the interval takes for the number of results.
        values: the values that a task may have.
        chances: the probability of each.
    """
    if comb(n + len(values) - 1, len(values) - 1) <= _MOST_ENUMERATED:
        counts = _compositions(n, len(values))
        ways = special.gammaln(n + 1) - special.gammaln(counts + 1).sum(axis=1)
        weights = np.exp(ways + special.xlogy(counts, chances).sum(axis=1))
    else:
        counts = random.multinomial(n, chances, size=draws).astype(float)
        weights = np.full(draws, 1 / draws)
    sums, squares = counts @ values, counts @ values**2
    return Samples(n, results, float(values @ chances), sums, squares, weights)


def passes(rate: float, attempts: int, difficulty: str) -> Floats:
    """Return the probability of each number of passed attempts at a task."""
    numbers = np.arange(attempts + 1)
    if difficulty == "alike":
        return np.array(stats.binom.pmf(numbers, attempts, rate))
    if difficulty == "Beta":
        spread = (rate * _BETA, (1 - rate) * _BETA)
        return np.array(stats.betabinom.pmf(numbers, attempts, *spread))
    return np.where(numbers == 0, 1 - rate, np.where(numbers == attempts, rate, 0.0))


def rate_cells(n: int, attempts: int, draws: int) -> Iterator[Coverage]:
    """Yield the coverage of pass rates, for each difficulty and rate."""
    random = np.random.default_rng([_SEED, n, attempts])
    values = np.arange(attempts + 1) / attempts
    # With one attempt, all difficulties are the same.
    for difficulty, rate in product(_DIFFICULTIES[: 1 if attempts == 1 else None], _RATES):
        chances = passes(rate, attempts, difficulty)
        kept = chances > 0
        of_kept = {"values": values[kept], "chances": chances[kept]}
        yield discrete(random, draws, n, results=n * attempts, **of_kept).coverage()


def pass_at_cells(n: int, attempts: int, k: int, draws: int) -> Iterator[Coverage]:
    """Yield the coverage of pass@k and pass^k, for each difficulty and rate."""
    random = np.random.default_rng([_SEED, n, attempts, k])
    passed = np.arange(attempts + 1)
    ways = special.comb(attempts, k)
    reduced = (1 - special.comb(attempts - passed, k) / ways, special.comb(passed, k) / ways)
    for difficulty, rate, values in product(_DIFFICULTIES, _RATES, reduced):
        chances = passes(rate, attempts, difficulty)
        distinct, places = np.unique(np.round(values, 12), return_inverse=True)
        of_distinct = np.bincount(places, weights=chances).astype(np.float64)
        sample = discrete(random, draws, n, results=inf, values=distinct, chances=of_distinct)
        yield sample.coverage()


def score_cells(shape: str, n: int, draws: int) -> Iterator[Coverage]:
    """Yield the coverage of mean scores, for each mean and spread of a shape."""
    random = np.random.default_rng([_SEED, SHAPES.index(shape), n])
    if shape in _DISCRETE:
        for values, chances in _DISCRETE[shape]:
            numbers = {"values": np.array(values), "chances": np.array(chances)}
            yield discrete(random, draws, n, results=inf, **numbers).coverage()
    else:
        for mean, spread in product(_RATES, _SPREADS.get(shape, _SHARES)):
            yield _continuous(random, shape, mean, spread, (draws, n)).coverage()


def _continuous(
    random: np.random.Generator, shape: str, mean: float, spread: float, size: tuple[int, int]
) -> Samples:
    if shape == "Beta":
        scores, truth = random.beta(mean * spread, (1 - mean) * spread, size), mean
    elif shape == "mostly 0":
        scores = random.beta(mean * 2, (1 - mean) * 2, size)
        scores, truth = np.where(random.random(size) < spread / 2, scores, 0.0), mean * spread / 2
    else:
        is_between, passed = random.random(size) < spread, random.random(size) < mean
        scores = np.where(is_between, random.beta(2, 2, size), passed)
        truth = spread / 2 + (1 - spread) * mean
    weights = np.full(size[0], 1 / size[0])
    return Samples(size[1], inf, truth, scores.sum(axis=1), (scores**2).sum(axis=1), weights)


def main() -> None:
    """Print the tables of rates, the rates between them, pass@k and scores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws")
    draws = DRAWS // (10 if parser.parse_args().quick else 1)
    by_attempts = (
        (str(attempts), n, rate_cells(n, attempts, draws))
        for attempts, n in product(_ATTEMPTS, TASKS)
    )
    _print(("attempts", "tasks", "Clopper–Pearson or Wilson of tasks"), by_attempts)
    print_table(("tasks", "least coverage", "at rate"), map(_dip, TASKS))
    by_k = (
        (f"{k} of {attempts}", n, pass_at_cells(n, attempts, k, draws))
        for (attempts, k), n in product(PASS_AT, TASKS)
    )
    _print(("k of attempts", "tasks", "Student's t"), by_k)
    by_shape = ((shape, n, score_cells(shape, n, draws)) for shape, n in product(SHAPES, TASKS))
    _print(("scores", "tasks", "Student's t"), by_shape)


def _dip(n: int) -> Row:
    """Return the least coverage of all rates from 0.02 to 0.98, one attempt each, and where."""
    rates = np.arange(20, 981) / 1000
    passed = np.arange(n + 1, dtype=float)
    low, high = board_limits(Samples(n, n, 0.0, passed, passed, passed))
    column = rates[:, np.newaxis]
    chances = np.array(stats.binom.pmf(passed, n, column))
    covered = (chances * ((low <= column) & (column <= high))).sum(axis=1)
    return str(n), f"{covered.min():.3f}", f"{rates[covered.argmin()]:.3f}"


def _print(
    names: tuple[str, str, str], rows: Iterable[tuple[str, int, Iterable[Coverage]]]
) -> None:
    *first, textbook = names
    columns = (*first, "mean coverage", "least", "width", f"{textbook}: mean", "least", "width")
    print_table(columns, (_row(kind, n, cells) for kind, n, cells in rows))


def _row(kind: str, n: int, cells: Iterable[Coverage]) -> Row:
    columns = np.array([astuple(cell) for cell in cells]).T
    ours, width, textbook, textbook_width = columns
    figures = (*summary(ours, width), *summary(textbook, textbook_width))
    return (kind, str(n), *(f"{figure:.3f}" for figure in figures))


if __name__ == "__main__":
    main()
