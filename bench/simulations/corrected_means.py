"""How often intervals of judges' means that are corrected by labels contain the true mean.

1,000 answers pass or fail, and a judge errs equally in both directions. Labels are a random sample,
or answers are chosen independently with chances of 4 to 1: half of them four times as often, or
those that the judge fails. "Effective" labels are the number of equal weights that say as much;
where a sample happens to have fewer than 30, there is no corrected figure, and the interval is that
of the labels. Next to it is that interval alone (Wilson's; of differences, the corrected one
without the judge), and the textbook one, 1.96 standard errors.

    python -m bench.simulations.corrected_means [--quick]
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tools.simulation_tables import print_table, summary
from warehouse.engine.statistics.corrected_means import corrected_difference, corrected_mean
from warehouse.engine.statistics.label_plans import judge_correlation, planned_width
from warehouse.engine.statistics.proportions import Interval, wilson_limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.simulation_tables import Row
    from warehouse.engine.statistics.arrays import Floats
    from warehouse.engine.statistics.corrected_means import CorrectedMean

_SEED = 23
SIMULATIONS = 2000
ANSWERS = 1000
LABELS = (30, 100, 300)
SAMPLINGS = ("equal", "4:1", "4:1 by the judge")
ACCURACIES = (0.55, 0.75, 0.95)
_RATES = (0.5, 0.8, 0.95)
_PAIRS = ((0.5, 0.5), (0.8, 0.75), (0.95, 0.9))
_ALIKE = 0.7  # share of tasks that the weaker system passes only if the stronger one does
_EFFECT_OF_4_TO_1 = 0.64  # effective labels of each label, where half are chosen as often
_Z = 1.96


class _Sample(NamedTuple):
    """Which answers are labelled, and the chance of each."""

    is_labelled: np.ndarray
    chances: Floats


class _Counts:
    """Counts how often intervals of three kinds contain the truth, and how wide they are."""

    def __init__(self) -> None:
        self.figures: list[list[float]] = []

    def add(self, found: CorrectedMean, own: Interval, truth: float, low: float) -> None:
        """Add the intervals of one sample: ours, that of its labels only, and the textbook one.

        Args:
            found: what the judge and the labels say.
            own: interval by the labels only.
            truth: the true mean.
            low: the least possible mean.
        """
        if found.mean is None or found.standard_error is None:
            textbook = found.interval
        else:
            reach = _Z * found.standard_error
            textbook = Interval(max(low, found.mean - reach), min(1.0, found.mean + reach))
        ends = (found.interval, own, textbook)
        covers = [float(each.low <= truth <= each.high) for each in ends]
        widths = [each.high - each.low for each in ends]
        self.figures.append([*covers, *widths, found.source == "judge and labels"])

    def means(self) -> Floats:
        """Return the coverage of the three, their widths, and the share that uses the judge."""
        return np.array(self.figures).mean(axis=0)


def _sampled(
    random: np.random.Generator, sampling: str, n_labels: int, is_often: np.ndarray
) -> _Sample:
    """Choose answers to be labelled.

    Args:
        random: of the draws.
        sampling: one of `SAMPLINGS`.
        n_labels: effective labels, about.
        is_often: the answers that a sample of 4 to 1 chooses four times as often.
    """
    size = len(is_often)
    if sampling == "equal":
        return _Sample(random.permutation(size) < n_labels, np.full(size, n_labels / size))
    odds = np.where(is_often, 4.0, 1.0)
    chances = np.minimum(1.0, odds * n_labels / _EFFECT_OF_4_TO_1 / odds.sum())
    return _Sample(random.random(size) < chances, chances)


def _judged(random: np.random.Generator, human: Floats, accuracy: float) -> Floats:
    return np.where(random.random(len(human)) < accuracy, human, 1 - human)


def mean_cell(sampling: str, n_labels: int, accuracy: float, rate: float, n: int) -> Floats:
    """Return coverage and widths of intervals of a mean."""
    random = np.random.default_rng([_SEED, n_labels, int(100 * accuracy), int(100 * rate)])
    counts = _Counts()
    for _ in range(n):
        human = (random.random(ANSWERS) < rate).astype(np.float64)
        judge = _judged(random, human, accuracy)
        is_half = np.arange(ANSWERS) % 2 == 0
        sample = _sampled(random, sampling, n_labels, is_half if sampling == "4:1" else judge == 0)
        labels = np.where(sample.is_labelled, human, np.nan)
        found = corrected_mean(judge, labels, sample.chances)
        own = wilson_limits(min(1.0, found.labelled_mean), found.n_effective, level=0.95)
        counts.add(found, own, rate, 0.0)
    return counts.means()


def difference_cell(
    sampling: str, n_labels: int, accuracy: float, rates: tuple[float, float], n: int
) -> Floats:
    """Return coverage and widths of intervals of a difference of two systems."""
    random = np.random.default_rng([_SEED, n_labels, int(100 * accuracy), int(100 * rates[1])])
    counts = _Counts()
    for _ in range(n):
        first = random.random(ANSWERS)
        second = np.where(random.random(ANSWERS) < _ALIKE, first, random.random(ANSWERS))
        human = tuple(
            (drawn < rate).astype(np.float64)
            for drawn, rate in zip((first, second), rates, strict=True)
        )
        judge = _judged(random, human[0], accuracy), _judged(random, human[1], accuracy)
        is_half = np.arange(ANSWERS) % 2 == 0
        is_often = is_half if sampling == "4:1" else judge[0] != judge[1]
        sample = _sampled(random, sampling, n_labels, is_often)
        labels = tuple(np.where(sample.is_labelled, each, np.nan) for each in human)
        found = corrected_difference(judge, labels, sample.chances)
        own = corrected_difference(judge, labels, sample.chances, weight=0.0).interval
        counts.add(found, own, rates[0] - rates[1], -1.0)
    return counts.means()


def _rows(n: int) -> Iterator[Row]:
    for n_labels, sampling in product(LABELS, SAMPLINGS):
        grid = product(ACCURACIES, _RATES)
        yield _row(n_labels, sampling, [mean_cell(sampling, n_labels, *each, n) for each in grid])


def _difference_rows(n: int) -> Iterator[Row]:
    for n_labels, sampling in product(LABELS, SAMPLINGS):
        grid = product(ACCURACIES, _PAIRS)
        cells = [difference_cell(sampling, n_labels, *each, n) for each in grid]
        yield _row(n_labels, sampling, cells)


def _row(n_labels: int, sampling: str, cells: list[Floats]) -> Row:
    ours, own, textbook, width, own_width, textbook_width, used = np.stack(cells, axis=1)
    figures = (
        *summary(ours, width),
        *summary(own, own_width),
        *summary(textbook, textbook_width),
    )
    return str(n_labels), sampling, *(f"{each:.3f}" for each in figures), f"{used.mean():.0%}"


def _planned_rows(n: int) -> Iterator[Row]:
    rate = 0.8
    for accuracy, n_labels in product((0.7, 0.8, 0.9, 0.95), (30, 50, 100, 200, 500)):
        correlation = judge_correlation(rate, accuracy)
        planned = planned_width(n_labels, ANSWERS, rate=rate, correlation=correlation)
        *_, width, own_width, _, _ = mean_cell("equal", n_labels, accuracy, rate, max(1, n // 4))
        figures = (planned.own_width, own_width, planned.width, width)
        narrower = 1 - planned.width / planned.own_width
        cells = (f"{each:.3f}" for each in figures)
        yield f"{accuracy:g}", str(n_labels), *cells, f"{narrower:.0%}"


def main() -> None:
    """Print the tables of means, of differences, and of planned widths."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulations")
    n = SIMULATIONS // (10 if parser.parse_args().quick else 1)
    columns = (
        *("effective labels", "sampling", "mean coverage", "least", "width"),
        *("labels only: mean", "least", "width"),
        *("textbook: mean", "least", "width", "judge used"),
    )
    print_table(columns, _rows(n))
    print_table(columns, _difference_rows(n))
    planned = ("labels only: planned", "simulated", "corrected: planned", "simulated", "narrower")
    print_table(("accuracy", "labels", *planned), _planned_rows(n))


if __name__ == "__main__":
    main()
