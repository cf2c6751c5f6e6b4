"""How often fair judges are named for a drift or a bias, and how often those that have one.

A suite has five judges, whose p-values are adjusted by Holm's method; it counts if any judge is
named. For power, the first judge is not fair. Next to it is the first judge alone.

    python -m bench.simulations.judge_tests [--quick]
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from tools.simulation_tables import print_table
from warehouse.engine.scoring.bootstrap import holm
from warehouse.engine.statistics.agreement_intervals import kappa_change
from warehouse.engine.statistics.bounded_means import equality_of_bounded_means

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from tools.simulation_tables import Row
    from warehouse.engine.statistics.arrays import Floats

    Bools = npt.NDArray[np.bool_]
    Draw = Callable[[np.random.Generator, bool], float | None]

_SEED = 31
SIMULATIONS = 400
_ALPHA = 0.05
_JUDGES = 5
_ITEMS = (30, 100)
_PAIRS = (30, 100, 300)
_SHARES = {"2 labels, 50 %": 0.5, "2 labels, 80 %": 0.8}
_KAPPA, _FALLEN = 0.8, 0.4
# People, and fair judges, prefer the longer answer of so many pairs; an unfair judge always does in
# so many of them, whichever is better.
_LONGER, _UNFAIR = 0.6, 0.3
_AGREEMENT = 0.5


def named(draw: Draw, n: int, key: tuple[int, ...], *, is_fair: bool) -> tuple[float, float]:
    """Return the share of suites in which a judge is named: of the first alone, and of all.

    Args:
        draw: returns the p-value of a judge that is fair, or not.
        n: simulations.
        key: of the cell's random numbers.
        is_fair: whether all judges are; otherwise it is the first that counts.
    """
    random, n_named = np.random.default_rng([_SEED, is_fair, *key]), np.zeros(2)
    for _ in range(n):
        p_values = [draw(random, is_fair or judge > 0) for judge in range(_JUDGES)]
        is_named = [p is not None and p < _ALPHA for p in holm(p_values)]
        alone = p_values[0] is not None and p_values[0] < _ALPHA
        n_named += alone, any(is_named) if is_fair else is_named[0]
    return float(n_named[0] / n), float(n_named[1] / n)


def _labels(random: np.random.Generator, truth: Bools, share: float, kappa: float) -> Bools:
    return np.where(random.random(len(truth)) < kappa, truth, random.random(len(truth)) < share)


def _drift(share: float, n: int, *, is_version: bool) -> Draw:
    """Return what draws the labels of a judge, in two periods or by two versions of the same."""

    def draw(random: np.random.Generator, is_fair: bool, /) -> float | None:  # noqa: FBT001 - passed by place
        truth = random.random((2, n)) < share
        if is_version:
            truth[1] = truth[0]
        tables = []
        for of_period, kappa in zip(truth, (_KAPPA, _KAPPA if is_fair else _FALLEN), strict=True):
            labels = _labels(random, of_period, share, kappa)
            cells = np.zeros((n, 4))
            cells[np.arange(n), 2 * labels + of_period] = 1
            tables.append(cells.reshape(n, 2, 2))
        before, after = tables if is_version else (each.sum(axis=0) for each in tables)
        return kappa_change(before, after).p_value

    return draw


def _bias(n: int) -> Draw:
    """Return what draws the votes of a judge, and of people on the same pairs."""

    def draw(random: np.random.Generator, is_fair: bool, /) -> float | None:  # noqa: FBT001 - passed by place
        people = random.random(n) < _LONGER
        votes = _labels(random, people, _LONGER, _AGREEMENT)
        if not is_fair:
            votes |= random.random(n) < _UNFAIR
        differences: Floats = votes.astype(np.float64) - people
        return equality_of_bounded_means(differences, largest=1.0)

    return draw


def _cells(draw: Draw, n: int, *key: int) -> Iterator[str]:
    for is_fair in (True, False):
        yield from (f"{share:.3f}" for share in named(draw, n, key, is_fair=is_fair))


def _drift_rows(n: int) -> Iterator[Row]:
    for is_version, (number, (kind, share)), items in product(
        (False, True), enumerate(_SHARES.items()), _ITEMS
    ):
        draw = _drift(share, items, is_version=is_version)
        split = "two versions" if is_version else "two periods"
        yield split, kind, str(items), *_cells(draw, n, is_version, number, items)


def _bias_rows(n: int) -> Iterator[Row]:
    for items in _PAIRS:
        yield str(items), *_cells(_bias(items), n, 2, items)


def main() -> None:
    """Simulate and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulations")
    n = SIMULATIONS // 10 if parser.parse_args().quick else SIMULATIONS
    figures = ("fair, 1 judge", "fair, 5 judges", "found, 1 judge", "found, 5 judges")
    print_table(("judge", "labels", "items of each", *figures), _drift_rows(n))
    print_table(("pairs", *figures), _bias_rows(n))


if __name__ == "__main__":
    main()
