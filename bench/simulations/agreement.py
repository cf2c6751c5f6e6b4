"""How often the 95 % intervals of kappa, of alpha and of a change of kappa contain the truth.

Raters report an item's own label with some probability, and otherwise any label, as often as it
occurs, so that kappa and alpha are known. Next to kappa's interval is the plain bootstrap of the
items. Samples in which a rater uses one label have no kappa and do not count.

    python -m bench.simulations.agreement [--quick]
"""

from __future__ import annotations

import argparse
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from tools.simulation_tables import print_table
from warehouse.engine.statistics.agreement import cohen_kappa, kappa_values, label_counts
from warehouse.engine.statistics.agreement_intervals import (
    alpha_interval,
    kappa_change,
    kappa_interval,
)
from warehouse.engine.statistics.proportions import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tools.simulation_tables import Row
    from warehouse.engine.statistics.agreement import Level, Weights
    from warehouse.engine.statistics.arrays import Floats

    Draw = Callable[[np.random.Generator, float], Interval | None]

_SEED = 29
SIMULATIONS = 600
_TRUTHS = (0.0, 0.4, 0.8)
_PLAIN_RESAMPLES = 1000
_ROUNDING = 1e-9
_SKEWED = (0.7, 0.15, 0.1, 0.05)
_SHARES = {
    "2 labels, 50 %": (0.5, 0.5),
    "2 labels, 80 %": (0.8, 0.2),
    "2 labels, 95 %": (0.95, 0.05),
    "4 labels": _SKEWED,
    "4 labels, quadratic": _SKEWED,
    "4 labels, ordinal": _SKEWED,
    "4 labels, interval": _SKEWED,
}
_TWO_LABELS = tuple(_SHARES)[:3]
_KAPPAS: dict[str, Weights] = {
    **dict.fromkeys(_TWO_LABELS, "none"),
    "4 labels": "none",
    "4 labels, quadratic": "quadratic",
}
_ALPHAS: dict[str, Level] = {
    **dict.fromkeys(_TWO_LABELS, "nominal"),
    "4 labels": "nominal",
    "4 labels, ordinal": "ordinal",
    "4 labels, interval": "interval",
}


def cell(draw: Draw, truth: float, n: int, *key: int, change: float | None = None) -> Floats:
    """Return coverage, mean width, and the share of samples that have no interval.

    Args:
        draw: returns the interval of a new sample.
        truth: the true kappa or alpha.
        n: simulations.
        key: of the cell's random numbers.
        change: what an interval should contain instead of `truth`.
    """
    random = np.random.default_rng([_SEED, int(100 * truth), *key])
    drawn = [draw(random, truth) for _ in range(n)]
    ends = np.array([each for each in drawn if each is not None])
    target = truth if change is None else change
    # The interval of a figure of 0 may end there but for rounding.
    covered = (ends[:, 0] <= target + _ROUNDING) & (target - _ROUNDING <= ends[:, 1])
    return np.array([covered.mean(), np.ptp(ends, axis=1).mean(), 1 - len(ends) / n])


def _table(random: np.random.Generator, kind: str, n: int, kappa: float) -> Floats:
    shares = np.array(_SHARES[kind])
    cells = kappa * np.diag(shares) + (1 - kappa) * np.outer(shares, shares)
    return random.multinomial(n, cells.ravel()).reshape(cells.shape).astype(np.float64)


def _kappa(kind: str, n: int, random: np.random.Generator, kappa: float) -> Interval | None:
    return kappa_interval(_table(random, kind, n, kappa), _KAPPAS[kind])


def _plain(kind: str, n: int, random: np.random.Generator, kappa: float) -> Interval | None:
    table = _table(random, kind, n, kappa)
    if cohen_kappa(table) is None:
        return None
    resamples = random.multinomial(n, table.ravel() / n, _PLAIN_RESAMPLES).astype(np.float64)
    kappas = kappa_values(resamples.reshape(-1, *table.shape), _KAPPAS[kind])
    low, high = np.nanquantile(kappas, (0.025, 0.975))
    return Interval(float(low), float(high))


def _alpha(
    kind: str, n: int, n_raters: int, random: np.random.Generator, alpha: float
) -> Interval | None:
    shares, shape = _SHARES[kind], (n, n_raters)
    of_item = random.choice(len(shares), size=(n, 1), p=shares)
    own = random.choice(len(shares), size=shape, p=shares)
    ratings = np.where(random.random(shape) < np.sqrt(alpha), of_item, own).astype(np.float64)
    counts = label_counts(np.repeat(np.arange(n), n_raters), ratings.ravel())
    return alpha_interval(counts, _ALPHAS[kind])


def _change(
    kind: str, n: int, later: float, random: np.random.Generator, kappa: float
) -> Interval | None:
    before, after = (_table(random, kind, n, each) for each in (kappa, later))
    return kappa_change(before, after).interval


def _kappa_rows(n: int) -> Iterator[Row]:
    for (number, kind), items in product(enumerate(_KAPPAS), (30, 100, 300)):
        ours, plain = (
            np.array([cell(partial(draw, kind, items), k, n, number, items) for k in _TRUTHS])
            for draw in (_kappa, _plain)
        )
        figures = (*ours[:, 0], ours[1, 1], ours[:, 2].max(), plain[:, 0].min())
        yield kind, str(items), *(f"{figure:.3f}" for figure in figures)


def _alpha_rows(n: int) -> Iterator[Row]:
    for (number, kind), items, n_raters in product(enumerate(_ALPHAS), (30, 100), (2, 5)):
        draw = partial(_alpha, kind, items, n_raters)
        found = np.array([cell(draw, k, n, number, items, n_raters) for k in _TRUTHS])
        figures = (*found[:, 0], found[1, 1])
        yield kind, str(items), str(n_raters), *(f"{figure:.3f}" for figure in figures)


def _change_rows(n: int) -> Iterator[Row]:
    for (number, kind), items in product(enumerate(_TWO_LABELS[:2]), (30, 100)):
        alike, fallen = (
            cell(partial(_change, kind, items, later), 0.8, n, number, items, change=later - 0.8)
            for later in (0.8, 0.4)
        )
        figures = (alike[0], fallen[0], alike[1])
        yield kind, str(items), *(f"{figure:.3f}" for figure in figures)


def main() -> None:
    """Simulate and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulations")
    n = SIMULATIONS // 10 if parser.parse_args().quick else SIMULATIONS
    coverages = tuple(f"κ {truth:g}" for truth in _TRUTHS)
    columns = ("labels", "items", *coverages, "width", "no κ", "bootstrap: least")
    print_table(columns, _kappa_rows(n))
    coverages = tuple(f"α {truth:g}" for truth in _TRUTHS)
    print_table(("labels", "items", "raters", *coverages, "width"), _alpha_rows(n))
    columns = ("labels", "items of each", "no change", "from 0.8 to 0.4", "width of no change")
    print_table(columns, _change_rows(n))


if __name__ == "__main__":
    main()
