"""How often a store leads its reader to a false claim, by simulation; prints the table of the docs.

    python -m bench.simulations.random_stores [--stores 2000]

A hundred suites at a time; `tests/random_stores.py` says what is counted.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.random_stores import OUTPUTS, Tally, most_false, simulate

_AT_ONCE = 100


def main() -> None:
    """Simulate and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stores", type=int, default=2000)
    n_stores, total = parser.parse_args().stores, Tally()
    for number, start in enumerate(range(0, n_stores, _AT_ONCE)):
        with tempfile.TemporaryDirectory() as folder:
            total.add(simulate(Path(folder), min(_AT_ONCE, n_stores - start), number))
    sys.stdout.write(f"| stores | number | with a claim | {' | '.join(OUTPUTS)} | may be |\n")
    sys.stdout.write(f"| --- | --- | --- | {' | '.join('---' for _ in OUTPUTS)} | --- |\n")
    for name, n in total.suites.items():
        false = [str(total.false[name, output]) for output in OUTPUTS]
        line = [name, str(n), str(total.claims[name]), *false, f"{most_false(n):.0f}"]
        sys.stdout.write(f"| {' | '.join(line)} |\n")
    sys.stdout.write(f"\n{len(total.contradictions)} contradictions\n")
    sys.stdout.writelines(f"- {each}\n" for each in total.contradictions)


if __name__ == "__main__":
    main()
