"""Adaptive order: what a model is asked next, and when its full score is known well enough."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from warehouse.analysis.items.bank import Bank, predict_scores
from warehouse.analysis.items.subsets import interval_factor

if TYPE_CHECKING:
    import numpy.typing as npt

    from warehouse.analysis.items.bank import Prediction
    from warehouse.analysis.items.subsets import Judge
    from warehouse.engine.statistics.arrays import Floats, Indices

# The first tasks are spread over all difficulties: nothing is known of the ability yet.
N_FIRST = 8
# Standard errors: with the 1.64 of a normal distribution, 89 % were covered where parameters came
# from 30 models. They are uncertain, and a run stops where the error seems small.
_LEAST_FACTOR = 1.96


@dataclass(slots=True)
class AdaptiveOrder:
    """The answers of one model to the tasks of a bank, and what follows from them.

    The rule to stop: the 90 % interval of the full score reaches no more than `error` to either
    side. It is checked between rounds of tasks, so that the order follows from the answers alone.

    Attributes:
        bank: parameters of all tasks.
        factor: standard errors from the score to the end of its interval.
        error: half-width at which to stop, from 0 to 1.
        passed: 1 for each passed task.
        answered: 1 for each task with a verdict.
    """

    bank: Bank
    factor: float
    error: float
    passed: Floats = field(init=False)
    answered: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.passed, self.answered = np.zeros((2, len(self.bank.intercepts)))

    def answer(self, item: int, *, passed: bool) -> None:
        """Take the verdict on an item into account."""
        self.passed[item], self.answered[item] = passed, 1

    def prediction(self) -> Prediction:
        """Return the predicted full score."""
        return predict_scores(self.bank, self.passed[np.newaxis], self.answered[np.newaxis])

    def half_width(self) -> float:
        """Return how far the interval of the full score reaches."""
        return self.factor * float(self.prediction().errors[0])

    def next_items(self, open_items: npt.NDArray[np.bool_], n_items: int) -> Indices:
        """Return the items to ask next, the most informative first; none once the rule is met.

        Args:
            open_items: whether each item can still be asked.
            n_items: how many are asked at once.
        """
        left = np.flatnonzero(open_items)
        if not self.answered.any():
            return _spread(left, self.bank.intercepts, max(n_items, N_FIRST))
        predicted = self.prediction()
        if self.factor * predicted.errors[0] <= self.error:
            return left[:0]
        # With one slope for all, the item of most information (Fisher) is one that the model knows
        # with an even chance, or an easier one if items can be guessed (Birnbaum 1968).
        best = np.log((1 + np.sqrt(1 + 8 * self.bank.guess)) / 2)
        logits = self.bank.slope * predicted.abilities[0] - self.bank.intercepts[left]
        distances = np.abs(logits - best)
        return left[np.argsort(distances, kind="stable")[:n_items]]


def _spread(items: Indices, intercepts: Floats, n_items: int) -> Indices:
    """Return items from the middles of as many bands of difficulty."""
    ordered = items[np.argsort(intercepts[items], kind="stable")]
    bands = np.array_split(ordered, min(n_items, len(ordered)))
    return np.array([band[len(band) // 2] for band in bands if len(band)], dtype=np.int64)


def replay(
    order: AdaptiveOrder, passed: Floats, attempts: Floats, n_at_once: int
) -> tuple[Prediction, int]:
    """Return the prediction at which an adaptive run would have stopped, and the items it asked.

    Args:
        order: an order without answers.
        passed: the passed attempts of a model at each item.
        attempts: its attempts, 0 for items without an answer.
        n_at_once: items that are asked at once.
    """
    shares = passed / np.maximum(attempts, 1)
    is_open = attempts > 0
    while len(items := order.next_items(is_open, n_at_once)):
        is_open[items] = False
        order.passed[items], order.answered[items] = shares[items], 1
    return order.prediction(), int(order.answered.sum())


def calibrate(judge: Judge, error: float, n_at_once: int) -> tuple[float, float]:
    """Return the factor of an order's interval, and how many items it takes on average.

    Adaptive runs are replayed on the stored models, each with the parameters that others gave: the
    interval has to cover the full scores of nine tenths of these, whatever the bank is like. A
    larger factor stops later, where the error of a model that does not hold seems smaller still:
    runs are replayed with it, until it covers.
    """
    factor = _LEAST_FACTOR
    while True:
        distances, n_asked = _replays(judge, factor, error, n_at_once)
        needed = float(interval_factor(distances))
        if needed <= factor or np.isinf(needed):
            return max(factor, needed), n_asked
        factor = needed


def _replays(judge: Judge, factor: float, error: float, n_at_once: int) -> tuple[Floats, float]:
    """Return how many standard errors each model's prediction is off, and the mean items asked."""
    distances, asked = [], []
    for fold in judge.folds:
        for model in fold.test:
            order = AdaptiveOrder(fold.bank, factor, error)
            answers = judge.answers.passed[model], judge.answers.attempts[model]
            predicted, n_asked = replay(order, *answers, n_at_once)
            off = abs(predicted.scores[0] - judge.truth[model])
            distances.append(off / max(predicted.errors[0], 1e-9))
            asked.append(n_asked)
    return np.array(distances), float(np.mean(asked))
