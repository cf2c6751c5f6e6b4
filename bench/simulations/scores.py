"""How often the intervals of mean scores from 0 to 1 cover the truth; prints the table of the docs.

python -m bench.simulations.scores [--simulations 4000]
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np
from scipy import stats

_SEED = 23
_SIMULATIONS = 4000
_TASKS = (10, 20, 50, 200, 1000)
_SHAPES = ("Beta", "0, 1 and Beta", "0, 1/2 and 1")
_MEANS = (0.02, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.98)
# Of Beta shapes the sum of the parameters, of mixtures the share that is neither 0 nor 1.
_SPREADS = {"Beta": (0.5, 2.0, 10.0)}
_SHARES = (0.2, 0.5, 0.8)
_ROUNDING = 1e-12


def coverages(shape: str, n: int, simulations: int) -> tuple[list[float], list[float]]:
    """Return the coverage of the boards' interval in each cell, and that of Student's t."""
    random = np.random.default_rng([_SEED, _SHAPES.index(shape), n])
    ours, students = [], []
    for mean, spread in product(_MEANS, _SPREADS.get(shape, _SHARES)):
        scores, truth = _draw(random, shape, mean, spread, (simulations, n))
        low, high = wilson_of_scores(scores)
        ours.append(float(((low <= truth + _ROUNDING) & (truth - _ROUNDING <= high)).mean()))
        reach = stats.t.ppf(0.975, n - 1) * scores.std(axis=1, ddof=1) / np.sqrt(n)
        students.append(float((np.abs(scores.mean(axis=1) - truth) <= reach).mean()))
    return ours, students


def wilson_of_scores(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the interval of `metrics`, a row of scores for each mean."""
    n, sums, squares = scores.shape[1], scores.sum(axis=1), (scores**2).sum(axis=1)
    mean = (sums + 1) / (n + 2)
    trials = np.maximum(n, n * mean * (1 - mean) / ((squares + 1) / (n + 2) - mean**2))
    z, observed = stats.norm.ppf(0.975), sums / n
    middle = (observed * trials + z**2 / 2) / (trials + z**2)
    reach = z / (trials + z**2) * np.sqrt(observed * (1 - observed) * trials + z**2 / 4)
    return middle - reach, middle + reach


def _draw(
    random: np.random.Generator, shape: str, mean: float, spread: float, size: tuple[int, int]
) -> tuple[np.ndarray, float]:
    if shape == "Beta":
        return random.beta(mean * spread, (1 - mean) * spread, size), mean
    between = random.beta(2, 2, size) if shape == "0, 1 and Beta" else np.full(size, 0.5)
    is_between, passed = random.random(size) < spread, random.random(size) < mean
    return np.where(is_between, between, passed), spread / 2 + (1 - spread) * mean


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=_SIMULATIONS)
    simulations = parser.parse_args().simulations
    print("| scores | tasks | mean coverage | least | Student's t, mean | least |")
    print("| --- | --- | --- | --- | --- | --- |")
    for shape, n in product(_SHAPES, _TASKS):
        ours, students = coverages(shape, n, simulations)
        figures = (np.mean(ours), min(ours), np.mean(students), min(students))
        print(f"| {shape} | {n} | {' | '.join(f'{figure:.3f}' for figure in figures)} |")


if __name__ == "__main__":
    main()
