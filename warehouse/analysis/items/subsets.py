"""Subsets of a bank's items: chosen on some models, and judged on others.

A subset has one item from each band of difficulty, see `choose_items`. Choosing the items with the
smallest error on the models at hand did no better on others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from warehouse.analysis.items.bank import Bank, fit_bank, predict_scores
from warehouse.analysis.items.statistics import correlations
from warehouse.engine.statistics.distributions import normal_quantile, student_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.engine.statistics.arrays import Floats, Indices

LEVEL = 0.9  # of the intervals
# The interval of a model takes the errors of nine others: of eight, the largest is no 90 % bound.
MIN_MODELS = 10
N_DRAWS = 20
_MAX_FOLDS = 10
_MIN_ANSWERED = 0.9  # of the bank, by a model whose full score is known
_SEED = 23
_DIGITS = 6  # of figures that items are ordered by


class Answers(NamedTuple):
    """Answers of models to items: passed attempts and attempts, shape (models, items)."""

    passed: Floats
    attempts: Floats

    def models(self, chosen: Indices) -> Answers:
        """Return the answers of some models."""
        return Answers(self.passed[chosen], self.attempts[chosen])

    def only(self, items: Indices) -> Answers:
        """Return the answers to some items as if no others had been asked."""
        is_asked = np.zeros(self.attempts.shape[1])
        is_asked[items] = 1
        return Answers(self.passed * is_asked, self.attempts * is_asked)


@dataclass(frozen=True, slots=True)
class Judgement:
    """How well items predict the full scores of models that they were not chosen on.

    Attributes:
        errors: absolute errors of the predictions, shape (draws, models), from 0 to 1.
        half_widths: of their 90 % intervals.
    """

    errors: Floats
    half_widths: Floats

    @property
    def mae(self) -> float:
        """The mean absolute error."""
        return float(self.errors.mean())

    @property
    def coverage(self) -> float:
        """The share of intervals that have the full score."""
        return float((self.errors <= self.half_widths).mean())

    @property
    def half_width(self) -> float:
        """The mean half-width of the intervals."""
        return float(self.half_widths.mean())

    def gain_over(self, other: Judgement) -> tuple[float, float]:
        """Return the 95 % interval of how much smaller the error is than the other's, by model."""
        gains = other.errors.mean(axis=0) - self.errors.mean(axis=0)
        error = gains.std(ddof=1) / math.sqrt(len(gains))
        reach = student_quantile(0.975, len(gains) - 1) * error
        return float(gains.mean() - reach), float(gains.mean() + reach)


class Judgements(NamedTuple):
    """The chosen items, next to random ones with the same estimator and with the plain mean."""

    chosen: Judgement
    random: Judgement
    plain: Judgement
    factor: float
    n_models: int


@dataclass(frozen=True, slots=True)
class Fold:
    """Models that are left out, and the bank as fitted to the others.

    Attributes:
        bank: the parameters.
        train: the answers of the others.
        test: the models that are left out, of those whose full scores are known.
    """

    bank: Bank
    train: Answers
    test: Indices


# Predicts the scores of a fold's models: those, and their errors, shape (draws, models).
_Predict: TypeAlias = Callable[[Fold], tuple["Floats", "Floats"]]


def choose_items(bank: Bank, answers: Answers, n_items: int) -> Indices:
    """Choose items: of each band of difficulty one that follows abilities more closely than most.

    It is at the upper quartile of its band: of the few models of a store, the very closest item is
    so by chance. Items that all models or none passed are left out; there may be fewer than
    `n_items` others. Figures are rounded, so that the choice is the same on every machine.
    """
    passed, attempts = answers
    abilities = predict_scores(bank, passed, attempts).abilities
    shares = passed.sum(axis=0) / np.maximum(attempts.sum(axis=0), 1)
    closeness = _closeness(answers, abilities).round(_DIGITS)
    usable = np.flatnonzero((shares > 0) & (shares < 1))
    ordered = usable[np.lexsort((closeness[usable], shares[usable].round(_DIGITS)))]
    bands = np.array_split(ordered, min(n_items, len(ordered)))
    ranked = [band[np.argsort(closeness[band], kind="stable")] for band in bands]
    return np.array(sorted(band[3 * len(band) // 4] for band in ranked), dtype=np.int64)


def _closeness(answers: Answers, abilities: Floats) -> Floats:
    """Return the correlation of each item's answers with abilities; 0 where there is none."""
    model, item = np.nonzero(answers.attempts)
    shares = answers.passed[model, item] / answers.attempts[model, item]
    found = correlations(shares, abilities[model], item, answers.attempts.shape[1])
    return np.nan_to_num(found)


class Judge:
    """Judges subsets of a bank by cross-validation over models.

    Args:
        answers: the answers of all models.
        families: the family of each model; a family is never on both sides.
        has_guesses: whether items may be guessed.

    Attributes:
        answers: the answers of all models.
        n_models: models whose full scores are known.
        truth: full score of each model, from 0 to 1.
        folds: the folds.
    """

    def __init__(
        self, answers: Answers, families: Sequence[str], *, has_guesses: bool = False
    ) -> None:
        self.answers = answers
        self._has_guesses = has_guesses
        self._scored = answers.attempts > 0
        self._judged = np.flatnonzero(self._scored.mean(axis=1) >= _MIN_ANSWERED)
        self.n_models = len(self._judged)
        shares = answers.passed / np.maximum(answers.attempts, 1)
        self._shares = shares
        self.truth = shares.sum(axis=1) / np.maximum(self._scored.sum(axis=1), 1)
        self.folds = [self._fold(test) for test in _folds(families)]

    def judge(self, n_items: int) -> Judgements:
        """Judge the choice of so many items, next to random ones."""
        n_all = self.answers.attempts.shape[1]
        random = np.random.default_rng(_SEED)
        draws = [random.choice(n_all, n_items, replace=False) for _ in range(N_DRAWS)]
        chosen, factor = self._judgement(
            lambda fold: self._by_bank(fold, [choose_items(fold.bank, fold.train, n_items)])
        )
        by_bank, _ = self._judgement(lambda fold: self._by_bank(fold, draws))
        plain, _ = self._judgement(lambda fold: self._by_mean(fold, draws))
        return Judgements(chosen, by_bank, plain, factor, self.n_models)

    def factor(self, items: Indices) -> float:
        """Return how many standard errors the 90 % interval of a model asked these items has."""
        return self._judgement(lambda fold: self._by_bank(fold, [items]))[1]

    def smallest(self, half_width: float) -> tuple[int, Judgements] | None:
        """Return the size of a choice whose intervals are so narrow, by bisection.

        Those of one item less are not. Widths fall with the size but for the luck of the choice, so
        that a still smaller one may happen to do. None if no part of the bank that leaves an item
        out is enough.
        """
        low, high = 1, self.answers.attempts.shape[1] - 1
        found = None
        while low <= high:
            n_items = (low + high) // 2
            judged = self.judge(n_items)
            if judged.chosen.half_width <= half_width:
                found, high = (n_items, judged), n_items - 1
            else:
                low = n_items + 1
        return found

    def _fold(self, test: Indices) -> Fold:
        n_models = len(self.answers.attempts)
        train = self.answers.models(np.setdiff1d(np.arange(n_models), test))
        bank = fit_bank(*train, has_guesses=self._has_guesses)
        return Fold(bank, train, np.intersect1d(test, self._judged))

    def _judgement(self, predict: _Predict) -> tuple[Judgement, float]:
        """Return the judgement, and how many standard errors the interval of a new model has."""
        parts = [predict(fold) for fold in self.folds]
        models = np.concatenate([fold.test for fold in self.folds])
        scores, sds = (np.concatenate(each, axis=1) for each in zip(*parts, strict=True))
        errors = np.abs(scores - self.truth[models])
        distances = errors / np.maximum(sds, 1e-9)
        factors = np.stack(
            [interval_factor(np.delete(distances, n, axis=1)) for n in range(len(models))], axis=1
        )
        return Judgement(errors, factors * sds), float(interval_factor(distances).mean())

    def _by_bank(self, fold: Fold, subsets: Sequence[Indices]) -> tuple[Floats, Floats]:
        tested = self.answers.models(fold.test)
        found = [
            predict_scores(fold.bank, *tested.only(items), self._scored[fold.test])
            for items in subsets
        ]
        return np.stack([each.scores for each in found]), np.stack([each.errors for each in found])

    def _by_mean(self, fold: Fold, subsets: Sequence[Indices]) -> tuple[Floats, Floats]:
        n_all = self.answers.attempts.shape[1]
        scores, errors = [], []
        for items in subsets:
            answered = self._scored[np.ix_(fold.test, items)].sum(axis=1)
            sums = self._shares[np.ix_(fold.test, items)].sum(axis=1)
            scores.append(sums / np.maximum(answered, 1))
            # Agresti and Coull's variance: it is not 0 where all answers are equal.
            share = (sums + 2) / (answered + 4)
            left = (n_all - len(items)) / n_all
            errors.append(np.sqrt(share * (1 - share) / (answered + 4) * left))
        return np.stack(scores), np.stack(errors)


def interval_factor(distances: Floats) -> Floats:
    """Return how many standard errors a 90 % interval of another model reaches to either side.

    The conformal quantile of the distances of other models, in standard errors, along the last
    axis, and no less than that of a normal distribution; infinite for fewer than nine of them.
    """
    n_models = distances.shape[-1]
    rank = math.ceil(LEVEL * (n_models + 1))
    if rank > n_models:
        return np.full(distances.shape[:-1], np.inf)
    quantile = np.sort(distances, axis=-1)[..., rank - 1]
    return np.maximum(quantile, normal_quantile((1 + LEVEL) / 2))


def _folds(families: Sequence[str]) -> list[Indices]:
    """Return the models of each fold, families whole, in folds of about equal size."""
    members: dict[str, list[int]] = {}
    for model, family in enumerate(families):
        members.setdefault(family, []).append(model)
    folds: list[list[int]] = [[] for _ in range(min(_MAX_FOLDS, len(members)))]
    for models in sorted(members.values(), key=len, reverse=True):
        min(folds, key=len).extend(models)
    return [np.array(sorted(fold), dtype=np.int64) for fold in folds]
