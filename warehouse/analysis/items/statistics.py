"""Item statistics of the classical test theory: how hard items are, and which systems pass them.

A system that was asked only some items is compared with the others by what it passed more than they
did on the same items; of a complete matrix these are the textbook's figures.
"""

from __future__ import annotations

from math import lgamma
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from warehouse.analysis.items.responses import Responses
    from warehouse.engine.statistics.arrays import Floats, Indices

MIN_TESTED = 8  # systems: with fewer, no discrimination is tested
_MIN_CORRELATED = 3  # systems: a correlation of two is always 1 or -1
_MIN_INTERVAL = 4  # systems: below, Fisher's transformation has no error
_Z = 1.959963984540054
_NONE = 1e-12  # a variance of less is none, but for the rounding of sums
_ROUNDS = 50
_CLOSE = 1e-10


class ItemStatistics(NamedTuple):
    """Figures of each item, in the order of the responses' items.

    Attributes:
        n_systems: systems that were asked.
        pass_rate: mean over the systems of the share of attempts that passed: the difficulty. NaN
            where all runs were adaptive, which count for none of the figures.
        pass_rate_low: lower end of its 95 % interval (Wilson), of other systems like these.
        pass_rate_high: upper end.
        discrimination: corrected item-total correlation: over the systems, of the share passed
            with what they passed of all other items. NaN below 3 systems, and where all systems
            have the same share.
        discrimination_low: lower end of its 95 % interval (Fisher); NaN below 4 systems.
        discrimination_high: upper end.
        p_value: of no correlation, two-sided; NaN below 8 systems.
    """

    n_systems: Indices
    pass_rate: Floats
    pass_rate_low: Floats
    pass_rate_high: Floats
    discrimination: Floats
    discrimination_low: Floats
    discrimination_high: Floats
    p_value: Floats


def item_statistics(responses: Responses) -> ItemStatistics:
    """Return difficulty and discrimination of each item, with intervals and tests."""
    n_items = responses.shape[1]
    n_asked = np.bincount(responses.item, minlength=n_items)
    responses = responses.rated()
    shares = responses.passed / responses.attempts
    n = np.bincount(responses.item, minlength=n_items)
    with np.errstate(divide="ignore", invalid="ignore"):
        pass_rate = np.bincount(responses.item, shares, n_items) / n
    low, high = _wilson(pass_rate, n)
    correlation = correlations(shares, rest_shares(responses), responses.item, n_items)
    discrimination = np.where(n >= _MIN_CORRELATED, correlation, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.where(n >= _MIN_INTERVAL, _Z / np.sqrt(np.maximum(n - 3, 1)), np.nan)
        center = np.arctanh(discrimination)
        ends = np.tanh(center - error), np.tanh(center + error)
    p_value = _p_values(discrimination, n, _least_p(shares, responses.item, n_items))
    return ItemStatistics(n_asked, pass_rate, low, high, discrimination, *ends, p_value)


def rest_shares(responses: Responses) -> Floats:
    """Return for each cell the share of all other items that its system would have passed.

    What a system was not asked is filled by additive effects of systems and items. NaN where it was
    asked nothing else.
    """
    shares = responses.passed / responses.attempts
    effects, easiness = _additive_effects(responses, shares)
    n_asked = np.bincount(responses.system, minlength=len(effects))[responses.system]
    beyond = shares - easiness[responses.item]  # what the system passed beyond an average one
    with np.errstate(divide="ignore", invalid="ignore"):
        others = (effects[responses.system] * n_asked - beyond) / (n_asked - 1)
        of_others = (easiness.sum() - easiness) / (len(easiness) - 1)
    rest: Floats = np.where(n_asked > 1, others + of_others[responses.item], np.nan)
    return rest


def _additive_effects(responses: Responses, shares: Floats) -> tuple[Floats, Floats]:
    """Return how much each system passes beyond the others, and the share that pass each item."""
    n_systems, n_items = responses.shape
    of_system = np.maximum(np.bincount(responses.system, minlength=n_systems), 1)
    of_item = np.maximum(np.bincount(responses.item, minlength=n_items), 1)
    effects = np.zeros(n_systems)
    for _ in range(_ROUNDS):
        rest = shares - effects[responses.system]
        easiness = np.bincount(responses.item, rest, n_items) / of_item
        rest = shares - easiness[responses.item]
        before, effects = effects, np.bincount(responses.system, rest, n_systems) / of_system
        effects -= effects.mean()
        if np.abs(effects - before).max(initial=0) < _CLOSE:
            break
    return effects, easiness


def correlations(first: Floats, second: Floats, item: Indices, n_items: int) -> Floats:
    """Return for each item the correlation over its cells; NaN where either does not vary."""
    n = np.maximum(np.bincount(item, minlength=n_items), 1)

    def centred(values: Floats) -> Floats:
        means = np.bincount(item, values, n_items) / n
        return values - means[item]

    x, y = centred(first), centred(second)
    squares = [np.bincount(item, each**2, n_items) for each in (x, y)]
    varies = np.minimum(*squares) > _NONE
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.bincount(item, x * y, n_items) / np.sqrt(squares[0] * squares[1])
    result: Floats = np.where(varies, np.clip(found, -1, 1), np.nan)
    return result


def cronbach_alpha(responses: Responses) -> float | None:
    """Return Cronbach's alpha: how well the items agree on the order of the systems.

    None if some systems were not asked some items, if there are fewer than two of either, or if all
    systems passed the same share.
    """
    n_systems, n_items = responses.shape
    if len(responses.item) < n_systems * n_items or 1 in responses.shape:
        return None
    matrix = responses.dense()
    total = float(matrix.sum(axis=1).var(ddof=1))
    if total < _NONE:
        return None
    return n_items / (n_items - 1) * (1 - float(matrix.var(axis=0, ddof=1).sum()) / total)


def _wilson(share: Floats, n: Indices) -> tuple[Floats, Floats]:
    """Return Wilson's 95 % interval of each share of n, as the macros `wilson_low` and `_high`."""
    size = np.maximum(n, 1)
    middle = share * size + _Z**2 / 2
    spread = _Z * np.sqrt(np.maximum(size * share * (1 - share), 0) + _Z**2 / 4)
    low, high = ((middle + sign * spread) / (size + _Z**2) for sign in (-1, 1))
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def _least_p(shares: Floats, item: Indices, n_items: int) -> Floats:
    """Return the least p-value that a permutation test of an item can give.

    With k of n systems passing, the passes fall on the systems in `n choose k` ways, and Student's
    distribution is not to be believed beyond: that the weakest of 30 systems is the only one to
    pass says little.
    """
    values, value = np.unique(shares, return_inverse=True)
    pairs, counts = np.unique(item * len(values) + value, return_counts=True)
    groups = pairs // max(len(values), 1)
    logs = np.array([lgamma(count + 1) for count in range(int(counts.max(initial=0)) + 1)])
    n = np.bincount(item, minlength=n_items)
    of_n = np.array([lgamma(count + 1) for count in n])
    least: Floats = np.exp(np.bincount(groups, logs[counts], n_items) - of_n)
    return least


def _p_values(correlation: Floats, n: Indices, least: Floats) -> Floats:
    """Return the two-sided p-value of each correlation by Student's t, but no less than `least`."""
    # As `scipy.stats.t.sf`, which takes several times as long to import.
    from scipy.special import stdtr

    is_tested = (n >= MIN_TESTED) & ~np.isnan(correlation)
    df = np.maximum(n - 2, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(correlation) * np.sqrt(df / (1 - correlation**2))
    p_value: Floats = np.where(is_tested, np.maximum(2 * stdtr(df, -ratio), least), np.nan)
    return p_value
