"""Scores of systems from votes between two answers: Bradley and Terry's model.

P(x is better than y) = s(x) / (s(x) + s(y)) (Bradley and Terry 1952, Biometrika 39, 324), by
maximum likelihood: Newton's method on counts. A tie is half a win each, or an outcome of its own,
which is most probable between equal systems (Davidson 1970, JASA 65, 317). Votes of one person, or
on one item, depend on each other: the covariance is that of sums of clusters (the "sandwich").
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, sqrt
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from warehouse.core.errors import BadInput
from warehouse.engine.statistics.arrays import cluster_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy.sparse import csr_array

    from warehouse.engine.statistics.arrays import Floats, Indices

Ties: TypeAlias = Literal["half", "davidson"]
Style: TypeAlias = Literal["plain", "tanh"]

# Below so many clusters there are no errors.
MIN_CLUSTERS = 20
_MOST_STEPS = 100
_SMALL_STEP = 1e-10
_SMALL_DIFFERENCE = 1e-9
_ROUNDING = 1e-12
# Logits: beyond, length alone decides more than 99.99 % of the votes between equal systems.
_LARGEST_EFFECT = 10.0
_BY_LENGTH = "the longer answer, or the shorter one, wins nearly always: rate without lengths"
_MOST_NAMES = 5
# What a win of the first, a win of the second, and a tie count for the first.
_POINTS = {"half": (1.0, 0.0, 0.5), "davidson": (0.5, -0.5, 0.0)}


class Votes(NamedTuple):
    """Counts of votes between two systems: a row for each pair, cluster and difference of length.

    Attributes:
        first: number of one system, from 0: shape (rows,), as all others.
        second: number of the other.
        wins_first: votes that the first is better.
        wins_second: votes that the second is better.
        ties: votes for neither.
        clusters: number of the rater or item, from 0 and without gaps; None if all votes are
            independent.
        lengths: length of the first's answer less that of the second, to rate systems as if their
            answers were equally long; None to rate them as they are.
    """

    first: Indices
    second: Indices
    wins_first: Floats
    wins_second: Floats
    ties: Floats
    clusters: Indices | None = None
    lengths: Floats | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """What votes say of systems.

    Attributes:
        log_scores: natural logarithm of each system's score; their mean is 0.
        covariance: of `log_scores`, without a correction for few clusters; None below 20.
        n_votes: votes.
        n_clusters: clusters, or votes where all are independent.
        n_effective: the number of clusters of equal size that would say as much (Kish 1965).
        tie_parameter: Davidson's: the probability of a tie between equal systems, divided by that
            of either win; None if ties are half a win each, or there are none.
        style_effect: logit for an answer that is longer by a standard deviation of the differences
            (with "tanh", by a large one); None if lengths do not count.
        style_error: its standard error; None below 20 clusters.
    """

    log_scores: Floats
    covariance: Floats | None
    n_votes: int
    n_clusters: int
    n_effective: float
    tie_parameter: float | None = None
    style_effect: float | None = None
    style_error: float | None = None

    @property
    def standard_errors(self) -> Floats | None:
        """Of each log score, whose reference is the mean of all systems."""
        return None if self.covariance is None else np.sqrt(np.diagonal(self.covariance))


class _Model(NamedTuple):
    """The rows that the model is fitted to, and what its parameters mean.

    Attributes:
        design: +1 for the first, -1 for the second system, then the style: shape (rows, slopes).
        counts: wins of the first, wins of the second, ties: shape (3, rows).
        n_systems: number of systems.
        ties: what a tie is; Davidson's has the logarithm of its parameter after all others.
    """

    design: csr_array
    counts: Floats
    n_systems: int
    ties: Ties

    @property
    def points(self) -> Floats:
        """What each outcome counts for the first system: shape (3, 1)."""
        return np.array(_POINTS[self.ties])[:, np.newaxis]


def bradley_terry(
    names: Sequence[str], votes: Votes, *, ties: Ties = "half", style: Style = "tanh"
) -> Scores:
    """Return the scores of systems.

    Args:
        names: name of each system, by its number, for messages.
        votes: counts of votes; each system has at least one.
        ties: what a tie is: half a win each, or an outcome with a parameter of its own.
        style: whether the difference of lengths, divided by its standard deviation from 0, counts
            as it is or by its hyperbolic tangent.

    Raises:
        BadInput: some systems cannot be compared with others, or ties or lengths cannot be fitted.
    """
    _check_connected(names, votes)
    n = len(names)
    if not votes.ties.any():
        ties = "half"
    elif ties == "davidson" and not (votes.wins_first.any() or votes.wins_second.any()):
        raise BadInput("all votes are ties: they have no parameter of their own")
    has_style = votes.lengths is not None
    model = _model(votes if has_style else _pairs(votes), n, ties, style)
    if has_style:
        _check_lengths(model)
    parameters = _fitted(model)
    if has_style and abs(parameters[n]) > _LARGEST_EFFECT:
        raise BadInput(_BY_LENGTH)
    sizes = _cluster_sizes(votes)
    covariance = None
    if len(sizes) >= MIN_CLUSTERS:
        rows = model if votes.clusters is None else _model(votes, n, ties, style)
        meat = _spread(rows, parameters, votes.clusters)
        chances, _ = _predicted(model, parameters)
        inverse = _inverse(model, chances)
        covariance = inverse @ meat @ inverse
    return Scores(
        log_scores=parameters[:n],
        covariance=None if covariance is None else covariance[:n, :n],
        n_votes=int(sizes.sum()),
        n_clusters=len(sizes),
        n_effective=float(sizes.sum() ** 2 / (sizes**2).sum()),
        tie_parameter=exp(parameters[-1]) if ties == "davidson" else None,
        style_effect=float(parameters[n]) if has_style else None,
        style_error=None if covariance is None or not has_style else sqrt(covariance[n, n]),
    )


def _check_connected(names: Sequence[str], votes: Votes) -> None:
    """Raise BadInput unless a chain of wins or ties leads from each system to each other."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    shape = len(names), len(names)
    winners = np.concatenate([votes.first, votes.second])
    losers = np.concatenate([votes.second, votes.first])
    points = np.concatenate([votes.wins_first + votes.ties, votes.wins_second + votes.ties])
    has_won = points > 0
    graph = coo_array((points[has_won], (winners[has_won], losers[has_won])), shape=shape)
    n_groups, groups = connected_components(graph, connection="strong")
    if n_groups == 1:
        return
    members: list[list[str]] = [[] for _ in range(n_groups)]
    for name, group in zip(names, groups.tolist(), strict=True):
        members[group].append(name)
    members.sort(key=lambda group: (-len(group), group))
    named = [_shortened(group, ", ") for group in members]
    raise BadInput(
        "systems cannot be rated together: between these groups there are no votes, or one won all "
        f"of them: {_shortened(named, ' | ')}; rate each group by itself, or add votes"
    )


def _cluster_sizes(votes: Votes) -> Floats:
    """Return the votes of each cluster, or 1 for each vote where all are independent."""
    counts = votes.wins_first + votes.wins_second + votes.ties
    if votes.clusters is None:
        return np.ones(int(counts.sum()))
    return cluster_sums(counts, votes.clusters)


def _shortened(words: Sequence[str], separator: str) -> str:
    more = f" and {len(words) - _MOST_NAMES} more" if len(words) > _MOST_NAMES else ""
    return separator.join(words[:_MOST_NAMES]) + more


def _pairs(votes: Votes) -> Votes:
    """Return the votes added up by pair."""
    n = int(max(votes.first.max(), votes.second.max())) + 1
    cells, places = np.unique(votes.first * n + votes.second, return_inverse=True)
    counts = (votes.wins_first, votes.wins_second, votes.ties)
    wins_first, wins_second, ties = (
        np.bincount(places, weights=each).astype(np.float64) for each in counts
    )
    return Votes(cells // n, cells % n, wins_first, wins_second, ties)


def _model(votes: Votes, n_systems: int, ties: Ties, style: Style) -> _Model:
    from scipy.sparse import coo_array

    n_rows = len(votes.first)
    values, columns = [np.ones(n_rows), -np.ones(n_rows)], [votes.first, votes.second]
    counts = np.stack([votes.wins_first, votes.wins_second, votes.ties]).astype(np.float64)
    if votes.lengths is not None:
        values.append(_standardised(votes.lengths, counts.sum(axis=0), style))
        columns.append(np.full(n_rows, n_systems))
    places = np.tile(np.arange(n_rows), len(values)), np.concatenate(columns)
    shape = n_rows, n_systems + len(values) - 2
    design = coo_array((np.concatenate(values), places), shape=shape).tocsr()
    return _Model(design, counts, n_systems, ties)


def _standardised(lengths: Floats, n_votes: Floats, style: Style) -> Floats:
    # Which of two systems is the first says nothing, so that the deviation is that from 0.
    spread = sqrt(float(np.average(lengths**2, weights=n_votes)))
    scaled: Floats = lengths / (spread or 1.0)
    return np.tanh(scaled) if style == "tanh" else scaled


def _check_lengths(model: _Model) -> None:
    """Raise BadInput if the lengths follow from the systems."""
    systems, lengths = model.design[:, : model.n_systems], model.design[:, [model.n_systems]]
    means = np.linalg.pinv((systems.T @ systems).toarray()) @ (systems.T @ lengths).toarray()
    if np.abs(lengths.toarray() - systems @ means).max() < _SMALL_DIFFERENCE:
        raise BadInput("the lengths of answers follow from the systems: their effect is not known")


def _predicted(model: _Model, parameters: Floats) -> tuple[Floats, float]:
    """Return the probability of each outcome, shape (3, rows), and the log likelihood."""
    logits = model.points * (model.design @ parameters[: model.design.shape[1]])
    if model.ties == "davidson":
        logits[2] += parameters[-1]
    # A tie that is half a win each is no outcome of its own.
    outcomes = slice(2 if model.ties == "half" else 3)
    log_chances = logits - np.logaddexp.reduce(logits[outcomes], axis=0)
    chances = np.zeros_like(logits)
    chances[outcomes] = np.exp(log_chances[outcomes])
    return chances, float((model.counts * log_chances).sum())


def _residuals(model: _Model, chances: Floats) -> tuple[Floats, Floats]:
    """Return what each outcome's points, and being a tie, exceed the expected: of (3, rows) each.

    The derivative of the log probability of an outcome is a row of the design times the one, and
    by the tie parameter the other.
    """
    is_tie = np.array([[0.0], [0.0], [1.0]])
    return model.points - (model.points * chances).sum(axis=0), is_tie - chances[2]


def _inverse(model: _Model, chances: Floats) -> Floats:
    """Return the inverse of the information, for scores whose mean is 0."""
    weights = model.counts.sum(axis=0) * chances
    information = _products(model, _residuals(model, chances), weights)
    # Adding a constant to all scores changes nothing: that direction is given a unit variance.
    n = model.n_systems
    information[:n, :n] += 1 / n
    inverse: Floats = np.linalg.inv(information).astype(np.float64)
    inverse[:n, :n] -= 1 / n
    return inverse


def _products(model: _Model, residuals: tuple[Floats, Floats], weights: Floats) -> Floats:
    """Return the weighted sum, over outcomes and rows, of products of derivatives."""
    points, ties = residuals
    row_weights = (weights * points**2).sum(axis=0)
    found: Floats = (model.design.T @ (model.design * row_weights[:, np.newaxis])).toarray()
    if model.ties == "half":
        return found
    border = (model.design.T @ (weights * points * ties).sum(axis=0))[:, np.newaxis]
    return np.block([[found, border], [border.T, (weights * ties**2).sum()]])


def _fitted(model: _Model) -> Floats:
    """Return the parameters with the largest likelihood, by Newton's method, with steps halved."""
    parameters = np.zeros(model.design.shape[1] + (model.ties == "davidson"))
    for _ in range(_MOST_STEPS):
        chances, likelihood = _predicted(model, parameters)
        points, ties = ((model.counts * each).sum(axis=0) for each in _residuals(model, chances))
        slopes = model.design.T @ points
        if model.ties == "davidson":
            slopes = np.append(slopes, ties.sum())
        step = _inverse(model, chances) @ slopes
        allowed = likelihood - _ROUNDING * abs(likelihood)
        while _predicted(model, parameters + step)[1] < allowed:
            step /= 2
        parameters += step
        if np.abs(step).max() < _SMALL_STEP:
            return parameters
    raise BadInput(_BY_LENGTH)


def _spread(model: _Model, parameters: Floats, clusters: Indices | None) -> Floats:
    """Return the sum, over clusters or else votes, of products of derivatives."""
    from scipy.sparse import csr_array, hstack

    residuals = _residuals(model, _predicted(model, parameters)[0])
    if clusters is None:
        return _products(model, residuals, model.counts)
    points, ties = ((model.counts * each).sum(axis=0)[:, np.newaxis] for each in residuals)
    derivatives = model.design * points
    if model.ties == "davidson":
        derivatives = hstack([derivatives, ties])
    rows = np.arange(len(clusters))
    members = csr_array((np.ones(len(clusters)), (clusters, rows)))
    sums = members @ csr_array(derivatives)
    found: Floats = (sums.T @ sums).toarray()
    return found
