"""How many plans by a pilot are large enough; prints the table of `docs/gates.md`.

    python -m bench.simulations.plans [--quick]

Of 1,000 pilots each: the share of plans with at least 75 % power for a true difference, by the
pilot's own figures (`n_tasks`) and by their upper bound (`n_tasks_safe`). Pass or fail, each task
once; the power is that of the exact score test.
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from tools.simulation_tables import print_table
from warehouse.engine.statistics.sample_size import tasks_needed_of_verdicts, upper_variance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.simulation_tables import Row

_SEED = 23
_PILOTS = 1000
_ENOUGH = 0.75
_CASES = ((0.05, 0.03), (0.1, 0.05), (0.3, 0.1))
_TASKS = (20, 50, 100, 200, 500)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the pilots")
    n_pilots = _PILOTS // (10 if parser.parse_args().quick else 1)
    columns = ("tasks of the pilot", "share that differs", "difference", "by the pilot")
    print_table((*columns, "to be safe"), _rows(n_pilots))


def _rows(n_pilots: int) -> Iterator[Row]:
    random = np.random.default_rng(_SEED)
    for n_tasks, (share, difference) in product(_TASKS, _CASES):
        enough = tasks_needed_of_verdicts(share, difference, power=_ENOUGH)
        hits = np.zeros(2)
        counts = np.bincount(random.binomial(n_tasks, share, n_pilots))
        for n_differing, n_alike in enumerate(counts.tolist()):
            estimate = n_differing / n_tasks
            safe = upper_variance(estimate, n_tasks, scale=1.0, is_verdict=True)
            plans = [tasks_needed_of_verdicts(each, difference) for each in (estimate, safe)]
            hits += n_alike * (np.array(plans) >= enough)
        shares = (f"{100 * hit / n_pilots:.0f} %" for hit in hits)
        yield str(n_tasks), f"{100 * share:g} %", f"{100 * difference:g} points", *shares


if __name__ == "__main__":
    main()
