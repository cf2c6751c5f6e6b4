"""Items that adaptive runs ask, and coverage; prints the table of `docs/fewer-tasks.md`.

    python -m bench.simulations.adaptive [--quick]

Each of 500 models is asked items of a Rasch bank, 8 at once, until the 90 % interval of its full
score reaches 5 points to either side: the most informative items, or items in random order, with
the same estimator and rule. Abilities are normal with standard deviation 1.5, and the parameters
of the bank, and the factor of the interval, come from other models. Coverage is of the score that
all items would have given.
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from tools.simulation_tables import print_table
from warehouse.analysis.items.adaptive import AdaptiveOrder, calibrate, replay
from warehouse.analysis.items.bank import fit_bank
from warehouse.analysis.items.subsets import Answers, Judge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.simulation_tables import Row
    from warehouse.analysis.items.bank import Bank
    from warehouse.engine.statistics.arrays import Floats

_SEED = 23
MODELS = 500
MODELS_OF_BANK = 20  # answer to the same bank
ERROR = 0.05
_AT_ONCE = 8
_ABILITY_SD = 1.5
_CALIBRATION = (30,)
_ITEMS = (500,)
_SPREADS = (1.5,)


class RandomOrder(AdaptiveOrder):
    """The same estimator and rule, with items in the order of their numbers."""

    def next_items(self, open_items: np.ndarray, n_items: int) -> np.ndarray:
        """Return the first items that are left."""
        found = super().next_items(open_items, n_items)
        return np.flatnonzero(open_items)[: len(found)]


def _answers(random: np.random.Generator, n_models: int, difficulties: Floats) -> Floats:
    logits = random.normal(0, _ABILITY_SD, (n_models, 1)) - difficulties
    passed: Floats = (random.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(np.float64)
    return passed


def _stopped(
    kind: type[AdaptiveOrder], bank: Bank, factor: float, passed: Floats
) -> tuple[int, bool]:
    """Return how many items were asked, and whether the interval has the full score."""
    order = kind(bank, factor, ERROR)
    predicted, n_asked = replay(order, passed, np.ones_like(passed), _AT_ONCE)
    return n_asked, abs(predicted.scores[0] - passed.mean()) <= order.half_width()


def cell(n_calibration: int, n_items: int, spread: float, n_models: int) -> Floats:
    """Return the mean items asked and the coverage, of adaptive and of random order: 2 × 2."""
    random = np.random.default_rng([_SEED, n_calibration, n_items, int(10 * spread)])
    found = []
    for _ in range(-(-n_models // MODELS_OF_BANK)):
        difficulties = random.normal(0, spread, n_items)
        known = _answers(random, n_calibration, difficulties)
        answers = Answers(known, np.ones_like(known))
        bank = fit_bank(*answers)
        factor, _ = calibrate(Judge(answers, list(map(str, range(n_calibration)))), ERROR, _AT_ONCE)
        for passed in _answers(random, MODELS_OF_BANK, difficulties):
            both = [_stopped(kind, bank, factor, passed) for kind in (AdaptiveOrder, RandomOrder)]
            found.append(both)
    means: Floats = np.mean(found, axis=0)
    return means


def _rows(n_models: int) -> Iterator[Row]:
    for n_items, spread, n_calibration in product(_ITEMS, _SPREADS, _CALIBRATION):
        (asked, covered), (random_asked, random_covered) = cell(
            n_calibration, n_items, spread, n_models
        )
        yield (
            *(str(n_items), f"{spread:g}", str(n_calibration)),
            *(f"{asked:.0f}", f"{random_asked:.0f}", f"{asked / random_asked:.2f}"),
            *(f"{covered:.3f}", f"{random_covered:.3f}"),
        )


def main() -> None:
    """Simulate and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the models")
    n_models = MODELS // (10 if parser.parse_args().quick else 1)
    columns = (
        *("items", "SD of difficulties", "models of the bank", "asked", "asked in random order"),
        *("ratio", "coverage", "in random order"),
    )
    print_table(columns, _rows(n_models))


if __name__ == "__main__":
    main()
