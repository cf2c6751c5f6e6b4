"""Abilities of few systems by the answers to many items, with errors that know both are estimated.

The logit of a pass is a·(θ − b) for ability θ, difficulty b and slope a, as in `item_response`.
There, abilities are integrated out, and items are parameters, of which 100 systems say enough.
Below, the items are integrated out, and the abilities maximise the posterior density: joint
estimates of both spread abilities too far (by n/(n − 1) for n systems, Andersen 1980, p. 244). An
item's difficulty is normal around the mean ability of the systems that answered it (Mundlak 1978,
Econometrica 46, 69), so that systems which were asked harder items are not taken for weaker ones.

Errors are from the expected information of all parameters together, of abilities less their mean:
errors that take items as known are too small. All figures are in logits at an item of typical
slope, the geometric mean.
"""

from __future__ import annotations

from math import ceil, log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from warehouse.engine.statistics.item_response import (
    LOG_SLOPE_SD,
    fit_marginal,
    maximum,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.engine.statistics.arrays import Floats, Indices
    from warehouse.engine.statistics.item_response import Cells, Model

# From so many systems on, items are parameters.
MANY_SYSTEMS = 100
# Standard deviation of the normal prior of abilities, in logits.
_ABILITY_SD = 3.0
# That of a difficulty around the mean ability of the systems that answered it, for its error.
_DIFFICULTY_SD = 3.0
_FARTHEST_NODE = 10.0
_FEWEST_NODES = 81
# So many nodes for the root of an item's attempts are as close as its difficulty is uncertain.
_NODES_PER_ROOT = 14.0
_SLOPE_NODES = np.linspace(-2.5, 2.5, 9)
_N_FOLDS = 3
_SEED = 23


class Estimates(NamedTuple):
    """Abilities and items, in logits at an item of typical slope; abilities have a mean of 0.

    Attributes:
        ability: of each system.
        difficulty: of each item, the ability that passes it half of the time.
        slope: of each item; 1 for all in the Rasch model.
    """

    ability: Floats
    difficulty: Floats
    slope: Floats

    def chances(self, cells: Cells) -> Floats:
        """Return each cell's chance to pass."""
        logits = self.ability[cells.system] - self.difficulty[cells.item]
        return 1 / (1 + np.exp(-self.slope[cells.item] * logits))


class Errors(NamedTuple):
    """What is uncertain in estimates.

    Attributes:
        covariance: of the abilities: shape (systems, systems).
        linking: part of each ability's standard error that is due to the estimated items.
        difficulty: standard error of each difficulty.
        log_slope: standard error of the logarithm of each slope; 0 in the Rasch model.
    """

    covariance: Floats
    linking: Floats
    difficulty: Floats
    log_slope: Floats


class Misfit(NamedTuple):
    """Mean squares of residuals: 1 is expected, and more where answers surprise the model.

    Attributes:
        infit: weighted by information, so that answers near the ability count most.
        outfit: unweighted, so that a single far surprise shows.
    """

    infit: Floats
    outfit: Floats


def estimate(cells: Cells, model: Model) -> Estimates:
    """Estimate the abilities of systems, and the items.

    Raises:
        BadInput: the fit did not converge.
    """
    if model == "2pl" and cells.n_systems >= MANY_SYSTEMS:
        fit = fit_marginal(cells, model)
        typical = np.exp(np.log(fit.slope).mean())
        found = Estimates(
            typical * fit.ability, typical * fit.intercept / fit.slope, fit.slope / typical
        )
    else:
        items = _ItemsIntegrated(cells, model)
        found = items.estimates(maximum(items.loss, items.start(), model))
    centre = found.ability.mean()
    return Estimates(found.ability - centre, found.difficulty - centre, found.slope)


def choose_model(cells: Cells) -> tuple[Model, float | None]:
    """Return the model that predicts answers best, and by how much the 2PL is better or worse.

    From 100 systems on, it is the 2PL. Below, a third of the cells at a time is predicted from the
    others; the 2PL is chosen if its logarithm of the likelihood is larger by more than two standard
    errors of the difference, which is returned per attempt.
    """
    if cells.n_systems >= MANY_SYSTEMS:
        return "2pl", None
    fold = np.random.default_rng(_SEED).permutation(len(cells.system)) % _N_FOLDS
    gains = np.zeros(len(fold))
    for left_out in range(_N_FOLDS):
        is_out = fold == left_out
        kept, out = cells.where(~is_out), cells.where(is_out)
        gains[is_out] = _log_likelihoods(kept, out, "2pl") - _log_likelihoods(kept, out, "rasch")
    error = np.sqrt(len(gains)) * gains.std(ddof=1)
    chosen: Model = "2pl" if gains.sum() > 2 * error else "rasch"
    return chosen, float(gains.sum() / cells.attempts.sum())


def _log_likelihoods(cells: Cells, others: Cells, model: Model) -> Floats:
    """Return the log-likelihood of each of some other cells, predicted from cells."""
    items = _ItemsIntegrated(cells, model)
    chance = items.predicted(maximum(items.loss, items.start(), model), others)
    failed = others.attempts - others.passed
    likelihoods: Floats = others.passed * np.log(chance) + failed * np.log1p(-chance)
    return likelihoods


class _ItemsIntegrated:
    """The posterior density of abilities, over items whose b and log a are normal.

    Parameters are the abilities, and the logarithms of the standard deviations of b and log a. An
    answer's probability depends on its system and the node only, a node's weight on its item.
    """

    def __init__(self, cells: Cells, model: Model) -> None:
        self.n_systems = cells.n_systems
        self._by_system = cells.matrix(cells.passed), cells.matrix(cells.attempts)
        self._by_item = [matrix.T.tocsr() for matrix in self._by_system]
        self._shares = cells.matrix(_shares(cells)).T.tocsr()
        most = np.bincount(cells.item, cells.attempts).max()
        n_nodes = max(_FEWEST_NODES, ceil(_NODES_PER_ROOT * np.sqrt(most)))
        nodes = np.linspace(-_FARTHEST_NODE, _FARTHEST_NODE, n_nodes)
        slope_nodes = _SLOPE_NODES if model == "2pl" else np.zeros(1)
        self._nodes = np.tile(nodes, len(slope_nodes))
        self._slope_nodes = np.repeat(slope_nodes, n_nodes)
        slope_weights = np.exp(-(slope_nodes**2) / 2)
        self._log_weights = np.repeat(np.log(slope_weights / slope_weights.sum()), n_nodes)
        self._means = np.array([*np.zeros(self.n_systems), 0, log(LOG_SLOPE_SD)])
        sds = [*np.full(self.n_systems, _ABILITY_SD), 1, LOG_SLOPE_SD]
        self._precisions = 1 / np.array(sds) ** 2

    def start(self) -> Floats:
        """Return parameters to start from."""
        passed, attempts = (matrix.sum(axis=1) for matrix in self._by_system)
        logits = np.log(passed + 0.5) - np.log(attempts - passed + 0.5)
        return np.concatenate([logits, self._means[-2:]])

    def loss(self, parameters: Floats) -> tuple[float, Floats]:
        """Return the negative logarithm of the posterior density, and its gradient."""
        log_likelihood, posterior, chance = self._integrated(parameters)
        slope, distance = self._at_nodes(parameters)
        passed, attempts = (matrix @ posterior for matrix in self._by_system)
        residual = passed - attempts * chance
        sd, slope_sd = np.exp(parameters[-2:])
        away = self._away(parameters)
        by_mean = (posterior * away).sum(axis=1) / sd**2
        by_ability = residual @ slope + self._shares.T @ by_mean
        by_sd = (posterior * (away / sd) ** 2).sum() - len(posterior)
        by_slope_sd = slope_sd * ((residual * distance).sum(axis=0) @ (slope * self._slope_nodes))
        from_means = parameters - self._means
        pull = self._precisions * from_means
        gradient = pull - np.concatenate([by_ability, [by_sd, by_slope_sd]])
        return float(pull @ from_means / 2 - log_likelihood), gradient

    def estimates(self, parameters: Floats) -> Estimates:
        """Return the abilities, and the means of what each item may be given them."""
        _, posterior, _ = self._integrated(parameters)
        slope = np.exp(np.exp(parameters[-1]) * (posterior @ self._slope_nodes))
        return Estimates(parameters[:-2], posterior @ self._nodes, slope)

    def predicted(self, parameters: Floats, cells: Cells) -> Floats:
        """Return the chance to pass of cells that may be none of those fitted."""
        _, posterior, chance = self._integrated(parameters)
        # Row by row of the systems: all cells by all nodes would be large.
        found = np.empty(len(cells.system))
        for system in range(self.n_systems):
            is_its = cells.system == system
            found[is_its] = posterior[cells.item[is_its]] @ chance[system]
        return found

    def _at_nodes(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Return the slope of each node, and each ability's distance to its difficulty."""
        slope = np.exp(np.exp(parameters[-1]) * self._slope_nodes)
        return slope, parameters[:-2, np.newaxis] - self._nodes

    def _away(self, parameters: Floats) -> Floats:
        """Return how far each node's difficulty is from where the item's is expected."""
        away: Floats = self._nodes - (self._shares @ parameters[:-2])[:, np.newaxis]
        return away

    def _integrated(self, parameters: Floats) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood, each item's weights of the nodes, and chances to pass."""
        slope, distance = self._at_nodes(parameters)
        logits = slope * distance
        softplus = np.logaddexp(0, logits)
        passed, attempts = self._by_item
        joint = passed @ logits - attempts @ softplus + self._log_weights
        joint -= (self._away(parameters) * np.exp(-parameters[-2])) ** 2 / 2 + parameters[-2]
        largest = joint.max(axis=1, keepdims=True)
        weights = np.exp(joint - largest)
        sums = weights.sum(axis=1, keepdims=True)
        log_likelihood = float((largest + np.log(sums)).sum())
        return log_likelihood, weights / sums, np.exp(logits - softplus)


def _shares(cells: Cells) -> Floats:
    """Return the share of an item's attempts that each cell has."""
    shares: Floats = cells.attempts / np.bincount(cells.item, cells.attempts)[cells.item]
    return shares


def errors(cells: Cells, found: Estimates, model: Model) -> Errors:
    """Return the errors of estimates, from the expected information of all parameters together.

    Given the abilities, the parameters of items are independent of those of other items: their
    blocks are inverted one by one, and what is left is a matrix of the systems.
    """
    chance, slope = found.chances(cells), found.slope[cells.item]
    weight = cells.attempts * chance * (1 - chance)
    distance = found.ability[cells.system] - found.difficulty[cells.item]
    # The logit's gradient by b and by log a.
    gradients = [-slope, slope * distance][: 2 if model == "2pl" else 1]
    crossed = [weight * slope * gradient for gradient in gradients]
    crossed[0] = crossed[0] - _shares(cells) / _DIFFICULTY_SD**2
    variances = np.linalg.inv(_item_information(cells, weight, gradients))
    # By how much an item's parameters move with an ability.
    moves = [
        cells.matrix(-sum(each * rows[cells.item, k] for k, each in enumerate(crossed)))
        for rows in np.moveaxis(variances, 1, 0)
    ]
    own = np.bincount(cells.system, weight * slope**2) + 1 / _ABILITY_SD**2
    shares = cells.matrix(_shares(cells))
    information = np.diag(own) + (shares @ shares.T).toarray() / _DIFFICULTY_SD**2
    for each, move in zip(crossed, moves, strict=True):
        information += (cells.matrix(each) @ move.T).toarray()
    dispersion = _dispersion(cells, chance)
    uncentred = dispersion * np.linalg.inv(information)
    centring = np.eye(cells.n_systems) - 1 / cells.n_systems
    covariance = centring @ uncentred @ centring
    linking = np.maximum(0, np.diagonal(covariance) - centring**2 @ (1 / own))
    by_abilities = [_quadratic(move.toarray(), uncentred) for move in moves[1:]]
    by_abilities.insert(0, _quadratic(moves[0].toarray() - 1 / cells.n_systems, uncentred))
    by_answers = dispersion * np.diagonal(variances, axis1=1, axis2=2).T
    item_errors = np.sqrt(by_answers + by_abilities)
    log_slope = item_errors[1] if model == "2pl" else np.zeros(cells.n_items)
    return Errors(covariance, np.sqrt(linking), item_errors[0], log_slope)


def _dispersion(cells: Cells, chance: Floats) -> float:
    """Return by how much attempts at an item agree more than independent ones, at least 1.

    As for other binomials of counts, errors grow with the mean square of residuals (McCullagh and
    Nelder 1989, 4.5); single answers cannot say it.
    """
    variance = cells.attempts * chance * (1 - chance)
    squares = (cells.passed - cells.attempts * chance) ** 2
    is_counted = cells.attempts > 1
    if not is_counted.any():
        return 1.0
    return max(1.0, float(squares[is_counted].sum() / variance[is_counted].sum()))


def _item_information(cells: Cells, weight: Floats, gradients: Sequence[Floats]) -> Floats:
    """Return the information on each item's b, and log a, given the abilities.

    Its shape is (items, parameters, parameters).
    """
    n = len(gradients)
    priors = np.diag([1 / _DIFFICULTY_SD**2, 1 / LOG_SLOPE_SD**2][:n])
    information = np.tile(priors, (cells.n_items, 1, 1))
    for row, column in np.ndindex(n, n):
        products = weight * gradients[row] * gradients[column]
        information[:, row, column] += np.bincount(cells.item, products, cells.n_items)
    return information


def _quadratic(vectors: Floats, matrix: Floats) -> Floats:
    """Return each column's quadratic form."""
    forms: Floats = (vectors * (matrix @ vectors)).sum(axis=0)
    return forms


def misfit(cells: Cells, found: Estimates) -> tuple[Misfit, Misfit]:
    """Return how far the answers of each system, and those to each item, surprise the model.

    Residuals are smaller than errors, the more so the fewer answers an item and a system have: by
    about the share of the information on either that the answer is.
    """
    chance, slope = found.chances(cells), found.slope[cells.item]
    variance = cells.attempts * chance * (1 - chance)
    weight = variance * slope**2
    known = [
        np.bincount(group, weight)[group] + 1 / sd**2
        for group, sd in ((cells.system, _ABILITY_SD), (cells.item, _DIFFICULTY_SD))
    ]
    variance *= (1 - weight / known[0]) * (1 - weight / known[1])
    squares = (cells.passed - cells.attempts * chance) ** 2
    return _misfit(cells.system, squares, variance), _misfit(cells.item, squares, variance)


def _misfit(group: Indices, squares: Floats, variance: Floats) -> Misfit:
    return Misfit(
        np.bincount(group, squares) / np.bincount(group, variance),
        np.bincount(group, squares / variance) / np.bincount(group),
    )
