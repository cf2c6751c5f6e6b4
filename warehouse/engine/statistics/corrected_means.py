"""A judge's mean over many answers, corrected by people's labels of some of them.

Prediction-powered inference (Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023, Science 382,
669), with a weight of the judge that makes the error smallest (Angelopoulos, Duchi and Zrnic 2023,
arXiv:2311.01453). Answers may be labelled with different probabilities; each label then counts as
often as the answers that it stands for (Hajek 1971). The error is that of the linearised mean.

The textbook interval, 1.96 standard errors, is too short with few labels: where people and judge
agree on all of these, it has no width. Two labels are therefore added that differ from the judge by
the whole scale, one in either direction, and the quantile is Student's. The labelled answers' own
interval is taken where it is shorter. `docs/internals/labels-and-votes.md` has the coverage.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from warehouse.engine.statistics.distributions import student_quantile
from warehouse.engine.statistics.proportions import Interval, wilson_limits

if TYPE_CHECKING:
    from warehouse.engine.statistics.arrays import Floats

IntervalSource: TypeAlias = Literal["judge and labels", "labels", "labelled answers only"]

MIN_LABELS = 30
_LEVEL = 0.95
_SHARE = Interval(0.0, 1.0)
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedMean:
    """What a judge of all answers and people's labels of some say of the mean of all.

    Attributes:
        judge_mean: the judge's mean over all answers.
        labelled_mean: mean of the labels, each weighted by the answers that it stands for; None
            without a label.
        mean: the corrected mean, cut to the scale; None if `source` is "labelled answers only".
        standard_error: of `mean`, without the two added labels.
        weight: how much the judge counts, 0 (not at all) to 1.
        interval: interval of the mean of all answers, or, if `source` is "labelled answers only",
            of answers like these; None without a label.
        source: what the interval is made of. That of "labels" is about `labelled_mean`: it is
            shorter than that of `mean`, or the judge has no weight.
        n_labels: labelled answers.
        n_effective: the number of labels with equal weights that would say as much (Kish 1965).
    """

    judge_mean: float
    labelled_mean: float | None
    mean: float | None = None
    standard_error: float | None = None
    weight: float | None = None
    interval: Interval | None = None
    source: IntervalSource = "labelled answers only"
    n_labels: int
    n_effective: float


class _Scale(NamedTuple):
    """The least and the largest possible mean, and the residual of an added label."""

    low: float
    high: float
    residual: float

    def cut(self, value: float) -> float:
        """Return a value, or the limit that it is beyond."""
        return min(self.high, max(self.low, value))


class _Labels(NamedTuple):
    """The labelled answers: labels, the judge's values, and weights whose sum is all answers."""

    human: Floats
    judge: Floats
    weights: Floats

    @property
    def human_mean(self) -> float:
        return float(np.average(self.human, weights=self.weights))

    @property
    def judge_mean(self) -> float:
        return float(np.average(self.judge, weights=self.weights))

    @property
    def n_effective(self) -> float:
        return float(self.weights.sum() ** 2 / (self.weights**2).sum())


class _Linearised(NamedTuple):
    """A corrected mean, and its variance from labelled and from other answers."""

    mean: float
    of_labels: float
    of_others: float


def corrected_mean(
    judge: Floats,
    human: Floats,
    chances: Floats | None,
    *,
    limits: Interval = _SHARE,
    weight: float | None = None,
    level: float = _LEVEL,
) -> CorrectedMean:
    """Return the mean of all answers by the judge's values, corrected by people's labels.

    There is a corrected mean only if the probability that it was to be labelled is recorded of
    every answer, and the labels say as much as 30 with equal weights.

    Args:
        judge: the judge's value of each answer, all finite: shape (answers,), at least one.
        human: the label of each answer, NaN where there is none.
        chances: probability with which each answer was chosen to be labelled, in (0, 1]; NaN where
            it is not recorded. Of a random sample of fixed size it is the share of the answers.
        limits: the least and the largest possible value.
        weight: how much the judge counts, 0 to 1; by default the weight with the smallest error.
        level: confidence of the interval, between 0 and 1.
    """
    scale = _Scale(*limits, limits.high - limits.low)
    return _corrected(judge, human, chances, scale, weight=weight, level=level)


def corrected_difference(
    judge: tuple[Floats, Floats],
    human: tuple[Floats, Floats],
    chances: Floats | None,
    *,
    scale: float = 1.0,
    weight: float | None = None,
    level: float = _LEVEL,
) -> CorrectedMean:
    """Return the mean difference of two systems on the same tasks, both corrected by labels.

    A task is labelled if both answers are.

    Args:
        judge: the judge's values of the first and the second system, for each task.
        human: the labels of both, NaN where there is none.
        chances: probability with which each task was chosen to be labelled, as for a mean.
        scale: largest less least possible value.
        weight: as for a mean.
        level: as for a mean.
    """
    of_difference = _Scale(-scale, scale, scale)
    differences = judge[0] - judge[1], human[0] - human[1]
    return _corrected(*differences, chances, of_difference, weight=weight, level=level)


def _corrected(
    judge: Floats,
    human: Floats,
    chances: Floats | None,
    scale: _Scale,
    *,
    weight: float | None,
    level: float,
) -> CorrectedMean:
    labelled = ~np.isnan(human)
    n = int(labelled.sum())
    judge_mean = float(judge.mean())
    if n == 0:
        return CorrectedMean(judge_mean=judge_mean, labelled_mean=None, n_labels=0, n_effective=0.0)
    is_recorded = chances is not None and bool((chances > 0).all())
    inverse = 1 / chances[labelled] if chances is not None and is_recorded else np.ones(n)
    labels = _Labels(human[labelled], judge[labelled], inverse / inverse.sum() * len(judge))
    own = _own_interval(labels, scale, level)
    if not is_recorded or labels.n_effective < MIN_LABELS - _ROUNDING:
        return CorrectedMean(
            judge_mean=judge_mean,
            labelled_mean=labels.human_mean,
            interval=own,
            n_labels=n,
            n_effective=labels.n_effective,
        )
    chosen = _tuned_weight(labels, judge) if weight is None or n == len(judge) else weight
    corrected = _linearised(labels, judge, judge[~labelled], chosen)
    interval = _student_interval(corrected, labels.n_effective, scale, level)
    is_narrower = interval.high - interval.low <= own.high - own.low
    return CorrectedMean(
        judge_mean=judge_mean,
        labelled_mean=labels.human_mean,
        mean=scale.cut(corrected.mean),
        standard_error=sqrt(corrected.of_labels + corrected.of_others),
        weight=chosen,
        interval=interval if is_narrower else own,
        source="judge and labels" if is_narrower and chosen > 0 else "labels",
        n_labels=n,
        n_effective=labels.n_effective,
    )


def _tuned_weight(labels: _Labels, judge: Floats) -> float:
    """Return the weight of the judge with the smallest error, 0 to 1; 0 of a constant judge."""
    n, n_others = len(labels.human), len(judge) - len(labels.human)
    if n_others == 0 or np.ptp(judge) == 0:
        return 0.0
    products = (labels.human - labels.human_mean) * (labels.judge - labels.judge_mean)
    unbiased = labels.n_effective / (labels.n_effective - 1)
    covariance = float(np.average(products, weights=labels.weights)) * unbiased
    return min(1.0, max(0.0, covariance / ((1 + n / n_others) * float(judge.var(ddof=1)))))


def _linearised(labels: _Labels, judge: Floats, others: Floats, weight: float) -> _Linearised:
    """Return the corrected mean and its variance.

    With equal weights it is mean(human) + weight * (mean(judge, others) - mean(judge, labelled)),
    and the variances are those of human - weight * judge and weight * judge, divided by their
    numbers. Otherwise the mean of the others is what the labels leave of that of all answers.
    """
    size, n = len(judge), len(labels.human)
    n_others = max(1, len(others))  # of none, the weight is 0
    others_mean = (float(judge.sum()) - n * labels.judge_mean) / n_others
    of_all = weight * size / n_others
    residuals = labels.weights * (labels.human - labels.human_mean)
    residuals -= (labels.weights - 1) * of_all * (labels.judge - labels.judge_mean)
    return _Linearised(
        labels.human_mean + weight * (others_mean - labels.judge_mean),
        float((residuals**2).sum()) / size**2,
        float(((of_all * (others - others_mean)) ** 2).sum()) / size**2,
    )


def _student_interval(corrected: _Linearised, n: float, scale: _Scale, level: float) -> Interval:
    """Return the interval with two labels more, of weights like those of the `n` effective ones."""
    of_labels = (corrected.of_labels * n**2 + 2 * scale.residual**2) / ((n + 1) * (n + 2))
    reach = sqrt(of_labels + corrected.of_others) * student_quantile((1 + level) / 2, n - 1)
    return Interval(scale.cut(corrected.mean - reach), scale.cut(corrected.mean + reach))


def _own_interval(labels: _Labels, scale: _Scale, level: float) -> Interval:
    """Return Wilson's interval of the labels; of values between the limits it is too wide."""
    width = scale.high - scale.low
    share = (scale.cut(labels.human_mean) - scale.low) / width
    low, high = wilson_limits(share, labels.n_effective, level=level)
    return Interval(scale.low + width * low, scale.low + width * high)
