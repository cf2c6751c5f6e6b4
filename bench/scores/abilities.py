"""Abilities of 1,000 systems by 10,000 items, a tenth of them answered: CPU time and memory."""

from __future__ import annotations

import resource
import time

import numpy as np

from bench.ratios import Ratio
from warehouse.analysis.items.abilities import find_abilities
from warehouse.analysis.items.responses import Responses

_SIZE, _QUICK_SIZE = (1_000, 10_000), (120, 300)
_FILLED = 0.1
_SECONDS = 60.0
_MEGABYTES = 2_000.0
_SEED = 7


def measure(*, quick: bool) -> list[Ratio]:
    """Fit the 2PL to made-up answers; compare with the limits."""
    n_systems, n_items = _QUICK_SIZE if quick else _SIZE
    responses = _drawn(n_systems, n_items)
    start = time.process_time()
    find_abilities(responses, "bench", "2pl")
    seconds = time.process_time() - start
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    work = f"2PL of {n_systems:,} systems by {n_items:,} items, a tenth answered"
    return [
        Ratio(
            work=f"{work}, {name}",
            against=f"{limit:,.0f} {unit}",
            value=value / limit,
            figures=f"{value:,.1f} {unit}",
            at_most=1.0,
        )
        for name, value, limit, unit in (
            ("CPU", seconds, _SECONDS, "s"),
            ("peak memory", megabytes, _MEGABYTES, "MB"),
        )
    ]


def _drawn(n_systems: int, n_items: int) -> Responses:
    random = np.random.default_rng(_SEED)
    ability = random.normal(0, 1, (n_systems, 1))
    slope = np.exp(random.normal(0, 0.4, n_items))
    chance = 1 / (1 + np.exp(slope * (random.normal(0, 1.5, n_items) - ability)))
    answers = (random.random(chance.shape) < chance).astype(np.float64)
    answers[random.random(chance.shape) >= _FILLED] = np.nan
    return Responses.from_matrix(answers)
