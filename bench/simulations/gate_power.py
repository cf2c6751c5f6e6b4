"""The level and power of the gate's tests next to those of an oracle, by simulation.

    python -m bench.simulations.gate_power [--quick]

It prints the table of `docs/gates.md`. The true drop is either the largest that the rule allows, so
that a rejection is an error, or 10 points more. The oracle tests the same hypothesis, but knows
what the gate must estimate: with one attempt, the share of tasks that only one side passes, so that
it rejects from an exact critical value of the difference on; with several, the true variance of the
difference, so that it uses the normal distribution.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from warehouse.engine.statistics.bounded_means import excess_of_bounded_means
from warehouse.engine.statistics.score_test import excess_of_proportions

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from warehouse.engine.statistics.arrays import Floats

SEED = 23
_TASKS, _ALPHA, _MORE = 200, 0.05, 0.1
_SIMULATIONS, _QUICK = 20_000, 1_000
_MEANS = 4_000  # each takes a test of its own
_MARGINS = (0.0, 0.02, 0.05)
_ONLY_CANDIDATE = (0.005, 0.02, 0.05, 0.1, 0.2)
_ATTEMPTS = (3, 10)
_BASELINE = (6.0, 2.0)  # a beta distribution of the tasks' pass rates


@dataclass(frozen=True)
class Row:
    """A row of the table: rejections in percent, at the largest allowed drop and beyond."""

    data: str
    margin: float
    level: float
    oracle_level: float
    power: float
    oracle_power: float


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few simulations")
    is_quick = parser.parse_args().quick
    out = sys.stdout
    out.write("| data | max_drop | level | oracle | power at 10 points more | oracle |\n")
    out.write("| --- | --- | --- | --- | --- | --- |\n")
    for row in rows(is_quick=is_quick):
        figures = (row.level, row.oracle_level, row.power, row.oracle_power)
        shown = " | ".join(f"{100 * figure:.1f} %" for figure in figures)
        out.write(f"| {row.data} | {row.margin:g} | {shown} |\n")


def rows(*, is_quick: bool) -> Iterator[Row]:
    """Yield the rows of the table."""
    random = np.random.default_rng(SEED)
    for margin in _MARGINS:
        needed = _critical(margin)
        for rate in _ONLY_CANDIDATE:
            shares = [
                _proportions(random, needed, (rate, drop, margin), _QUICK if is_quick else None)
                for drop in (margin, margin + _MORE)
            ]
            data = f"1 attempt, {100 * rate:g} % passed by the candidate only"
            yield Row(data, margin, *shares[0], *shares[1])
        for attempts in _ATTEMPTS:
            shares = [
                _means(random, attempts, drop, margin, _QUICK if is_quick else _MEANS)
                for drop in (margin, margin + _MORE)
            ]
            yield Row(f"{attempts} attempts", margin, *shares[0], *shares[1])


def _critical(margin: float) -> npt.NDArray[np.int64]:
    """Return, for each number that only the candidate passes, the losses that are rejected."""
    needed = np.full(_TASKS + 1, _TASKS + 1)
    for only_b in range(_TASKS // 2):
        low, high = only_b - 1, _TASKS - only_b + 1
        while high - low > 1:
            middle = (low + high) // 2
            is_rejected = excess_of_proportions(middle, only_b, _TASKS, margin) <= _ALPHA
            low, high = (low, middle) if is_rejected else (middle, high)
        needed[only_b] = high
    return needed


def _proportions(
    random: np.random.Generator,
    needed: npt.NDArray[np.int64],
    truth: tuple[float, float, float],
    simulations: int | None,
) -> tuple[float, float]:
    """Return the shares of rejections of the gate and of the oracle."""
    rate, drop, margin = truth
    chances = [rate + drop, rate, 1 - 2 * rate - drop]
    drawn = random.multinomial(_TASKS, chances, size=simulations or _SIMULATIONS)
    only_a, only_b = drawn[:, 0], drawn[:, 1]
    oracle = _oracle_value(2 * rate + drop, margin)
    return float((only_a >= needed[only_b]).mean()), float((only_a - only_b >= oracle).mean())


def _oracle_value(share: float, margin: float) -> int:
    """Return the least difference that is rejected, if the share of discordant tasks is known."""
    discordant = np.arange(_TASKS + 1)
    of_discordant = stats.binom.pmf(discordant, _TASKS, share)
    chance_a = (share + margin) / (2 * share)
    for least in range(-_TASKS, _TASKS + 1):
        # A wins so many of the discordant tasks that the difference is at least `least`.
        wins = np.ceil((discordant + least) / 2)
        if float((of_discordant * stats.binom.sf(wins - 1, discordant, chance_a)).sum()) <= _ALPHA:
            return least
    return _TASKS + 1


def _means(
    random: np.random.Generator, attempts: int, drop: float, margin: float, simulations: int
) -> tuple[float, float]:
    of_baseline = random.beta(*_BASELINE, size=(simulations, _TASKS))
    # The candidate loses the same share of every task's rate.
    kept = 1 - drop / (_BASELINE[0] / sum(_BASELINE))
    drops: Floats = random.binomial(attempts, of_baseline) / attempts
    drops = drops - random.binomial(attempts, of_baseline * kept) / attempts
    p_values = [excess_of_bounded_means(each, margin, largest=1.0) or 0.0 for each in drops]
    found = [p_value <= _ALPHA for p_value in p_values]
    error = float(np.sqrt(drops.var() / _TASKS))
    oracle = (drops.mean(axis=1) - margin) / error > stats.norm.ppf(1 - _ALPHA)
    return float(np.mean(found)), float(oracle.mean())


if __name__ == "__main__":
    main()
