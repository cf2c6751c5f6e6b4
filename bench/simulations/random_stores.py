"""How often a store leads its reader to a false claim, by simulation; prints the table of the docs.

    python -m bench.simulations.random_stores [--stores 200]

At most 200 suites at a time, the first with the seed of the test; `tests/random_stores.py` says
what is counted.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.random_stores import OUTPUTS, Tally, simulate
from tools.simulation_tables import print_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.simulation_tables import Row

_AT_ONCE = 200
_FIRST_SEED = 1
_NAMES = {
    "equal": "equal models, 30 tasks",
    "different": "different models",
    "partial": "a newer run of a quarter of the tasks",
    "failures": "a newer run of the failures only, 60 tasks",
    "missing": "40 % of one model's failures without a verdict",
    "attempts": "1, 3 and 5 attempts",
    "clusters": "8 clusters of 5 tasks",
    "five": "five tasks",
    "nights": "four nights",
    "nights_failures": "four nights, then three repetitions of failures, 100 tasks",
}


def main() -> None:
    """Simulate and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stores", type=int, default=_AT_ONCE)
    parser.add_argument("--quick", action="store_true", help="one suite of each kind")
    asked = parser.parse_args()
    n_stores, total = len(_NAMES) if asked.quick else asked.stores, Tally()
    for seed, start in enumerate(range(0, n_stores, _AT_ONCE), _FIRST_SEED):
        with tempfile.TemporaryDirectory() as folder:
            total.add(simulate(Path(folder), min(_AT_ONCE, n_stores - start), seed))
    columns = ("suites", "number", "with a claim", "`compare`", "ranks", "`drift`", "gate")
    print_table(columns, _rows(total))
    sys.stdout.write(f"{len(total.contradictions)} contradictions\n")
    sys.stdout.writelines(f"- {each}\n" for each in total.contradictions)


def _rows(total: Tally) -> Iterator[Row]:
    for shape, name in _NAMES.items():
        n_false = [str(total.false[shape, each]) for each in OUTPUTS]
        yield name, str(total.suites[shape]), str(total.claims[shape]), *n_false


if __name__ == "__main__":
    main()
