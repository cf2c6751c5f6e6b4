"""How often the boards' 95 % interval of a pass rate of tasks in clusters contains the truth.

The rates of the clusters are beta distributed, with a correlation of 0 (all alike) to 1 (all or
nothing) between tasks of a cluster. Next to it are Student's t of the clusters' sums, and Wilson's
interval as if the tasks were independent.

    python -m bench.simulations.clusters [--quick]
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from tools.simulation_tables import print_table, summary
from warehouse.engine.statistics.macros import macros

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.simulation_tables import Row
    from warehouse.engine.statistics.arrays import Floats

# Of a row of sums of clusters: ours, and Wilson's.
_INTERVALS = """
SELECT
    clustered_interval(sums, $sizes::BIGINT[]),
    [wilson_low(list_sum(sums), $n), wilson_high(list_sum(sums), $n)]
FROM (SELECT unnest($sums::DOUBLE[][]) AS sums)
"""
_SEED = 41
SIMULATIONS = 2000
CLUSTERS = (6, 10, 20, 50, 200)
SIZES = {
    "5 tasks each": lambda n: np.full(n, 5),
    "1 to 10 tasks": lambda n: np.resize(np.arange(1, 11), n),
    "one has half of all": lambda n: np.append(np.full(n - 1, 3), 3 * (n - 1)),
}
_RATES = (0.05, 0.2, 0.5, 0.8, 0.95)
_CORRELATIONS = (0.0, 0.1, 0.3, 0.7, 1.0)


def cell(n_clusters: int, kind: str, rate: float, correlation: float, n: int) -> Floats:
    """Return coverage and mean width: ours, Student's, and Wilson's of independent tasks."""
    random = np.random.default_rng([_SEED, n_clusters, list(SIZES).index(kind), int(100 * rate)])
    sizes = SIZES[kind](n_clusters).astype(np.int64)
    rates = _cluster_rates(random, rate, correlation, (n, n_clusters))
    sums = random.binomial(sizes, rates).astype(np.float64)
    parameters = {"sums": sums.tolist(), "sizes": sizes.tolist(), "n": int(sizes.sum())}
    ours, wilsons = np.array(macros().execute(_INTERVALS, parameters).fetchall()).swapaxes(0, 1)
    means = sums.sum(axis=1) / sizes.sum()
    spread = ((sums - means[:, None] * sizes) ** 2).sum(axis=1) * n_clusters / (n_clusters - 1)
    reach = stats.t.ppf(0.975, n_clusters - 1) * np.sqrt(spread) / sizes.sum()
    students = np.clip(np.stack([means - reach, means + reach], axis=1), 0, 1)
    found: list[float] = []
    for ends in (ours, students, wilsons):
        found.append(float(((ends[:, 0] <= rate) & (rate <= ends[:, 1])).mean()))
        found.append(float((ends[:, 1] - ends[:, 0]).mean()))
    return np.array(found)


def _cluster_rates(
    random: np.random.Generator, rate: float, correlation: float, shape: tuple[int, int]
) -> Floats:
    if correlation == 0:
        return np.full(shape, rate)
    if correlation == 1:
        return (random.random(shape) < rate).astype(np.float64)
    total = 1 / correlation - 1
    return random.beta(total * rate, total * (1 - rate), shape)


def _rows(n: int) -> Iterator[Row]:
    for kind, n_clusters in product(SIZES, CLUSTERS):
        cells = [
            cell(n_clusters, kind, rate, correlation, n)
            for rate, correlation in product(_RATES, _CORRELATIONS)
        ]
        ours, width, students, students_width, wilsons, wilsons_width = np.stack(cells, axis=1)
        figures = (
            *summary(ours, width),
            *summary(students, students_width),
            *summary(wilsons, wilsons_width),
        )
        yield kind, str(n_clusters), *(f"{figure:.3f}" for figure in figures)


def main() -> None:
    """Simulate and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulations")
    n = SIMULATIONS // 10 if parser.parse_args().quick else SIMULATIONS
    columns = (
        *("clusters of", "number", "mean coverage", "least", "width"),
        *("Student's of clusters: mean", "least", "width"),
        *("Wilson's of tasks: mean", "least", "width"),
    )
    print_table(columns, _rows(n))


if __name__ == "__main__":
    main()
