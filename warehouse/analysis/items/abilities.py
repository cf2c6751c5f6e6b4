"""Abilities of systems by item response models: one scale, whichever items each answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from warehouse.core.errors import BadInput
from warehouse.core.hashing import content_hash
from warehouse.core.text.figures import whole_percent
from warehouse.engine.statistics.abilities import (
    MANY_SYSTEMS,
    choose_model,
    errors,
    estimate,
    misfit,
)
from warehouse.engine.statistics.bradley_terry import Scores
from warehouse.engine.statistics.item_response import Cells
from warehouse.engine.statistics.vote_ranks import vote_ranks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warehouse.analysis.items.responses import Responses
    from warehouse.engine.statistics.abilities import Errors, Estimates, Misfit
    from warehouse.engine.statistics.arrays import Floats
    from warehouse.engine.statistics.item_response import Model

# Changes whenever the same answers get other figures.
VERSION = 1
FEWEST_SYSTEMS = 5
SYSTEM_COLUMNS: tuple[str, ...] = (
    *("rank", "rank_low", "rank_high", "system", "ability", "ability_low", "ability_high"),
    *("ability_stderr", "linking_stderr", "n_items", "n_attempts", "pass_rate", "shared_rate"),
    *("infit", "outfit", "method", "inputs"),
)
SYSTEM_ANSWER: tuple[str, ...] = (*SYSTEM_COLUMNS[:7], "n_items", "pass_rate")
ITEM_COLUMNS: tuple[str, ...] = (
    *("item", "difficulty", "difficulty_stderr", "slope", "slope_stderr", "n_systems"),
    *("n_attempts", "pass_rate", "infit", "outfit", "method", "inputs"),
)
ITEM_ANSWER: tuple[str, ...] = (*ITEM_COLUMNS[:4], "n_systems", "pass_rate")
_MOST_NAMES = 5
# Of one system, so much says that it passes what it should fail.
_HIGH_INFIT = 1.5


class Overlap(NamedTuple):
    """Which items systems have in common.

    Attributes:
        shared: of each system, the mean share of its items that another system answered.
        least: the smallest such share of two systems.
        pair: the positions of these two.
    """

    shared: Floats
    least: float
    pair: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """What answers say of systems and of items.

    Attributes:
        responses: the answers.
        cells: their arrays, sorted by system and item.
        model: "rasch" or "2pl".
        gain: by how much the 2PL predicts left-out answers better than the Rasch model, natural
            logarithm of the likelihood per attempt; None where the two were not compared.
        found: abilities, difficulties and slopes.
        error: their errors.
        fit_of_systems: misfit of each system's answers.
        fit_of_items: misfit of the answers to each item.
        overlap: which items systems have in common.
        inputs: digest of the answers.
    """

    responses: Responses
    cells: Cells
    model: Model
    gain: float | None
    found: Estimates
    error: Errors
    fit_of_systems: Misfit
    fit_of_items: Misfit
    overlap: Overlap
    inputs: str

    @property
    def method(self) -> str:
        """The model, and the version of its figures."""
        return f"{self.model} {VERSION}"

    @property
    def is_pass_rate(self) -> bool:
        """Whether the abilities rank as the pass rates do, by construction."""
        cells = self.cells
        is_complete = len(cells.system) == cells.n_systems * cells.n_items
        return self.model == "rasch" and is_complete and np.ptp(cells.attempts) == 0


def find_abilities(responses: Responses, suite: str, model: Model | None = None) -> Abilities:
    """Return abilities and items by an item response model.

    Args:
        responses: the answers.
        suite: their suite, for messages.
        model: "rasch" or "2pl"; if left out, the 2PL from 100 systems on, or where it predicts
            left-out answers better, else the Rasch model.

    Raises:
        BadInput: there are fewer than five systems, some have no item in common with the others,
            directly or through others, or the fit did not converge.
    """
    n_systems, n_items = responses.shape
    if n_systems < FEWEST_SYSTEMS:
        raise BadInput(
            f"{suite} has answers of {n_systems} system{'s' * (n_systems != 1)}; abilities need "
            f"{FEWEST_SYSTEMS} or more; `evalstore items {suite}` says what its items show"
        )
    of_cells = responses.system, responses.item, responses.passed, responses.attempts
    unsorted = Cells(*of_cells, n_systems, n_items)
    cells = unsorted.where(np.lexsort((responses.item, responses.system)))
    _check_connected(responses.systems, cells)
    chosen, gain = (model, None) if model else choose_model(cells)
    found = estimate(cells, chosen)
    fit_of_systems, fit_of_items = misfit(cells, found)
    values = [each.tolist() for each in (cells.system, cells.item, cells.passed, cells.attempts)]
    return Abilities(
        responses=responses,
        cells=cells,
        model=chosen,
        gain=gain,
        found=found,
        error=errors(cells, found, chosen),
        fit_of_systems=fit_of_systems,
        fit_of_items=fit_of_items,
        overlap=_overlap(cells),
        inputs=content_hash(list(responses.systems), list(responses.items), *values),
    )


def _check_connected(systems: Sequence[str], cells: Cells) -> None:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = cells.n_systems + cells.n_items
    edges = np.ones(len(cells.system)), (cells.system, cells.n_systems + cells.item)
    _, group = connected_components(coo_array(edges, shape=(n, n)), directed=False)
    is_apart = group[: cells.n_systems] != group[0]
    if is_apart.any():
        apart, rest = (
            _few_names([name for name, each in zip(systems, is_apart, strict=True) if each == of])
            for of in (True, False)
        )
        raise BadInput(
            f"no item links {apart} with {rest}: their abilities have no common scale; choose "
            "systems that answered the same items, such as by --task-set"
        )


def _few_names(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")


def _overlap(cells: Cells) -> Overlap:
    answered = cells.matrix(np.ones(len(cells.system)))
    n_items = np.bincount(cells.system)
    share = (answered @ answered.T).toarray() / n_items[:, np.newaxis]
    np.fill_diagonal(share, np.nan)
    first, second = np.unravel_index(np.nanargmin(share), share.shape)
    return Overlap(np.nanmean(share, axis=1), float(np.nanmin(share)), (int(first), int(second)))


def system_rows(abilities: Abilities) -> list[tuple[object, ...]]:
    """Return a row of `SYSTEM_COLUMNS` for each system, the ablest first.

    The ranks that the data leave open, from `rank_low` to `rank_high`, hold for all systems
    together with 95 %; each interval, with 95 %, for one.
    """
    cells, error = abilities.cells, abilities.error
    scores = Scores(
        # Equal systems are equal to the last digits but some.
        log_scores=np.round(abilities.found.ability, 3),
        covariance=error.covariance,
        n_votes=int(cells.attempts.sum()),
        n_clusters=cells.n_items,
        n_effective=cells.n_items,
    )
    ranks = vote_ranks(scores)
    columns = (
        *zip(*((each.rank, each.rank_low, each.rank_high) for each in ranks), strict=True),
        abilities.responses.systems,
        abilities.found.ability.tolist(),
        *zip(*(each.interval or (None, None) for each in ranks), strict=True),
        np.sqrt(np.diagonal(error.covariance)).tolist(),
        error.linking.tolist(),
        *_counts(abilities.responses, "system"),
        abilities.overlap.shared.tolist(),
        *(each.tolist() for each in abilities.fit_of_systems),
    )
    rows = [(*row, abilities.method, abilities.inputs) for row in zip(*columns, strict=True)]
    return sorted(rows, key=lambda row: (row[0], row[3]))


def item_rows(abilities: Abilities) -> list[tuple[object, ...]]:
    """Return a row of `ITEM_COLUMNS` for each item, the most difficult first."""
    found, error = abilities.found, abilities.error
    columns = (
        abilities.responses.items,
        found.difficulty.tolist(),
        error.difficulty.tolist(),
        found.slope.tolist(),
        (found.slope * error.log_slope).tolist(),
        *_counts(abilities.responses, "item"),
        *(each.tolist() for each in abilities.fit_of_items),
    )
    rows = [(*row, abilities.method, abilities.inputs) for row in zip(*columns, strict=True)]
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def _counts(
    responses: Responses, of: Literal["system", "item"]
) -> tuple[list[int], list[int], list[float | None]]:
    """Return answers and attempts of each system or item, and the mean share that passed.

    Adaptive runs have no such share, and count for none.
    """
    group, rated = getattr(responses, of), responses.rated()
    of_rated, n_groups = getattr(rated, of), int(group.max()) + 1
    n_rated = np.bincount(of_rated, minlength=n_groups)
    sums = np.bincount(of_rated, rated.passed / rated.attempts, n_groups)
    rates = [
        total / n if n else None for total, n in zip(sums.tolist(), n_rated.tolist(), strict=True)
    ]
    attempts = np.bincount(group, responses.attempts).astype(np.int64)
    return np.bincount(group).tolist(), attempts.tolist(), rates


def sentences(abilities: Abilities) -> Iterator[str]:
    """Return what a reader of the table has to know."""
    cells, systems = abilities.cells, abilities.responses.systems
    yield f"{_model_sentence(abilities)}."
    if abilities.is_pass_rate:
        yield (
            "Each system answered each item as often, so that abilities rank as the pass rates do."
        )
    shared, least, pair = abilities.overlap
    if least < 1:
        first, second = (systems[each] for each in pair)
        links = "; others link them" if least == 0 else ""
        yield (
            f"A system shares {whole_percent(shared.mean())} of its items with another on average, "
            f"{first} {whole_percent(least)} with {second}{links}: ability_low to ability_high "
            "allows for that."
        )
    rate = np.bincount(cells.system, cells.passed) / np.bincount(cells.system, cells.attempts)
    extreme = [name for name, each in zip(systems, rate, strict=True) if each in (0, 1)]
    if extreme:
        yield (
            f"All answers of {_few_names(extreme)} are alike, passed or failed: how able "
            f"{'it is' if len(extreme) == 1 else 'they are'} is known on one side only."
        )
    responses = abilities.responses
    if responses.is_adaptive.any():
        chosen = np.unique(responses.system[responses.is_adaptive])
        yield (
            f"The items of {_few_names([systems[each] for each in chosen])} were chosen by the "
            "answers: the share that passed is in no pass rate."
        )
    infit = abilities.fit_of_systems.infit
    if (cells.attempts > 1).any() and np.median(infit) > _HIGH_INFIT:
        yield (
            "Attempts at an item are more alike than the model has them, which the errors allow "
            "for: infit and outfit are above 1 for most systems, so compare them with each other."
        )
    if responses.n_unjudged:
        attempts = "attempt" if responses.n_unjudged == 1 else "attempts"
        yield f"Left out: {responses.n_unjudged:,} {attempts} without a verdict."


def _model_sentence(abilities: Abilities) -> str:
    """Return which model it is, and why."""
    gain = abilities.gain
    name = "2PL (items differ in slope)" if abilities.model == "2pl" else "Rasch model"
    if gain is None:
        many = abilities.cells.n_systems >= MANY_SYSTEMS and abilities.model == "2pl"
        return f"{name}{f': {abilities.cells.n_systems:,} systems are enough' if many else ''}"
    if abilities.model == "2pl":
        return f"{name}: it predicts left-out answers better, by {gain:.3f} nats per attempt"
    return f"{name}: with slopes of items, left-out answers are not predicted clearly better"
