"""The level and power of tests of bounded means, by simulation: why the gate uses Gaffke's.

    python -m bench.simulations.bounded_tests [--quick | --search N]

It prints the second table of `docs/gates.md`. The hypothesis is that of `gate --prove`, "the drop
is at least so large", for differences of -1 to 1. Hoeffding's and Bentkus' bound (Bates et al.
2021, Journal of the ACM 68, 43) and betting (Waudby-Smith and Ramdas 2024, Journal of the Royal
Statistical Society B 86, 1; predictable plug-in, tasks in random order) are proven to keep the
level for every distribution.

With `--search`, it looks for distributions of which Gaffke's test rejects too many: N times it
draws a number of tasks, a level and the values of a distribution, and chooses the probabilities
with the largest share of rejections under the hypothesis, by enumeration. It prints the largest
share, divided by the level.
"""

from __future__ import annotations

import argparse
import sys
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats
from scipy.optimize import minimize
from scipy.special import gammaln

from warehouse.engine.statistics.bounded_means import chance_of_excess, excess_of_bounded_means

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warehouse.engine.statistics.arrays import Floats

_SEED, _ALPHA = 23, 0.05
_SIMULATIONS, _QUICK = 4_000, 200
_BASELINE = (6.0, 2.0)  # a beta distribution of the tasks' pass rates
_SEARCHED_TASKS, _SEARCHED_LEVELS = (6, 8, 10, 12, 15, 20, 30), (0.01, 0.05, 0.2)
_FEW, _STARTS, _AT_BOUND = 12, 4, 0.6
_UNEVEN = ((2.5, 50), (4, 200), (10, 200), (40, 200))


def gaffke(drops: Floats, limit: float) -> float:
    """Return the p-value of the gate's test."""
    return excess_of_bounded_means(-drops, -limit, largest=1.0) or 0.0


def student(drops: Floats, limit: float) -> float:
    """Return the p-value of Student's t, with two tasks added at a distance of 1."""
    excess = np.append(limit - drops, [1.0, -1.0])
    error = excess.std(ddof=1) / np.sqrt(len(excess))
    return float(stats.t.sf(excess.mean() / error, len(drops) - 1))


def hoeffding_bentkus(drops: Floats, limit: float) -> float:
    """Return the p-value by the bounds of Hoeffding and Bentkus."""
    n, mean, least = len(drops), float((1 + drops.mean()) / 2), (1 + limit) / 2
    if mean >= least:
        return 1.0
    divergence = mean * np.log(mean / least) if mean else 0.0
    divergence += (1 - mean) * np.log((1 - mean) / (1 - least))
    bentkus = np.e * stats.binom.cdf(np.ceil(n * mean), n, least)
    return float(min(np.exp(-n * divergence), bentkus))


def betting(drops: Floats, limit: float) -> float:
    """Return the p-value by the largest wealth of a bet against the hypothesis."""
    values, least = (1 + drops) / 2, (1 + limit) / 2
    counts = np.arange(2, len(values) + 2)
    means = (least + np.cumsum(values)) / counts
    variances = (1 / 64 + np.cumsum((values - means) ** 2)) / counts
    before = np.append(1 / 64, variances[:-1])
    stakes = np.sqrt(2 * np.log(1 / _ALPHA) / (len(values) * before))
    wealth = np.cumsum(np.log1p(np.minimum(stakes, 0.9 / (1 - least)) * (least - values)))
    return float(np.exp(-max(0.0, wealth.max())))


TESTS: dict[str, Callable[[Floats, float], float]] = {
    "Gaffke": gaffke,
    "Student, two tasks added": student,
    "betting": betting,
    "Hoeffding and Bentkus": hoeffding_bentkus,
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few simulations")
    parser.add_argument("--search", type=int, metavar="N", help="search for errors N times")
    asked = parser.parse_args()
    if asked.search:
        random = np.random.default_rng(_SEED)
        shares_of_level = [largest_share(random) for _ in range(asked.search)]
        sys.stdout.write(f"{asked.search} problems: {max(shares_of_level):.3f} of the level\n")
        return
    simulations = _QUICK if asked.quick else _SIMULATIONS
    sys.stdout.write(f"| data | share | {' | '.join(TESTS)} |\n")
    sys.stdout.write(f"| --- | --- | {' | '.join('---' for _ in TESTS)} |\n")
    for data, share, draw, limit in cases():
        drawn = [draw() for _ in range(simulations)]
        shares = [
            np.mean([test(drops, limit) <= _ALPHA for drops in drawn]) for test in TESTS.values()
        ]
        figures = " | ".join(f"{100 * float(each):.1f} %" for each in shares)
        sys.stdout.write(f"| {data} | {share} | {figures} |\n")


def cases() -> Iterator[tuple[str, str, Callable[[], Floats], float]]:
    """Yield what is drawn, which share of proofs is counted, the draws, and the limit."""
    random = np.random.default_rng(_SEED)
    for lost, n in _UNEVEN:

        def uneven(lost: float = lost, n: int = n) -> Floats:
            return np.where(random.random(n) < lost / n, 1.0, 0.0)

        yield f"{lost:g} of {n} tasks lose everything", "level", uneven, lost / n
    for attempts in (3, 10):
        for limit in (0.02, 0.05, 0.1):
            for share, drop in (("level", limit), ("power without a drop", 0.0)):

                def even(attempts: int = attempts, drop: float = drop) -> Floats:
                    rates = random.beta(*_BASELINE, size=200)
                    kept = rates * (1 - drop / (_BASELINE[0] / sum(_BASELINE)))
                    passed = random.binomial(attempts, rates) - random.binomial(attempts, kept)
                    drops: Floats = passed / attempts
                    return drops

                yield f"200 tasks, {attempts} attempts, limit {limit:g}", share, even, limit


def largest_share(random: np.random.Generator) -> float:
    """Return the largest share of false rejections, divided by the level, of a random problem."""
    n, alpha = int(random.choice(_SEARCHED_TASKS)), float(random.choice(_SEARCHED_LEVELS))
    n_values = int(random.choice([2, 3, 4] if n <= _FEW else [2, 3]))
    least = -(10 ** random.uniform(-2, 1.5))
    # The hypothesis is that the mean is at least 0; no value is above 1.
    values = np.sort([least, *random.uniform(least, 1, n_values - 2), random.uniform(0.1, 1)])
    if random.random() < _AT_BOUND:
        values[-1] = 1.0
    counts = np.array([each for each in product(range(n + 1), repeat=n_values) if sum(each) == n])
    ways = gammaln(n + 1) - gammaln(counts + 1).sum(axis=1)
    p_values = [chance_of_excess(np.append(np.repeat(values, each), 1.0)) for each in counts]
    is_rejected = np.array(p_values) <= alpha
    rejected, ways = counts[is_rejected], ways[is_rejected]

    def accepted(logits: Floats) -> float:
        weights = np.exp(logits - logits.max())
        # Weights whose mean is 0.
        below, above = np.minimum(values, 0) @ weights, np.maximum(values, 0) @ weights
        weights = np.where(values < 0, weights * above, -weights * below)
        if weights.sum() <= 0:
            return 0.0  # too small to be represented
        logs = np.log(np.maximum(weights / weights.sum(), 1e-300))
        return -float(np.exp(ways + rejected @ logs).sum())

    starts = [random.normal(0, 2, n_values) for _ in range(_STARTS)]
    found = [minimize(accepted, start, method="Nelder-Mead").fun for start in starts]
    return -float(min(found)) / alpha


if __name__ == "__main__":
    main()
