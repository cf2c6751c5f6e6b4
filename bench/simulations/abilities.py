"""How often the 95 % intervals of abilities contain the truth, where answers are missing.

Abilities are standard normal, difficulties have a standard deviation of 1.5, slopes are equal or
log-normal; which model is fitted is decided as the command decides it. Answers are missing at
random; draws whose systems no item links are drawn again. Abilities are those less their mean. The
error of the coverage is that of the mean of the draws, which are twice as many where it is above
0.01.

    python -m bench.simulations.abilities [--quick]
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from tools.simulation_tables import print_table
from warehouse.analysis.items.abilities import find_abilities, system_rows
from warehouse.analysis.items.responses import Responses
from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from tools.simulation_tables import Row
    from warehouse.engine.statistics.arrays import Floats

_SEED = 33
SIMULATIONS = {10: 60, 30: 24, 100: 12}  # by systems: 600 intervals or more
ITEMS = (50, 500)
MISSING = (0.3, 0.9)
_DIFFICULTY_SD = 1.5
_SLOPE_SDS = {"equal": 0.0, "differ": 0.4}
_MOST_DRAWS = 1000
_MOST_ERROR = 0.01  # of the coverage


def _drawn(
    random: np.random.Generator, n_systems: int, n_items: int, missing: float, slope_sd: float
) -> tuple[Floats, Responses]:
    """Return abilities, and answers in which each system and item has one."""
    ability = random.normal(0, 1, n_systems)
    difficulty = random.normal(0, _DIFFICULTY_SD, n_items)
    slope = np.exp(random.normal(0, slope_sd, n_items))
    chance = 1 / (1 + np.exp(-slope * (ability[:, np.newaxis] - difficulty)))
    answers = (random.random(chance.shape) < chance).astype(np.float64)
    answers[random.random(chance.shape) < missing] = np.nan
    is_asked = ~np.isnan(answers).all(axis=0)
    return ability - ability.mean(), Responses.from_matrix(answers[:, is_asked])


def cell(n_systems: int, n_items: int, missing: float, slope_sd: float, n: int) -> Floats:
    """Return for each draw: coverage, mean width, whether a rank is wrong, whether 2PL was used."""
    sizes = n_systems, n_items, int(100 * missing), int(100 * slope_sd)
    random = np.random.default_rng([_SEED, *sizes])
    found: list[tuple[float, ...]] = []
    for _ in range(_MOST_DRAWS):
        truth, responses = _drawn(random, n_systems, n_items, missing, slope_sd)
        if len(set(responses.system.tolist())) < n_systems:
            continue
        try:
            abilities = find_abilities(responses, "simulated")
        except BadInput:
            continue
        found.append((*_judged(truth, system_rows(abilities)), abilities.model == "2pl"))
        if len(found) == n:
            break
    return np.array(found)


def _judged(truth: Floats, rows: list[tuple[object, ...]]) -> tuple[float, float, float]:
    """Return the share of intervals that hold, their mean width, and whether a rank is wrong."""
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    _, rank_low, rank_high, names, _, low, high = columns[:7]
    position = [int(name.rpartition("-")[2]) for name in names]
    ability = truth[position]
    place = 1 + (truth > ability[:, np.newaxis]).sum(axis=1)
    wrong = (place < rank_low) | (place > rank_high)
    holds = (low <= ability) & (ability <= high)
    return float(holds.mean()), float((high - low).mean()), float(wrong.any())


def row(slopes: str, n_systems: int, n_items: int, missing: float, part: int) -> Row:
    """Return the figures of a cell, by all simulations or a part of them."""
    key, n = (n_systems, n_items, missing, _SLOPE_SDS[slopes]), SIMULATIONS[n_systems]
    draws = cell(*key, max(2, n // part))
    if part == 1 and _error(draws) > _MOST_ERROR:
        draws = cell(*key, 2 * n)
    coverage, width, wrong, two_parameters = draws.mean(axis=0)
    sizes = str(n_systems), str(n_items), f"{missing:.0%}", str(len(draws))
    figures = f"{coverage:.3f}", f"{_error(draws):.3f}", f"{width:.2f}", f"{wrong:.2f}"
    return slopes, *sizes, f"{two_parameters:.0%}", *figures


def _error(draws: Floats) -> float:
    return float(draws[:, 0].std(ddof=1) / np.sqrt(len(draws)))


def main() -> None:
    """Simulate and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulations")
    part = 10 if parser.parse_args().quick else 1
    rows = (
        row(slopes, n_systems, n_items, missing, part)
        for slopes, n_systems, n_items, missing in product(_SLOPE_SDS, SIMULATIONS, ITEMS, MISSING)
    )
    columns = (
        *("slopes", "systems", "items", "missing", "draws", "2PL used"),
        *("coverage", "error", "width", "wrong ranks"),
    )
    print_table(columns, rows)


if __name__ == "__main__":
    main()
