"""Level, power and width of the score test of two pass rates on the same tasks, by enumeration.

The data are the numbers of tasks that only A and only B pass. Power is that of finding a
difference, for a grid of their probabilities. Widths and coverage are compared with Newcombe's
interval, which depends on the other tasks, too.

    python -m bench.simulations.pairs [--quick]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from tools.simulation_tables import Row, print_table, summary
from warehouse.engine.statistics.macros import macros
from warehouse.engine.statistics.score_test import difference_interval, equality_p_values

if TYPE_CHECKING:
    from warehouse.engine.statistics.arrays import Floats

_ALPHA = 0.05
_SHARES = np.concatenate([np.geomspace(1e-4, 0.01, 50, endpoint=False), np.linspace(0.01, 1, 1981)])
_ONLY_A = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6)
_ONLY_B = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4)
# Of the other tasks, the share that both pass.
_BOTH = (0.1, 0.5, 0.9)
# Where more tasks are discordant, mid-p finds more and exceeds its level.
MOST_DISCORDANT = 0.7
_ROUNDING = 1e-9
_NEWCOMBE = "SELECT newcombe_interval(n[1], n[2], n[3], n[4]) FROM (SELECT unnest($1) AS n)"


@dataclass(frozen=True)
class Power:
    """What the score test finds at a number of tasks, next to McNemar's tests.

    Attributes:
        level: the largest probability to reject equal rates, over all shares of discordant tasks.
        mid_level: that of McNemar's mid-p test.
        discordant: the share of tasks that only one model passes, in each cell.
        over_exact: power above that of McNemar's exact test, in each cell.
        over_mid: power above that of McNemar's mid-p test, in each cell.
    """

    level: float
    mid_level: float
    discordant: Floats
    over_exact: Floats
    over_mid: Floats


@dataclass(frozen=True)
class Widths:
    """The intervals of a number of tasks, in each cell: the score test's and Newcombe's."""

    coverage: Floats
    width: Floats
    newcombe_coverage: Floats
    newcombe_width: Floats


def power(n: int) -> Power:
    """Return level and power at `n` tasks."""
    only_a, only_b = outcomes(n)
    exact, mid = _mcnemar(only_a, only_b)
    score = np.array(equality_p_values(only_a.tolist(), only_b.tolist(), n))
    rejected = np.column_stack([each <= _ALPHA for each in (score, exact, mid)])
    equal = np.array([chances(n, share / 2, share / 2) @ rejected for share in _SHARES])
    found = np.array([chances(n, a, b) @ rejected for a, b in _cells()])
    levels = equal.max(axis=0)
    above = found[:, :1] - found[:, 1:]
    discordant = np.array([a + b for a, b in _cells()])
    return Power(float(levels[0]), float(levels[2]), discordant, above[:, 0], above[:, 1])


def widths(n: int) -> Widths:
    """Return coverage and mean width of both intervals at `n` tasks."""
    only_a, only_b = (column.astype(int).tolist() for column in outcomes(n))
    pairs = list(zip(only_a, only_b, strict=True))
    ends = {(a, b): difference_interval(a, b, n) or (0.0, 0.0) for a, b in pairs if a >= b}
    # The interval of the opposite difference is the opposite.
    ours = np.array([ends[a, b] if a >= b else (-ends[b, a][1], -ends[b, a][0]) for a, b in pairs])
    rest = np.repeat([n - a - b for a, b in pairs], [n - a - b + 1 for a, b in pairs])
    both = np.concatenate([np.arange(n - a - b + 1) for a, b in pairs])
    pair_positions = np.repeat(np.arange(len(pairs)), [n - a - b + 1 for a, b in pairs])
    discordant = np.array(pairs)[pair_positions]
    passes = np.column_stack([both, discordant, rest - both]).tolist()
    theirs = np.array(macros().execute(_NEWCOMBE, [passes]).fetchall())[:, 0]
    cells = []
    for (rate_a, rate_b), share in product(_cells(), _BOTH):
        of_pairs, difference = chances(n, rate_a, rate_b), rate_a - rate_b
        of_both = of_pairs[pair_positions] * np.array(stats.binom.pmf(both, rest, share))
        cells.append((*_judged(ours, of_pairs, difference), *_judged(theirs, of_both, difference)))
    return Widths(*np.array(cells).T)


def _judged(ends: Floats, weights: Floats, difference: float) -> tuple[float, float]:
    covers = (ends[:, 0] <= difference + _ROUNDING) & (difference - _ROUNDING <= ends[:, 1])
    return float(weights @ covers), float(weights @ (ends[:, 1] - ends[:, 0]))


def _cells() -> list[tuple[float, float]]:
    return [(a, b) for a, b in product(_ONLY_A, _ONLY_B) if b < a and a + b <= 1]


@cache
def outcomes(n: int) -> tuple[Floats, Floats]:
    """Return all pairs of numbers of tasks that only A and only B pass."""
    only_a, only_b = np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0), indexing="ij")
    is_possible = only_a + only_b <= n
    return only_a[is_possible], only_b[is_possible]


def chances(n: int, rate_a: float, rate_b: float) -> Floats:
    """Return the probability of each outcome."""
    only_a, only_b = outcomes(n)
    discordant, share = only_a + only_b, rate_a + rate_b
    of_discordant = np.array(stats.binom.pmf(discordant, n, share))
    found: Floats = of_discordant * stats.binom.pmf(only_a, discordant, rate_a / share)
    return found


def _mcnemar(only_a: Floats, only_b: Floats) -> tuple[Floats, Floats]:
    """Return the p-values of McNemar's exact and mid-p tests."""
    fewer, discordant = np.minimum(only_a, only_b), only_a + only_b
    tails = 2 * np.array(stats.binom.cdf(fewer, discordant, 0.5))
    equally_likely = np.array(stats.binom.pmf(fewer, discordant, 0.5))
    return np.minimum(1.0, tails), np.minimum(1.0, tails - equally_likely)


def main() -> None:
    """Print the tables of level and power, and of intervals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer intervals")
    is_quick = parser.parse_args().quick
    of_level = ("tasks", "level", "level of mid-p", "power above exact: least", "mean")
    of_mid = ("power above mid-p: least up to 70 %", "beyond", "mean")
    print_table((*of_level, *of_mid), map(_power_row, (18, 50, 200)))
    ours = ("tasks", "mean coverage", "least", "width")
    sizes = (10, 18) if is_quick else (10, 18, 50)
    columns = (*ours, "Newcombe: mean", "least", "width")
    print_table((*columns, "width / Newcombe's: mean", "most"), map(_width_row, sizes))


def _power_row(n: int) -> Row:
    """Return the row of the table of level and power."""
    found = power(n)
    is_discordant = found.discordant > MOST_DISCORDANT
    figures: list[float] = [found.level, found.mid_level]
    figures += [found.over_exact.min(), found.over_exact.mean()]
    figures += [found.over_mid[~is_discordant].min(), found.over_mid[is_discordant].min()]
    return (str(n), *(f"{each:z.4f}" for each in (*figures, found.over_mid.mean())))


def _width_row(n: int) -> Row:
    found = widths(n)
    ratios = found.width / found.newcombe_width
    figures = [
        *summary(found.coverage, found.width),
        *summary(found.newcombe_coverage, found.newcombe_width),
        *(ratios.mean(), ratios.max()),
    ]
    return (str(n), *(f"{each:.3f}" for each in figures))


if __name__ == "__main__":
    main()
