"""How often the intervals of rank correlations between task sets contain the truth.

Models' scores in two sets are drawn with a known correlation, exact or rounded so that many are
equal. Next to them is Pearson's correlation with Fisher's interval, of normal and lognormal scores.

    python -m bench.simulations.set_agreement [--quick]
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from tools.simulation_tables import print_table
from warehouse.engine.statistics.macros import macros

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tools.simulation_tables import Row
    from warehouse.engine.statistics.arrays import Floats

_SEED = 33
SIMULATIONS = 2000
_TRUTHS = (0.0, 0.5, 0.8, 0.95)
_NUMBERS = (5, 6, 8, 10, 15, 30)
_Z = 1.959963984540054
# Models whose correlation is the truth of rounded scores.
_MANY = 3000
_QUERY = "SELECT rank_interval(r, $n, $is_tau) FROM (SELECT unnest($r::DOUBLE[]) AS r)"


def intervals(
    coefficients: Sequence[float | None], n: int, *, is_tau: bool
) -> list[tuple[float, float] | None]:
    """Return the intervals of rank correlations over n models: the SQL macro `rank_interval`."""
    values = {"r": list(coefficients), "n": n, "is_tau": is_tau}
    rows = macros().cursor().execute(_QUERY, values).fetchall()
    return [None if ends is None else tuple(ends) for (ends,) in rows]


def _correlation(x: Floats, y: Floats) -> Floats:
    x, y = (each - each.mean(axis=-1, keepdims=True) for each in (x, y))
    return (x * y).sum(-1) / np.sqrt((x**2).sum(-1) * (y**2).sum(-1))


def _coefficients(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return Kendall's tau-b and Spearman's correlation of each row."""
    a, b = (np.sign(each[..., None] - each[..., None, :]) for each in (x, y))
    apart = (a**2).sum((-1, -2)) * (b**2).sum((-1, -2))
    return (a * b).sum((-1, -2)) / np.sqrt(apart), _correlation(a.sum(-1), b.sum(-1))


def _scores(
    random: np.random.Generator, rho: float, shape: tuple[int, int]
) -> tuple[Floats, Floats]:
    x, own = random.normal(size=(2, *shape))
    return x, rho * x + np.sqrt(1 - rho**2) * own


def _covered(ends: Sequence[tuple[float, float] | None], truth: float) -> float:
    low, high = np.array([each for each in ends if each is not None]).T
    return float(((low <= truth) & (truth <= high)).mean())


def _rows(n_simulations: int) -> Iterator[Row]:
    for n, (number, rho) in product(_NUMBERS, enumerate(_TRUTHS)):
        random = np.random.default_rng([_SEED, n, number])
        x, y = _scores(random, rho, (n_simulations, n))
        truths = 2 / np.pi * np.arcsin(rho), 6 / np.pi * np.arcsin(rho / 2)
        rounded = [np.round(2 * each) / 2 for each in (x, y)]
        many = [np.round(2 * each)[0] / 2 for each in _scores(random, rho, (1, _MANY))]
        figures = []
        for scores, of_kinds in ((([x, y]), truths), (rounded, _coefficients(*many))):
            with np.errstate(invalid="ignore"):
                found = _coefficients(*scores)
            for is_tau, coefficient, truth in zip((True, False), found, of_kinds, strict=True):
                known = coefficient[~np.isnan(coefficient)].tolist()
                figures.append(_covered(intervals(known, n, is_tau=is_tau), float(truth)))
        for scale, truth in ((lambda s: s, rho), (np.exp, np.expm1(rho) / np.expm1(1))):
            z = np.arctanh(_correlation(scale(x), scale(y)))
            figures.append(float((abs(z - np.arctanh(truth)) <= _Z / np.sqrt(n - 3)).mean()))
        yield str(n), f"{rho:g}", *(f"{figure:.3f}" for figure in figures)


def main() -> None:
    """Simulate and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulations")
    n = SIMULATIONS // 10 if parser.parse_args().quick else SIMULATIONS
    kinds = ("τ", "Spearman", "τ, ties", "Spearman, ties", "Pearson", "Pearson, lognormal")
    print_table(("models", "true correlation", *kinds), _rows(n))


if __name__ == "__main__":
    main()
