"""How many labels narrow the interval of a corrected mean, before anything is labelled.

The widths are those of `corrected_means.corrected_mean` if the labels turn out as expected: labels
chosen with equal chances, values from 0 to 1, and a judge with the weight of the smallest error.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from warehouse.engine.statistics.corrected_means import MIN_LABELS
from warehouse.engine.statistics.distributions import student_quantile
from warehouse.engine.statistics.proportions import wilson_limits

_LEVEL = 0.95


class PlannedWidth(NamedTuple):
    """The expected width of an interval with so many labels.

    Attributes:
        n_labels: labels.
        own_width: of the labels' own interval, without the judge.
        width: of the corrected mean's, or of the labels' own where that one is shorter.
    """

    n_labels: int
    own_width: float
    width: float


def judge_correlation(rate: float, accuracy: float) -> float:
    """Return the correlation of verdicts with those of a judge who errs equally in both directions.

    Args:
        rate: true pass rate, between 0 and 1.
        accuracy: share of the judge's verdicts that are right, 0 to 1.
    """
    judged = rate * accuracy + (1 - rate) * (1 - accuracy)
    if judged in {0.0, 1.0}:
        return 0.0
    return (2 * accuracy - 1) * sqrt(rate * (1 - rate) / (judged * (1 - judged)))


def planned_width(
    n_labels: int, n_answers: int, *, rate: float, correlation: float, level: float = _LEVEL
) -> PlannedWidth:
    """Return the expected width of the interval of a pass rate.

    Args:
        n_labels: labels, 1 or more.
        n_answers: answers that the judge judges, labelled or not.
        rate: the expected pass rate, between 0 and 1.
        correlation: of labels and the judge's values, from a pilot or `judge_correlation`; below 0
            the judge has no weight.
        level: confidence of the interval, between 0 and 1.
    """
    low, high = wilson_limits(rate, n_labels, level=level)
    own = high - low
    if n_labels < MIN_LABELS:
        return PlannedWidth(n_labels, own, own)
    variance = rate * (1 - rate)
    explained = max(0.0, correlation) ** 2
    others = 1 - n_labels / n_answers
    # With the best weight, the judge explains `explained` of the variance, of the others only.
    of_others = explained * others**2 * variance / max(1, n_answers - n_labels)
    residual = variance * (1 - explained * others * (2 - others))
    of_labels = (n_labels * residual + 2) / ((n_labels + 1) * (n_labels + 2))
    reach = sqrt(of_labels + of_others) * student_quantile((1 + level) / 2, n_labels - 1)
    corrected = min(1.0, rate + reach) - max(0.0, rate - reach)
    return PlannedWidth(n_labels, own, min(own, corrected))


def labels_needed(
    width: float, n_answers: int, *, rate: float, correlation: float, level: float = _LEVEL
) -> int | None:
    """Return the least number of labels with an interval of at most so much width.

    Args:
        width: of the whole interval, above 0.
        n_answers: as in `planned_width`.
        rate: as there.
        correlation: as there.
        level: as there.

    Returns:
        The labels; None if all answers were too few.
    """

    def is_enough(n_labels: int) -> bool:
        planned = planned_width(
            n_labels, n_answers, rate=rate, correlation=correlation, level=level
        )
        return planned.width <= width

    if not is_enough(n_answers):
        return None
    low, high = 0, n_answers
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
