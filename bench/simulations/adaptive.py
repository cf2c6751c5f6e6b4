"""Items that adaptive runs ask, and coverage; prints the table of `docs/fewer-tasks.md`.

    python -m bench.simulations.adaptive [--quick]

Each model is asked items of a bank, 8 at once, until the 90 % interval of its full score reaches 5
points to either side: the most informative items, or items in random order, with the same estimator
and rule. Answers are drawn from a Rasch model, or who does not know an item guesses it with the
stated probability. Abilities are normal with standard deviation 1.5, and the parameters of the
bank, and the factor of the interval, come from other models. Coverage is of the score that all
items would have given; its error is that of the mean of the banks.
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

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
BANKS = {500: 10, 1000: 4, 2000: 4}  # by items
MODELS_OF_BANK = 100  # answer to the same bank
ERROR = 0.05
_AT_ONCE = 8
_ABILITY_SD = 1.5
_SPREADS = (1.5, 2.0)
_CALIBRATION = (30, 100)
_GUESSES = (0.0, 0.25)


class RandomOrder(AdaptiveOrder):
    """The same estimator and rule, with items in the order of their numbers."""

    def next_items(self, open_items: np.ndarray, n_items: int) -> np.ndarray:
        """Return the first items that are left."""
        found = super().next_items(open_items, n_items)
        return np.flatnonzero(open_items)[: len(found)]


def _answers(
    random: np.random.Generator, n_models: int, difficulties: Floats, guess: float
) -> Floats:
    knows = expit(random.normal(0, _ABILITY_SD, (n_models, 1)) - difficulties)
    passed: Floats = (random.random(knows.shape) < guess + (1 - guess) * knows).astype(np.float64)
    return passed


def _stopped(
    kind: type[AdaptiveOrder], bank: Bank, factor: float, passed: Floats
) -> tuple[int, bool]:
    """Return how many items were asked, and whether the interval has the full score."""
    order = kind(bank, factor, ERROR)
    predicted, n_asked = replay(order, passed, np.ones_like(passed), _AT_ONCE)
    return n_asked, abs(predicted.scores[0] - passed.mean()) <= order.half_width()


def cell(n_items: int, spread: float, n_calibration: int, guess: float, n_banks: int) -> Floats:
    """Return the items asked and the coverage, of adaptive and random order: (banks, 2, 2)."""
    cell_seed = n_calibration, n_items, int(10 * spread), int(100 * guess)
    random = np.random.default_rng([_SEED, *cell_seed])
    found = []
    for _ in range(n_banks):
        difficulties = random.normal(0, spread, n_items)
        known = _answers(random, n_calibration, difficulties, guess)
        answers = Answers(known, np.ones_like(known))
        bank = fit_bank(*answers, has_guesses=True)
        judge = Judge(answers, list(map(str, range(n_calibration))), has_guesses=True)
        factor, _ = calibrate(judge, ERROR, _AT_ONCE)
        stopped = [
            [_stopped(kind, bank, factor, passed) for kind in (AdaptiveOrder, RandomOrder)]
            for passed in _answers(random, MODELS_OF_BANK, difficulties, guess)
        ]
        found.append(np.mean(stopped, axis=0))
    return np.array(found)


def _rows(*, is_quick: bool) -> Iterator[Row]:
    for key in product(BANKS, _SPREADS, _CALIBRATION, _GUESSES):
        n_banks = 1 if is_quick else BANKS[key[0]]
        banks = cell(*key, n_banks)
        (asked, covered), (random_asked, random_covered) = banks.mean(axis=0)
        error = banks[:, 0, 1].std(ddof=1) / np.sqrt(n_banks) if n_banks > 1 else np.nan
        yield (
            *(f"{each:g}" for each in (*key, n_banks)),
            *(f"{asked:.0f}", f"{random_asked:.0f}", f"{asked / random_asked:.2f}"),
            *(f"{covered:.3f}", f"{error:.3f}", f"{random_covered:.3f}"),
        )


def main() -> None:
    """Simulate and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one bank in each row")
    is_quick = parser.parse_args().quick
    columns = (
        *("items", "SD of difficulties", "models of the bank", "guess", "banks", "asked"),
        *("asked in random order", "ratio", "coverage", "error", "in random order"),
    )
    print_table(columns, _rows(is_quick=is_quick))


if __name__ == "__main__":
    main()
