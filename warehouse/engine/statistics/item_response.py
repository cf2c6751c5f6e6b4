"""Item response models with one or two parameters for each item, by marginal maximum likelihood.

The logit of a pass is a·θ − d: θ is the system's ability, d the item's difficulty on the scale of
logits, and a its slope, one for all items (Rasch 1960) or one for each (Birnbaum 1968). Abilities
are standard normal and integrated out (Bock and Aitkin 1981, Psychometrika 46, 443), on even nodes:
with hundreds of items, Gauss and Hermite's are further apart than an ability is uncertain. The
priors keep items finite that nobody or everybody passes. That of d = a·b, not of b, is normal: one
of b pulls a common slope away from the data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt
    from scipy.sparse import csr_array

    from warehouse.engine.statistics.arrays import Floats, Indices

    Bounds: TypeAlias = tuple[float | None, float | None]
    Loss: TypeAlias = Callable[[Floats], tuple[float, Floats]]

Model: TypeAlias = Literal["rasch", "2pl"]

# Standard deviations of the normal priors of d and of the logarithm of a.
INTERCEPT_SD = 3.0
LOG_SLOPE_SD = 0.5
N_NODES = 161
FARTHEST_NODE = 5.0
_MOST_STEPS = 2000
_SMALL_GRADIENT = 1e-4
_SMALL_CHANGE = 1e-12
_MOST_GUESSED, _START_GUESS, _LEAST_CHANCE = 0.5, 0.05, 1e-12


class Cells(NamedTuple):
    """What systems answered to items, a row for each pair of them with an answer.

    Attributes:
        system: number of the system, from 0: shape (cells,), as all arrays.
        item: number of the item, from 0.
        passed: attempts that passed.
        attempts: attempts, 1 or more.
        n_systems: number of systems.
        n_items: number of items.
    """

    system: Indices
    item: Indices
    passed: Floats
    attempts: Floats
    n_systems: int
    n_items: int

    def matrix(self, values: Floats) -> csr_array:
        """Return values of the cells as a sparse matrix: shape (systems, items)."""
        from scipy.sparse import csr_array

        return csr_array((values, (self.system, self.item)), shape=(self.n_systems, self.n_items))

    def where(self, kept: Indices | npt.NDArray[np.bool_]) -> Cells:
        """Return some of the cells, or all in another order, of as many systems and items."""
        return self._replace(
            system=self.system[kept],
            item=self.item[kept],
            passed=self.passed[kept],
            attempts=self.attempts[kept],
        )


class MarginalFit(NamedTuple):
    """Parameters of items, and the abilities that are expected given them.

    Attributes:
        slope: a of each item, in logits per standard deviation of the abilities.
        intercept: d of each item, in logits; an item's difficulty b is d/a.
        ability: mean of each ability's posterior distribution, in standard deviations.
        ability_sd: standard deviation of that distribution, given the items' parameters.
        log_likelihood: of all cells without the priors, and without binomial coefficients.
    """

    slope: Floats
    intercept: Floats
    ability: Floats
    ability_sd: Floats
    log_likelihood: float


def fit_marginal(
    cells: Cells, model: Model, *, has_priors: bool = True, n_nodes: int = N_NODES
) -> MarginalFit:
    """Fit the parameters of items by marginal maximum likelihood.

    Args:
        cells: the answers.
        model: "rasch", one slope for all items, or "2pl".
        has_priors: whether d and log a have priors; without them, an item that nobody or everybody
            passes has no estimate.
        n_nodes: nodes of the integral.

    Raises:
        BadInput: the fit did not converge.
    """
    likelihood = _Marginal(cells, model, has_priors=has_priors, n_nodes=n_nodes)
    start = _start(cells, likelihood.n_slopes)
    return likelihood.fit(maximum(likelihood.loss, start, model, scales=likelihood.scales))


def _start(cells: Cells, n_slopes: int) -> Floats:
    rate = np.bincount(cells.item, cells.passed, cells.n_items) + 0.5
    rate /= np.bincount(cells.item, cells.attempts, cells.n_items) + 1
    return np.concatenate([np.log1p(-rate) - np.log(rate), np.zeros(n_slopes)])


def fit_guessed(cells: Cells) -> tuple[float, Floats, float]:
    """Fit a Rasch model of items that can be guessed: slope, intercepts, and the chance to guess.

    Raises:
        BadInput: the fit did not converge.
    """
    likelihood = _Guessed(cells)
    start = np.append(_start(cells, 1), _START_GUESS)
    scales = np.append(likelihood.scales, likelihood.scales[-1])
    bounds = [(None, None)] * (len(start) - 1) + [(0, _MOST_GUESSED * scales[-1])]
    # Beyond that, the guess no longer changes in its third digit.
    found = maximum(
        likelihood.loss, start, "rasch", bounds=bounds, scales=scales, small_change=1e-9
    )
    return float(np.exp(found[-2])), found[:-2], float(found[-1])


def maximum(
    loss: Loss,
    start: Floats,
    model: Model,
    *,
    bounds: Sequence[Bounds] | None = None,
    scales: Floats | float = 1.0,
    small_change: float = _SMALL_CHANGE,
) -> Floats:
    """Return the parameters that minimise a negative logarithm of a density.

    Args:
        loss: returns it, and its gradient.
        start: parameters to start from.
        model: for the message.
        bounds: of each parameter times its scale; None for none.
        scales: of the parameters; where the loss curves as much along each parameter times its
            scale as along another, the search takes a tenth of the steps.
        small_change: relative change of the loss at which the search ends.

    Raises:
        BadInput: the search did not converge.
    """
    from scipy.optimize import minimize

    def scaled(parameters: Floats) -> tuple[float, Floats]:
        value, gradient = loss(parameters / scales)
        return value, gradient / scales

    done = minimize(
        scaled,
        start * scales,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": _MOST_STEPS, "gtol": _SMALL_GRADIENT, "ftol": small_change},
    )
    if not done.success:
        raise BadInput(f"the {model} model did not converge in {done.nit:,} steps: {done.message}")
    found: Floats = done.x / scales
    return found


class _Marginal:
    """The marginal likelihood of answers.

    An answer's probability depends on its item and the node only, so that a step multiplies the
    sparse answers with matrices of (items, nodes) and of (systems, nodes).
    """

    def __init__(self, cells: Cells, model: Model, *, has_priors: bool, n_nodes: int) -> None:
        self.n_items = cells.n_items
        self.n_slopes = 1 if model == "rasch" else cells.n_items
        self._passed = cells.matrix(cells.passed)
        self._attempts = cells.matrix(cells.attempts)
        self._items_attempts = self._attempts.T.tocsr()
        self._n_passed = np.bincount(cells.item, cells.passed, cells.n_items)
        self._nodes = np.linspace(-FARTHEST_NODE, FARTHEST_NODE, n_nodes)
        weights = np.exp(-(self._nodes**2) / 2)
        self._log_weights = np.log(weights / weights.sum())
        sds = np.repeat([INTERCEPT_SD, LOG_SLOPE_SD], [cells.n_items, self.n_slopes])
        self._precisions = has_priors / sds**2
        # All answers bear on a common slope, those to an item on its own parameters.
        common = np.sqrt(cells.n_items / self.n_slopes)
        self.scales = np.repeat([1.0, common], [cells.n_items, self.n_slopes])

    def loss(self, parameters: Floats) -> tuple[float, Floats]:
        """Return the negative logarithm of the posterior density, and its gradient."""
        intercept, slope = self._parts(parameters)
        log_likelihood, posterior, chance = self._integrated(intercept, slope)
        expected = (self._items_attempts @ posterior) * chance
        by_intercept = expected.sum(axis=1) - self._n_passed
        by_slope = slope * (self._passed.T @ (posterior @ self._nodes) - expected @ self._nodes)
        if self.n_slopes == 1:
            by_slope = by_slope.sum(keepdims=True)
        pull = self._precisions * parameters
        gradient = pull - np.concatenate([by_intercept, by_slope])
        return float(pull @ parameters / 2 - log_likelihood), gradient

    def fit(self, parameters: Floats) -> MarginalFit:
        """Return the fit that has these parameters."""
        intercept, slope = self._parts(parameters)
        log_likelihood, posterior, _ = self._integrated(intercept, slope)
        ability = posterior @ self._nodes
        variance = posterior @ self._nodes**2 - ability**2
        return MarginalFit(slope, intercept, ability, np.sqrt(variance), log_likelihood)

    def _parts(self, parameters: Floats) -> tuple[Floats, Floats]:
        slope = np.broadcast_to(np.exp(parameters[self.n_items :]), self.n_items)
        return parameters[: self.n_items], slope

    def _integrated(self, intercept: Floats, slope: Floats) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood, each system's weights of the nodes, and chances to pass."""
        logits = slope[:, np.newaxis] * self._nodes - intercept[:, np.newaxis]
        softplus = np.logaddexp(0, logits)
        joint = np.outer(self._passed @ slope, self._nodes) + self._log_weights
        joint -= (self._passed @ intercept)[:, np.newaxis] + self._attempts @ softplus
        return *_normalised(joint), np.exp(logits - softplus)


class _Guessed(_Marginal):
    """The same with one slope, and a common probability of a pass without knowing the item."""

    def __init__(self, cells: Cells) -> None:
        super().__init__(cells, "rasch", has_priors=True, n_nodes=N_NODES)
        self._failed = cells.matrix(cells.attempts - cells.passed)

    def loss(self, parameters: Floats) -> tuple[float, Floats]:
        """Return the negative logarithm of the posterior density, and its gradient."""
        from scipy.special import expit

        guess, slope = parameters[-1], np.exp(parameters[-2])
        knows = expit(slope * self._nodes - parameters[:-2, np.newaxis])
        fails = np.maximum((1 - guess) * (1 - knows), _LEAST_CHANCE)
        passes = np.maximum(guess + (1 - guess) * knows, _LEAST_CHANCE)
        joint = self._passed @ np.log(passes) + self._failed @ np.log(fails) + self._log_weights
        log_likelihood, posterior = _normalised(joint)
        passed, failed = self._passed.T @ posterior, self._failed.T @ posterior
        by_logit = passed * (knows * fails / passes) - failed * knows
        by_guess = (passed * (fails / passes)).sum() - failed.sum()
        by_slope = slope * (by_logit @ self._nodes).sum()
        pull = self._precisions * parameters[:-1]
        last = pull[-1] - by_slope, -by_guess / (1 - guess)
        gradient = [*(pull[:-1] + by_logit.sum(axis=1)), *last]
        return float(pull @ parameters[:-1] / 2 - log_likelihood), np.array(gradient)


def _normalised(joint: Floats) -> tuple[float, Floats]:
    """Return the log-likelihood, and each system's weights of the nodes."""
    largest = joint.max(axis=1, keepdims=True)
    weights = np.exp(joint - largest)
    sums = weights.sum(axis=1, keepdims=True)
    return float((largest + np.log(sums)).sum()), weights / sums
