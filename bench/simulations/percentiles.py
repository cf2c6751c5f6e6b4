"""How often intervals of percentiles and ratios cover the truth; prints the table of the docs.

python -m bench.simulations.percentiles [--simulations 2000]
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np
from scipy import stats

from warehouse.statistics.percentiles import percentile_limits
from warehouse.statistics.ratios import ratio_limits

_SEED = 31
_SIMULATIONS = 2000
_TASKS = (20, 50, 100, 200)
_ATTEMPTS = 3
_SPREADS = (0.5, 1.0, 2.0)
_PASS_RATE = 0.7
_FIGURES = ("p50", "p95", "cost of a passed call")


def coverage(figure: str, spread: float, n: int, simulations: int) -> float:
    """Return the share of intervals that contain the true figure."""
    random = np.random.default_rng([_SEED, _FIGURES.index(figure), int(10 * spread), n])
    tasks = np.repeat(np.arange(n), _ATTEMPTS)
    found: list[bool] = []
    for _ in range(simulations):
        of_task = random.normal(size=n)[tasks]
        values = np.exp(spread * (of_task + random.normal(size=len(tasks))) / np.sqrt(2))
        low: float | None
        high: float | None
        if figure == "cost of a passed call":
            truth = np.exp(spread**2 / 2) / _PASS_RATE
            passed = np.bincount(tasks, weights=random.random(len(tasks)) < _PASS_RATE)
            limits = ratio_limits(np.bincount(tasks, weights=values), passed)
            if limits is None:
                continue
            low, high = limits
        else:
            share = float(figure[1:]) / 100
            truth = np.exp(spread * stats.norm.ppf(share))
            low, high = percentile_limits(values, share, tasks=tasks)
        found.append((low is None or low <= truth) and (high is None or truth <= high))
    return float(np.mean(found))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=_SIMULATIONS)
    simulations = parser.parse_args().simulations
    print(f"| figure | σ | {_TASKS[0]} tasks | {' | '.join(map(str, _TASKS[1:]))} |")
    print(f"| --- | --- |{' --- |' * len(_TASKS)}")
    for figure, spread in product(_FIGURES, _SPREADS):
        cells = [f"{coverage(figure, spread, n, simulations):.3f}" for n in _TASKS]
        print(f"| {figure} | {spread:g} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
