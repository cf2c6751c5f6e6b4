"""Ranks of systems by their scores, with intervals that hold for all of them together.

The largest standardised difference of all pairs is simulated from the covariance of the scores, so
that correlated pairs cost less than by Holm's method. A pair differs if its difference is beyond
the quantile of that; a system's rank is then from 1 + those that are better to all but those that
are worse (Mohamad, van Zwet, Solari and Goeman 2019, Biostatistics 20, 676).
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from warehouse.engine.statistics.distributions import student_quantile
from warehouse.engine.statistics.proportions import Interval

if TYPE_CHECKING:
    from warehouse.engine.statistics.arrays import Floats
    from warehouse.engine.statistics.bradley_terry import Scores

SEED = 23
_LEVEL = 0.95
_DRAWS = 10_000


class VoteRank(NamedTuple):
    """The rank of a system.

    Attributes:
        rank: 1 + the systems with a higher score.
        rank_low: best rank that the votes leave open; None without a covariance.
        rank_high: worst rank that they leave open.
        interval: of the system's log score alone; None without a covariance.
    """

    rank: int
    rank_low: int | None
    rank_high: int | None
    interval: Interval | None


def vote_ranks(scores: Scores, *, level: float = _LEVEL, seed: int = SEED) -> list[VoteRank]:
    """Return the rank of each system, in the order of the scores.

    Args:
        scores: what votes say of systems.
        level: confidence, of the ranks for all systems together.
        seed: of the simulation.
    """
    log_scores = scores.log_scores
    ranks = [1 + int((log_scores > score).sum()) for score in log_scores]
    if scores.covariance is None:
        return [VoteRank(rank, None, None, None) for rank in ranks]
    df, widened = _freedom(scores)
    gaps = log_scores[:, np.newaxis] - log_scores
    pair_errors = _pair_errors(scores.covariance)
    beyond = widened * _largest_quantile(scores.covariance, pair_errors, df, level, seed)
    n_worse = (gaps > beyond * pair_errors).sum(axis=1)
    n_better = (gaps < -beyond * pair_errors).sum(axis=1)
    intervals = score_intervals(scores, level=level)
    return [
        VoteRank(rank, 1 + int(better), len(ranks) - int(worse), interval)
        for rank, better, worse, interval in zip(ranks, n_better, n_worse, intervals, strict=True)
    ]


def score_intervals(scores: Scores, *, level: float = _LEVEL) -> list[Interval | None]:
    """Return the interval of each log score alone; None without a covariance."""
    errors = scores.standard_errors
    if errors is None:
        return [None] * len(scores.log_scores)
    df, widened = _freedom(scores)
    reaches = widened * student_quantile((1 + level) / 2, df) * errors
    ends = zip(scores.log_scores.tolist(), reaches.tolist(), strict=True)
    return [Interval(score - by, score + by) for score, by in ends]


def _freedom(scores: Scores) -> tuple[float, float]:
    """Return the degrees of freedom, and by what errors are widened for few clusters."""
    n = scores.n_effective
    return n - 1, sqrt(n / (n - 1))


def _pair_errors(covariance: Floats) -> Floats:
    """Return the standard error of each difference: shape (systems, systems)."""
    variances = np.diagonal(covariance)
    errors: Floats = np.sqrt(np.maximum(0.0, variances[:, np.newaxis] + variances - 2 * covariance))
    return errors


def _largest_quantile(
    covariance: Floats, pair_errors: Floats, df: float, level: float, seed: int
) -> float:
    """Return the quantile of the largest |t| of all pairs, of equal systems."""
    random = np.random.default_rng(seed)
    values, vectors = np.linalg.eigh(covariance)
    normal = random.standard_normal((_DRAWS, len(values)))
    drawn = (normal * np.sqrt(np.maximum(0.0, values))) @ vectors.T
    drawn /= np.sqrt(random.chisquare(df, (_DRAWS, 1)) / df)
    largest = np.zeros(_DRAWS)
    for system in range(len(values) - 1):
        gaps = np.abs(drawn[:, system, np.newaxis] - drawn[:, system + 1 :])
        errors = pair_errors[system, system + 1 :]
        # Where all votes agree with the scores, there is no error.
        ratios = np.divide(gaps, errors, out=np.zeros_like(gaps), where=errors > 0)
        largest = np.maximum(largest, ratios.max(axis=1))
    return float(np.quantile(largest, level))
