"""Quantiles and tail probabilities.

They are those of `scipy.stats`, from `scipy.special`, which is imported in a fraction of the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from warehouse.engine.statistics.arrays import Floats


def normal_quantile(probability: float) -> float:
    """Return a quantile of the standard normal distribution."""
    from scipy.special import ndtri

    return float(ndtri(probability))


def student_quantile(probability: float, df: float) -> float:
    """Return a quantile of Student's t distribution with `df` degrees of freedom.

    Views have the macro `student_quantile`, of one level: in other clients they cannot call Python.
    """
    from scipy.special import stdtrit

    return float(stdtrit(df, probability))


def binomial_cdf(successes: Floats, trials: Floats, chance: float | Floats) -> Floats:
    """Return the probability of at most so many successes, elementwise; 0 for less than none."""
    from scipy.special import betaincc

    inside = np.clip(successes, 0, trials - 1)
    tail = betaincc(inside + 1, trials - inside, chance)
    share: Floats = np.where(successes < 0, 0.0, np.where(successes >= trials, 1.0, tail))
    return share


def normal_tail(value: float) -> float:
    """Return the probability that a standard normal variable is above `value`."""
    from scipy.special import ndtr

    return float(ndtr(-value))


def student_tail(value: float, df: float) -> float:
    """Return the probability that Student's t with `df` degrees of freedom is above `value`."""
    from scipy.special import stdtr

    return float(stdtr(df, -value))
