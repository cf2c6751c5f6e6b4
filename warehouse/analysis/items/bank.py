"""A bank of items: their Rasch parameters, and scores on the whole bank predicted from a part."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from warehouse.engine.statistics.item_response import (
    FARTHEST_NODE,
    N_NODES,
    Cells,
    fit_guessed,
    fit_marginal,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from warehouse.engine.statistics.arrays import Floats

_NODES = np.linspace(-FARTHEST_NODE, FARTHEST_NODE, N_NODES)
_LOG_PRIOR = -(_NODES**2) / 2


@dataclass(frozen=True)
class Bank:
    """Rasch parameters of items: a model of ability t knows one with logit slope * t - intercept.

    It guesses those that it does not know with the probability `guess`. Abilities are standard
    normal.
    """

    slope: float
    intercepts: Floats
    guess: float = 0.0

    @cached_property
    def log_chances(self) -> tuple[Floats, Floats]:
        """Log probabilities of a pass and of a failure at each node, shape (nodes, items)."""
        logits = self.slope * _NODES[:, np.newaxis] - self.intercepts
        knows = -np.logaddexp(0, -logits)
        misses = np.log1p(-self.guess)
        passes = np.logaddexp(np.log(self.guess), knows + misses) if self.guess else knows
        return passes, knows - logits + misses

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


def fit_bank(passed: Floats, attempts: Floats, *, has_guesses: bool = False) -> Bank:
    """Fit the parameters of items, see `fit_marginal`.

    Args:
        passed: passed attempts, shape (models, items).
        attempts: attempts, 0 where a model was not asked.
        has_guesses: whether items may be guessed.

    Raises:
        BadInput: the fit did not converge.
    """
    model, item = np.nonzero(attempts)
    cells = Cells(model, item, passed[model, item], attempts[model, item], *attempts.shape)
    if has_guesses:
        return Bank(*fit_guessed(cells))
    found = fit_marginal(cells, "rasch")
    return Bank(float(found.slope[0]), found.intercept)


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
    weights = _posterior(bank.log_chances, passed, attempts)
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


def _posterior(logs: tuple[Floats, Floats], passed: Floats, attempts: Floats) -> Floats:
    """Return the weights of the nodes for each model."""
    joint = passed @ logs[0].T + (attempts - passed) @ logs[1].T + _LOG_PRIOR
    weights = np.exp(joint - joint.max(axis=1, keepdims=True))
    shares: Floats = weights / weights.sum(axis=1, keepdims=True)
    return shares
