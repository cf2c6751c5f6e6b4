"""Wrong keys: items where able systems agree on an answer that does not pass.

For each item two explanations of the same responses are compared. Either the key is right: systems
that are able enough pass, and of those that fail some share gives the most frequent failed answer,
which may attract many. Or that answer is right: able systems give it, and who passes has guessed
the key. How well each explains the responses is averaged over how hard the item may be, how much
it depends on ability, and how far failed answers of this bank agree (Bayes' rule).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warehouse.analysis.items.statistics import MIN_TESTED, rest_shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb
    import numpy.typing as npt

    from warehouse.analysis.items.responses import Responses
    from warehouse.engine.statistics.arrays import Floats, Indices

_ANSWERS = """
SELECT system, item, answer, CAST(sum(n_passed) AS DOUBLE) AS passed,
    CAST(sum(n_failed) AS DOUBLE) AS failed
FROM item_answers
WHERE suite = $suite AND ($task_set IS NULL OR task_set = $task_set) AND answer IS NOT NULL
GROUP BY system, item, answer
ORDER BY item, answer, system
"""
# Of a key being wrong, before the answers are looked at: chosen by the simulation in docs/items.md.
PRIOR = 0.1
SUSPECTED = 0.5  # wrong more probably than not
_SLOPES = (0.5, 1.0, 2.0)  # of the logit of passing one item, by that of passing the others
_NODES = 17  # of the difficulty, over 4 standard deviations on each side
_MIN_SPREAD = 0.5  # logits
_MIN_AGREEING = 2  # systems
_MOST_SHARED, _MOST_CERTAIN = 0.98, 50.0
_CERTAINTY = 2.0  # of the Beta prior of guesses that hit a wrong key


@dataclass(frozen=True, slots=True)
class FailedAnswers:
    """Answers that did not pass, and pass nowhere at their item.

    Attributes:
        system: of each answer of a system to an item, the position of the system in the responses.
        item: position of the item.
        answer: position in `texts`.
        share: share of the system's attempts at the item that gave this answer.
        texts: the different answers.
    """

    system: Indices
    item: Indices
    answer: Indices
    share: Floats
    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class RivalAnswers:
    """The most frequent failed answer to each item, in the order of the responses' items.

    Attributes:
        answer: position in the texts of the answers; -1 where fewer than two systems agree.
        n_agreeing: systems that gave it, where attempts differ in part.
        probability: of this answer being right and the key wrong; NaN without such an answer, or
            where fewer than 8 systems were asked.
        rate_of_agreeing: share of the other items that the systems pass which gave this answer.
        rate_of_passing: the same of the systems that pass the item; NaN where none does.
    """

    answer: Indices
    n_agreeing: Floats
    probability: Floats
    rate_of_agreeing: Floats
    rate_of_passing: Floats


def read_answers(
    connection: duckdb.DuckDBPyConnection,
    responses: Responses,
    suite: str,
    *,
    task_set: str | None = None,
) -> FailedAnswers:
    """Read what the systems of the responses answered where they did not pass."""
    values = {"suite": suite, "task_set": task_set}
    rows = connection.execute(_ANSWERS, values).fetchnumpy()
    system, item = (
        _positions(rows[name], known)
        for name, known in (("system", responses.systems), ("item", responses.items))
    )
    texts, answer = np.unique(np.asarray(rows["answer"], dtype=object), return_inverse=True)
    passes = _sums_by_answer(item, answer, np.asarray(rows["passed"])) > 0
    cell = _cells(responses, system, item)
    failed = np.asarray(rows["failed"])
    kept = (cell >= 0) & ~passes & (failed > 0)
    share = np.minimum(failed[kept] / responses.attempts[cell[kept]], 1)
    return FailedAnswers(system[kept], item[kept], answer[kept], share, texts.tolist())


def rival_answers(responses: Responses, answers: FailedAnswers) -> RivalAnswers:
    """Return the most frequent failed answer to each item, and whether it may be the right one."""
    n_items = responses.shape[1]
    order, agreeing = _most_frequent(answers, n_items)
    rival = np.where(agreeing >= _MIN_AGREEING, order, -1)
    is_rival = rival[answers.item] == answers.answer
    gives = np.zeros(len(responses.item))
    cells = _cells(responses, answers.system[is_rival], answers.item[is_rival])
    np.add.at(gives, cells, answers.share[is_rival])
    probability = _probabilities(responses, gives, _agreement(answers, n_items))
    n = np.bincount(responses.item, minlength=n_items)
    probability[(rival < 0) | (n < MIN_TESTED)] = np.nan
    rest = rest_shares(responses)
    passes = responses.passed / responses.attempts
    rates = (_weighted_means(responses, rest, weights) for weights in (gives, passes))
    return RivalAnswers(rival, agreeing, probability, *rates)


def _probabilities(responses: Responses, gives: Floats, agreement: float) -> Floats:
    """Return the probability that the key is wrong, given who passes and who gives the rival.

    Args:
        responses: who passes.
        gives: of each cell, the share of attempts that gave the most frequent failed answer.
        agreement: how often two failed answers to an item are the same.
    """
    from scipy.special import betaln, expit

    n_items = responses.shape[1]
    passes = responses.passed / responses.attempts
    n, n_passing, n_giving = (
        np.bincount(responses.item, weights, n_items).astype(np.float64)
        for weights in (np.ones_like(passes), passes, gives)
    )
    alpha, beta = _shared_prior(n - n_passing, n_giving)
    fails = n - n_passing - n_giving
    ability = _logits(rest_shares(responses), responses.shape[1])
    if_right = _marginal(responses, passes, ability) + (
        betaln(alpha + n_giving, beta + np.maximum(fails, 0)) - betaln(alpha, beta)
    )
    hit, missed = _CERTAINTY * agreement, _CERTAINTY * (1 - agreement)
    if_wrong = _marginal(responses, gives, ability) + (
        betaln(hit + n_passing, missed + np.maximum(fails, 0)) - betaln(hit, missed)
    )
    probability: Floats = expit(if_wrong - if_right + np.log(PRIOR / (1 - PRIOR)))
    return probability


def _marginal(responses: Responses, outcome: Floats, ability: Floats) -> Floats:
    """Return for each item the log-likelihood of its outcomes, over difficulties and slopes.

    The outcome is logistic in the ability; the prior of the difficulty is normal, with the mean and
    the spread of the whole bank.
    """
    n_items = responses.shape[1]
    n = np.bincount(responses.item, minlength=n_items)
    passed = np.bincount(responses.item, responses.passed / responses.attempts, n_items)
    easiness = np.log((passed + 0.5) / (n - passed + 0.5))[n > 0]
    mean, spread = float(easiness.mean()), max(float(easiness.std()), _MIN_SPREAD)
    nodes = np.linspace(-4, 4, _NODES)
    log_weights = -(nodes**2) / 2
    log_weights -= np.log(np.exp(log_weights).sum() * len(_SLOPES))
    centred = ability - ability.mean()
    total = np.full(n_items, -np.inf)
    for slope in _SLOPES:
        for node, log_weight in zip(nodes, log_weights, strict=True):
            logit = slope * centred + mean + spread * node
            of_cells = outcome * logit - np.logaddexp(0, logit)
            likelihood = np.bincount(responses.item, of_cells, n_items)
            total = np.logaddexp(total, likelihood + log_weight)
    return total


def _shared_prior(n_failing: Floats, n_giving: Floats) -> tuple[float, float]:
    """Return the Beta prior of the share of failed answers that are the most frequent one.

    By the moments of the bank: where there are only two answers, all failed ones are the same.
    """
    known = n_failing >= _MIN_AGREEING
    if not known.any():
        return 1.0, 1.0
    shares = n_giving[known] / n_failing[known]
    mean = float(np.clip(shares.mean(), 1 - _MOST_SHARED, _MOST_SHARED))
    certainty = mean * (1 - mean) / max(float(shares.var()), 1e-3) - 1
    certainty = float(np.clip(certainty, 0.5, _MOST_CERTAIN))
    return mean * certainty, (1 - mean) * certainty


def _agreement(answers: FailedAnswers, n_items: int) -> float:
    """Return how often two failed answers to an item are the same, as a mean over the items."""
    item, _, given = _by_answer(answers)
    failed = np.bincount(item, given, n_items)
    pairs, same = failed * (failed - 1), np.bincount(item, given * (given - 1), n_items)
    known = failed >= _MIN_AGREEING
    mean = float((same[known] / pairs[known]).mean()) if known.any() else 0.5
    return float(np.clip(mean, 1 - _MOST_SHARED, _MOST_SHARED))


def _weighted_means(responses: Responses, values: Floats, weights: Floats) -> Floats:
    """Return the weighted mean of the cells of each item; NaN where all weights are 0."""
    known = ~np.isnan(values)
    sums, totals = (
        np.bincount(responses.item[known], each[known], responses.shape[1])
        for each in (values * weights, weights)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        means: Floats = np.where(totals > 0, sums / totals, np.nan)
    return means


def _logits(shares: Floats, n_items: int) -> Floats:
    """Return shares as logits, half an item away from none and all; unknown ones as the mean."""
    least = 0.5 / max(n_items, 2)
    is_known = ~np.isnan(shares)
    mean = float(shares[is_known].mean()) if is_known.any() else 0.5
    known = np.where(is_known, shares, mean)
    inside = np.clip(known, least, 1 - least)
    logits: Floats = np.log(inside / (1 - inside))
    return logits


def _most_frequent(answers: FailedAnswers, n_items: int) -> tuple[Indices, Floats]:
    """Return the answer to each item that most systems gave, and how many; the first by text."""
    best, agreeing = np.full(n_items, -1, dtype=np.int64), np.zeros(n_items)
    item, answer, given = _by_answer(answers)
    order = np.lexsort((-answer, given))  # of several, the last is kept: the most, the first text
    best[item[order]] = answer[order]
    agreeing[item[order]] = given[order]
    return best, agreeing


def _by_answer(answers: FailedAnswers) -> tuple[Indices, Indices, Floats]:
    """Return the different pairs of item and answer, and how many systems gave each."""
    pairs, place = np.unique(np.stack([answers.item, answers.answer]), axis=1, return_inverse=True)
    given = np.bincount(place.ravel(), answers.share, pairs.shape[1])
    return pairs[0], pairs[1], given.astype(np.float64)


def _sums_by_answer(item: Indices, answer: Indices, values: Floats) -> Floats:
    """Return for each row the sum over the rows of the same answer to the same item."""
    pairs = item * (answer.max(initial=0) + 1) + answer
    _, place = np.unique(pairs, return_inverse=True)
    sums: Floats = np.bincount(place, values)[place].astype(np.float64)
    return sums


def _positions(names: npt.NDArray[np.object_], known: Sequence[str]) -> Indices:
    """Return the position of each name among sorted names; -1 where it is not one of them."""
    numbers = {name: number for number, name in enumerate(known)}
    return np.array([numbers.get(name, -1) for name in names], dtype=np.int64)


def _cells(responses: Responses, system: Indices, item: Indices) -> Indices:
    """Return the positions of the cells of these systems and items; -1 where one is not filled."""
    n_items = responses.shape[1]
    filled, wanted = responses.system * n_items + responses.item, system * n_items + item
    order = np.argsort(filled)
    place = np.minimum(np.searchsorted(filled, wanted, sorter=order), max(len(filled) - 1, 0))
    cell = order[place]
    found: Indices = np.where((filled[cell] == wanted) & (system >= 0) & (item >= 0), cell, -1)
    return found
