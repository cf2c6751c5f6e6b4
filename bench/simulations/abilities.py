"""How often the 95 % intervals of abilities contain the truth, where answers are missing.

Abilities are standard normal, difficulties have a standard deviation of 1.5, slopes are equal (the
Rasch model's) or log-normal (the 2PL's). Answers are missing at random; draws whose systems no item
links are drawn again. Abilities are those less their mean.

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
    from collections.abc import Iterator

    from tools.simulation_tables import Row
    from warehouse.engine.statistics.arrays import Floats
    from warehouse.engine.statistics.item_response import Model

_SEED = 33
SIMULATIONS = 60
SYSTEMS = (10, 30, 100)
ITEMS = (50, 500)
MISSING = (0.3, 0.9)
_DIFFICULTY_SD = 1.5
_SLOPE_SDS: dict[Model, float] = {"rasch": 0.0, "2pl": 0.4}
_MOST_DRAWS = 1000


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


def cell(n_systems: int, n_items: int, missing: float, model: Model, n: int) -> Floats:
    """Return the coverage, the mean width, and how often the ranks are wrong of some system."""
    random = np.random.default_rng([_SEED, n_systems, n_items, int(100 * missing), len(model)])
    found = []
    for _ in range(_MOST_DRAWS):
        truth, responses = _drawn(random, n_systems, n_items, missing, _SLOPE_SDS[model])
        if len(set(responses.system.tolist())) < n_systems:
            continue
        try:
            rows = system_rows(find_abilities(responses, "simulated", model))
        except BadInput:
            continue
        found.append(_judged(truth, rows))
        if len(found) == n:
            break
    return np.mean(found, axis=0)


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


def _rows(n: int) -> Iterator[Row]:
    for model, n_systems, n_items, missing in product(_SLOPE_SDS, SYSTEMS, ITEMS, MISSING):
        coverage, width, wrong = cell(n_systems, n_items, missing, model, n)
        sizes = str(n_systems), str(n_items), f"{missing:.0%}"
        yield model, *sizes, f"{coverage:.3f}", f"{width:.2f}", f"{wrong:.3f}"


def main() -> None:
    """Simulate and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulations")
    n = SIMULATIONS // (10 if parser.parse_args().quick else 1)
    columns = ("model", "systems", "items", "missing", "coverage", "width", "wrong ranks")
    print_table(columns, _rows(n))


if __name__ == "__main__":
    main()
