"""A bank of items: their Rasch parameters, and scores on the whole bank predicted from a part."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from warehouse.engine.statistics.arrays import Floats

# Fewer nodes are wider apart than the posterior of an ability that hundreds of items measured.
_NODES = np.linspace(-5, 5, 161)
_LOG_PRIOR = -(_NODES**2) / 2
# Normal priors of the log slope, with mean 0, and of the intercepts.
_SLOPE_SD = 0.5
_INTERCEPT_SD = 3.0


@dataclass(frozen=True)
class Bank:
    """Rasch parameters of items: a model of ability t passes one with logit slope * t - intercept.

    Abilities are standard normal.
    """

    slope: float
    intercepts: Floats

    @cached_property
    def log_chances(self) -> tuple[Floats, Floats]:
        """Log probabilities of a pass and of a failure at each node, shape (nodes, items)."""
        logits = self.slope * _NODES[:, np.newaxis] - self.intercepts
        passes = -np.logaddexp(0, -logits)
        return passes, passes - logits

    @cached_property
    def chances(self) -> Floats:
        """Probabilities of a pass at each node, shape (nodes, items)."""
        chances: Floats = np.exp(self.log_chances[0])
        return chances


@dataclass(frozen=True, slots=True)
class Prediction:
    """Predicted scores on a bank, from 0 to 1, one for each model.

    Attributes:
        scores: expected share of passed items; those that were asked count as they were answered.
        errors: standard deviations of the score.
        abilities: expected abilities.
    """

    scores: Floats
    errors: Floats
    abilities: Floats


def fit_bank(passed: Floats, attempts: Floats) -> Bank:
    """Fit the parameters by marginal maximum a posteriori: normal priors on log slope, intercepts.

    Args:
        passed: passed attempts, shape (models, items).
        attempts: attempts, 0 where a model was not asked.
    """
    from scipy.optimize import minimize

    share = (passed.sum(axis=0) + 0.5) / (attempts.sum(axis=0) + 1)
    start = np.concatenate([[0.3], -1.3 * np.log(share / (1 - share))])
    found = minimize(
        _objective, start, args=(passed, attempts), jac=True, method="L-BFGS-B", tol=1e-10
    )
    return Bank(float(np.exp(found.x[0])), found.x[1:])


def predict_scores(
    bank: Bank, passed: Floats, attempts: Floats, scored: npt.NDArray[np.bool_] | None = None
) -> Prediction:
    """Predict the scores of models from their answers to a part of the items.

    Args:
        bank: the parameters of all items.
        passed: passed attempts, shape (models, items).
        attempts: attempts, 0 where a model was not asked.
        scored: the items that the score of each model is a mean of; None for all.
    """
    chances = bank.chances
    weights, _ = _posterior(bank.log_chances, passed, attempts)
    is_asked = attempts > 0
    scored = np.ones_like(is_asked) if scored is None else scored
    n_scored = scored.sum(axis=1)
    answered = np.divide(passed, attempts, out=np.zeros_like(passed), where=is_asked & scored)
    open_items = (scored & ~is_asked).astype(np.float64)
    expected = open_items @ chances.T
    noise = open_items @ (chances * (1 - chances)).T
    means = (weights * expected).sum(axis=1)
    variances = (weights * ((expected - means[:, np.newaxis]) ** 2 + noise)).sum(axis=1)
    scores = (answered.sum(axis=1) + means) / n_scored
    return Prediction(scores, np.sqrt(variances) / n_scored, weights @ _NODES)


def _posterior(
    logs: tuple[Floats, Floats], passed: Floats, attempts: Floats
) -> tuple[Floats, Floats]:
    """Return the weights of the nodes for each model, and its log likelihood up to a constant."""
    joint = passed @ logs[0].T + (attempts - passed) @ logs[1].T + _LOG_PRIOR
    top = joint.max(axis=1, keepdims=True)
    weights = np.exp(joint - top)
    total = weights.sum(axis=1, keepdims=True)
    return weights / total, top[:, 0] + np.log(total[:, 0])


def _objective(values: Floats, passed: Floats, attempts: Floats) -> tuple[float, Floats]:
    """Return the negative log posterior of log slope and intercepts, and its gradient."""
    log_slope, intercepts = values[0], values[1:]
    bank = Bank(float(np.exp(log_slope)), intercepts)
    weights, logliks = _posterior(bank.log_chances, passed, attempts)
    # Passes beyond those expected, by node and item.
    surplus = weights.T @ passed - weights.T @ attempts * bank.chances
    by_slope = -bank.slope * float((surplus.sum(axis=1) * _NODES).sum()) + log_slope / _SLOPE_SD**2
    by_intercept = surplus.sum(axis=0) + intercepts / _INTERCEPT_SD**2
    penalty = (log_slope / _SLOPE_SD) ** 2 / 2 + ((intercepts / _INTERCEPT_SD) ** 2).sum() / 2
    return float(penalty - logliks.sum()), np.concatenate([[by_slope], by_intercept])
