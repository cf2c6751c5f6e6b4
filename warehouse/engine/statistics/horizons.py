"""Time horizons: how long the tasks are that a model passes with a given probability.

logit P(pass) = intercept + slope · log2(minutes that a person needs), fitted by weighted logistic
regression with a ridge on the slope, as METR does (Kwa et al. 2025, "Measuring AI Ability to
Complete Long Tasks", https://arxiv.org/abs/2503.14499): it minimises Σ weight · log loss
+ regularisation · slope² / 2. Their solver (L-BFGS) stops early; this is Newton's method.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from warehouse.engine.statistics.arrays import Floats, Indices

_MOST_STEPS = 300
_SMALL_STEP = 1e-10
# Logits by which a step may change a prediction: longer ones could overshoot.
_LARGEST_STEP = 2.0
# Of so many families of a single run each, drawing them once is enough (docs/horizons.md).
_MANY_FAMILIES = 100
# Fits × runs in memory at once.
_MOST_CELLS = 2_000_000


class Fits(NamedTuple):
    """Fits to the same runs with different weights.

    Attributes:
        intercepts: logit for a task of one minute: shape (fits,); infinite where all runs of a
            positive weight have the same outcome, with its sign, and NaN where no fit was found.
        slopes: change of the logit for twice as long a task; NaN where there is no fit.
    """

    intercepts: Floats
    slopes: Floats

    def minutes(self, probability: float) -> Floats:
        """Return how long the tasks are that are passed with a probability, minutes.

        0 where nothing was passed, infinite where everything was, NaN where longer tasks are not
        passed less often.
        """
        logit = np.log(probability / (1 - probability))
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            fitted = np.exp2((logit - self.intercepts) / self.slopes)
        fitted = np.where(self.slopes < 0, fitted, np.nan)
        ends = np.where(self.intercepts < 0, 0.0, np.inf)
        return np.where(np.isinf(self.intercepts), ends, fitted)


def fit_horizons(minutes: Floats, passed: Floats, weights: Floats, regularisation: float) -> Fits:
    """Fit a logistic curve over log2 of the minutes, once for each row of weights.

    Args:
        minutes: that a person needs for the task of each run, above 0: shape (runs,).
        passed: 1 for a run that passed, 0 for another: shape (runs,).
        weights: not negative, some of them positive: shape (fits, runs).
        regularisation: of the slope, above 0.
    """
    slopes = np.full(len(weights), np.nan)
    has_passed, has_failed = weights @ passed > 0, weights @ (1 - passed) > 0
    intercepts = np.where(has_passed, np.inf, -np.inf)
    mixed = np.flatnonzero(has_passed & has_failed)
    size = max(1, _MOST_CELLS // len(minutes))
    for begin in range(0, len(mixed), size):
        at = mixed[begin : begin + size]
        intercepts[at], slopes[at] = _newton(np.log2(minutes), passed, weights[at], regularisation)
    return Fits(intercepts, slopes)


def _newton(x: Floats, passed: Floats, weights: Floats, regularisation: float) -> Floats:
    """Return intercepts and slopes: shape (2, fits)."""
    parameters = np.zeros((2, len(weights)))
    signs = 2 * passed - 1
    left = np.arange(len(weights))
    for _ in range(_MOST_STEPS):
        intercepts, slopes = parameters[:, left]
        logits = signs * (intercepts[:, np.newaxis] + slopes[:, np.newaxis] * x)
        # Of the probability of the other outcome, even a tiny one keeps its digits.
        with np.errstate(over="ignore"):
            errors = 1 / (1 + np.exp(logits))
        residuals = weights[left] * errors
        spread = residuals * (1 - errors)
        residuals *= signs
        # Around this middle of x, level and slope have steps that do not depend on each other.
        total = spread.sum(axis=1)
        middle = spread @ x / total
        centred = x - middle[:, np.newaxis]
        level = residuals.sum(axis=1) / total
        slope = (residuals * centred).sum(axis=1) - regularisation * slopes
        slope /= (spread * centred**2).sum(axis=1) + regularisation
        largest = np.abs(level + slope * (np.array([[x.min()], [x.max()]]) - middle)).max(axis=0)
        step = np.stack((level - slope * middle, slope))
        parameters[:, left] += step / np.maximum(1, largest / _LARGEST_STEP)
        left = left[~(largest <= _SMALL_STEP)]
        if not len(left):
            return parameters
    parameters[:, left] = np.nan
    return parameters


def run_weights(families: Indices, tasks: Indices, *, by_family: bool) -> Floats:
    """Return weights of runs, 1 in all: the runs of a task weigh as much as those of another.

    Args:
        families: number of the family of each run's task, from 0 and without gaps.
        tasks: number of its task, likewise.
        by_family: whether tasks weigh less in larger families, by the square root of their number.
    """
    weights = 1.0 / np.bincount(tasks)[tasks]
    if by_family:
        weights /= np.sqrt(np.bincount(families, weights=weights))[families]
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def resample_runs(
    families: Indices, tasks: Indices, n_draws: int, rng: np.random.Generator
) -> Indices:
    """Return how often each run is drawn: families, in these tasks, in these runs.

    Each level is resampled with replacement to its own size. A family drawn m times has its tasks
    resampled m times, which is one multinomial draw of m times as many. Where each family is a
    single run, nothing is left to resample within it, and of fewer than a hundred such draws vary
    too little: they are drawn from again. Shape (draws, runs).
    """
    counts = np.zeros((n_draws, len(tasks)), dtype=np.int64)
    n_families = int(families.max()) + 1
    per_family = _drawn(np.ones(n_draws, dtype=np.int64), n_families, rng)
    for family in range(n_families):
        members = np.flatnonzero(families == family)
        names = np.unique(tasks[members])
        per_task = _drawn(per_family[:, family], len(names), rng)
        for number, name in enumerate(names):
            runs = members[tasks[members] == name]
            counts[:, runs] = _drawn(per_task[:, number], len(runs), rng)
    if n_families == len(tasks) < _MANY_FAMILIES:
        counts = rng.multinomial(n_families, counts / n_families)
    return counts


def _drawn(times: Indices, n: int, rng: np.random.Generator) -> Indices:
    """Return how often each of n is drawn, where n are drawn so many times: shape (draws, n)."""
    return rng.multinomial(times * n, np.full(n, 1 / n))
