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

# Of the responses that were read before, each verdict of a system on a task.
_ASKED = """
CREATE OR REPLACE TEMP TABLE asked_cells AS
SELECT
    row_number() OVER () AS cell, board.entry, asked.task_id, asked.task_set, asked.item,
    asked.system, hash(asked.task_set, asked.item) AS item_key
FROM loaded_responses AS asked
JOIN scores.board_runs AS board
    ON asked.suite = board.suite
    AND asked.run_id = board.run_id
    AND asked.task_set = board.task_set
    AND asked.provider IS NOT DISTINCT FROM board.provider
    AND asked.model IS NOT DISTINCT FROM board.model
    AND asked.settings = board.settings
WHERE
    asked.suite = $suite AND ($task_set IS NULL OR asked.task_set = $task_set)
    AND asked.metric = 'passed' AND asked.scorer IS NULL AND asked.filter IS NULL
"""
# The answers, as the view `item_answers` has them, that pass nowhere at their item. Answers are
# compared by their hashes: most are different texts, which would take three times as long.
_FAILED = """
CREATE OR REPLACE TEMP TABLE failed_answers AS
WITH given AS MATERIALIZED (
    SELECT
        cells.cell, hash(cells.item_key, answers.answer) AS answer_key, answers.passed,
        if(answers.passed, NULL, answers.answer) AS failed_answer
    FROM scores.board_answers AS answers
    JOIN asked_cells AS cells USING (entry, task_id)
    WHERE answers.suite = $suite
)

SELECT cell, answer_key, any_value(failed_answer) AS answer, count(*) AS n_failed
FROM given
ANTI JOIN (FROM given WHERE passed) AS passing USING (answer_key)
WHERE failed_answer IS NOT NULL
GROUP BY cell, answer_key
"""
_ANSWERS = """
SELECT
    systems.position * $n_items + items.position AS cell,
    failed.answer_key,
    CAST(failed.n_failed AS DOUBLE) AS n_failed
FROM failed_answers AS failed
JOIN asked_cells AS cells USING (cell)
JOIN response_systems AS systems USING (system)
JOIN response_items AS items USING (item)
WHERE cells.task_set = $task_set
"""
# Which of several answers comes first depends on their texts only where two systems gave them.
_SHARED = """
SELECT answer_key, any_value(answer) AS answer
FROM failed_answers
JOIN asked_cells AS cells USING (cell)
WHERE cells.task_set = $task_set
GROUP BY answer_key
HAVING count(*) > 1
ORDER BY answer
"""
# Of a key being wrong, before the answers are looked at: chosen by the simulation in docs/items.md.
PRIOR = 0.1
_SUSPECTED = 0.5  # wrong more probably than not
# With only two answers, all that fail agree, so that the probability is nearer to the prior.
_SUSPECTED_OF_TWO = 0.25
_OF_TWO = 0.9  # how often failed answers are the same there, but for a few that are neither
_SLOPES = (0.35, 0.7, 1.4, 2.8)  # of the logit of passing one item, by that of passing the others
_ROUNDS = 20  # of the estimate of how often each slope is in the bank
_NODES = 17  # of the difficulty, over 4 standard deviations on each side
_MIN_SPREAD = 0.5  # logits
_MIN_AGREEING = 2  # systems
_MOST_SHARED, _MOST_CERTAIN = 0.98, 50.0
_CERTAINTY = 2.0  # of the Beta prior of guesses that hit a wrong key


@dataclass(frozen=True, slots=True)
class FailedAnswers:
    """Answers that did not pass, and pass nowhere at their item.

    Attributes:
        cell: of each answer of a system to an item, the position of their cell in the responses.
        answer: position in `texts`; equal answers to two items are two.
        share: share of the system's attempts at the item that gave this answer.
        texts: the different answers to each item, those to an item in their order; None of one that
            was given once.
    """

    cell: Indices
    answer: Indices
    share: Floats
    texts: Sequence[str | None]


@dataclass(frozen=True, slots=True)
class RivalAnswers:
    """The most frequent failed answer to each item, in the order of the responses' items.

    Attributes:
        answer: position in the texts of the answers; -1 where fewer than two systems agree.
        n_agreeing: systems that gave it, where attempts differ in part.
        probability: of this answer being right and the key wrong; NaN without such an answer, or
            where fewer than 8 systems were asked.
        suspected_from: probability from which a key is suspected.
        rate_of_agreeing: share of the other items that the systems pass which gave this answer.
        rate_of_passing: the same of the systems that pass the item; NaN where none does.
    """

    answer: Indices
    n_agreeing: Floats
    probability: Floats
    suspected_from: float
    rate_of_agreeing: Floats
    rate_of_passing: Floats

    @property
    def is_suspected(self) -> npt.NDArray[np.bool_]:
        """Whether the key of each item is suspected to be wrong."""
        return self.probability >= self.suspected_from


def load_answers(
    connection: duckdb.DuckDBPyConnection, suite: str, task_set: str | None = None
) -> None:
    """Read what systems answered where they did not pass into the table `failed_answers`.

    Args:
        connection: the warehouse, with what `load_responses` left in it.
        suite: the suite that it read.
        task_set: only this task set.
    """
    connection.execute(_ASKED, {"suite": suite, "task_set": task_set})
    connection.execute(_FAILED, {"suite": suite})


def read_answers(
    connection: duckdb.DuckDBPyConnection, responses: Responses, task_set: str
) -> FailedAnswers:
    """Return what systems answered where they did not pass.

    Args:
        connection: the warehouse, with what `load_answers` and `responses_of_set` left in it.
        responses: the last that were read.
        task_set: their task set.
    """
    n_items = responses.shape[1]
    values = {"task_set": task_set, "n_items": n_items}
    columns = connection.execute(_ANSWERS, values).fetchnumpy()
    shared = connection.execute(_SHARED, {"task_set": task_set}).fetchnumpy()
    keys, at = np.unique(columns["answer_key"], return_inverse=True)
    # Those with a text come first, in the order of their texts.
    n_shared = len(shared["answer"])
    at_shared = np.searchsorted(keys, shared["answer_key"])
    is_single = np.ones(len(keys), dtype=bool)
    is_single[at_shared] = False
    position = n_shared - 1 + np.cumsum(is_single)
    position[at_shared] = np.arange(n_shared)
    texts = [*shared["answer"].tolist(), *[None] * (len(keys) - n_shared)]
    cell = np.searchsorted(responses.system * n_items + responses.item, columns["cell"])
    share = np.minimum(np.asarray(columns["n_failed"]) / responses.attempts[cell], 1)
    return FailedAnswers(cell, position[at], share, texts)


def rival_answers(responses: Responses, answers: FailedAnswers) -> RivalAnswers:
    """Return the most frequent failed answer to each item, and whether it may be the right one."""
    n_items = responses.shape[1]
    item = np.zeros(len(answers.texts), dtype=np.int64)
    item[answers.answer] = responses.item[answers.cell]
    given = np.bincount(answers.answer, answers.share, len(item)).astype(np.float64)
    rival, agreeing = np.full(n_items, -1, dtype=np.int64), np.zeros(n_items)
    order = np.lexsort((-np.arange(len(item)), given))
    rival[item[order]], agreeing[item[order]] = order, given[order]  # of several, the last is kept
    rival[agreeing < _MIN_AGREEING] = -1
    is_rival = rival[item[answers.answer]] == answers.answer
    share = np.where(is_rival, answers.share, 0)
    gives = np.bincount(answers.cell, share, len(responses.item)).astype(np.float64)
    rest = rest_shares(responses)
    agreement = _agreement(item, given, n_items)
    probability = _probabilities(responses, rest, gives, agreement)
    n = np.bincount(responses.item, minlength=n_items)
    probability[(rival < 0) | (n < MIN_TESTED)] = np.nan
    passes = responses.passed / responses.attempts
    rates = (_weighted_means(responses, rest, weights) for weights in (gives, passes))
    suspected_from = _SUSPECTED if agreement < _OF_TWO else _SUSPECTED_OF_TWO
    return RivalAnswers(rival, agreeing, probability, suspected_from, *rates)


def _probabilities(responses: Responses, rest: Floats, gives: Floats, agreement: float) -> Floats:
    """Return the probability that the key is wrong, given who passes and who gives the rival.

    Args:
        responses: who passes.
        rest: of each cell, the share of the other items that its system passes.
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
    fails = np.maximum(n - n_passing - n_giving, 0)
    if_right, if_wrong = _marginals(responses, _logits(rest, n_items), (passes, gives))
    if_right += betaln(alpha + n_giving, beta + fails) - betaln(alpha, beta)
    hit, missed = _CERTAINTY * agreement, _CERTAINTY * (1 - agreement)
    if_wrong += betaln(hit + n_passing, missed + fails) - betaln(hit, missed)
    probability: Floats = expit(if_wrong - if_right + np.log(PRIOR / (1 - PRIOR)))
    return probability


def _marginals(
    responses: Responses, ability: Floats, outcomes: Sequence[Floats]
) -> tuple[Floats, ...]:
    """Return for each item the log-likelihood of each outcome, over difficulties and slopes.

    The outcome is logistic in the ability. The prior of the difficulty is normal, with the mean and
    the spread of the whole bank; that of the slope is how often each is in the bank, by the first
    outcome: where items follow abilities closely, a few answers say more.
    """
    from scipy.special import logsumexp

    item, n_items = responses.item, responses.shape[1]
    n = np.bincount(item, minlength=n_items)
    passed = np.bincount(item, responses.passed / responses.attempts, n_items)
    of_items = np.log((passed + 0.5) / (n - passed + 0.5))[n > 0]
    nodes = np.linspace(-4, 4, _NODES)
    easiness = of_items.mean() + max(float(of_items.std()), _MIN_SPREAD) * nodes
    centred = ability - ability.mean()
    grid = np.array([(slope, node) for slope in _SLOPES for node in easiness])
    # Logits of this size do not overflow; `np.logaddexp` takes three times as long.
    normaliser = np.array(
        [
            np.bincount(item, np.log(1 + np.exp(slope * centred + node)), n_items)
            for slope, node in grid
        ]
    )
    log_weights = -(nodes**2) / 2
    log_weights -= logsumexp(log_weights)
    by_slope = []
    for outcome in outcomes:
        sums = [np.bincount(item, each, n_items) for each in (outcome * centred, outcome)]
        joint = (grid @ np.array(sums) - normaliser).reshape(len(_SLOPES), _NODES, n_items)
        by_slope.append(logsumexp(joint + log_weights[:, np.newaxis], axis=1))
    shares = np.log(_slope_shares(by_slope[0]))[:, np.newaxis]
    return tuple(logsumexp(each + shares, axis=0) for each in by_slope)


def _slope_shares(log_likelihoods: Floats) -> Floats:
    """Return how often each slope is in the bank, by expectation and maximisation.

    Each slope counts as one item more, so that a small bank has all of them.
    """
    from scipy.special import softmax

    n_slopes, n_items = log_likelihoods.shape
    shares: Floats = np.full(n_slopes, 1 / n_slopes)
    for _ in range(_ROUNDS):
        posterior = softmax(log_likelihoods + np.log(shares)[:, np.newaxis], axis=0)
        shares = (posterior.sum(axis=1) + 1) / (n_items + n_slopes)
    return shares


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


def _agreement(item: Indices, given: Floats, n_items: int) -> float:
    """Return how often two failed answers to an item are the same, as a mean over the items."""
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
