"""Assignment of predicted events to gold events by similarity."""

from collections.abc import Mapping, Sequence
from functools import partial
from operator import add
from typing import NamedTuple

from warehouse.engine.scoring.posters.hungarian import assign, find_cheapest
from warehouse.engine.scoring.posters.records.record import EVENT_FIELDS
from warehouse.engine.scoring.posters.records.text import string_score

EVENT_WEIGHTS = {
    "date": 0.3,
    "time": 0.05,
    "venue": 0.2,
    "city": 0.15,
    "province": 0.1,
    "country": 0.05,
    "event_name": 0.05,
    "ticket_info": 0.05,
    "status": 0.05,
}
CORE_EVENT_WEIGHTS = {
    "date": 0.375,
    "venue": 0.25,
    "city": 0.1875,
    "province": 0.125,
    "country": 0.0625,
}

Event = tuple[str, ...]
Scores = list[float]
_DATE = EVENT_FIELDS.index("date")
_EXACT_FIELDS = frozenset(("date", "time", "country", "status"))
_IS_EXACT = tuple(name in _EXACT_FIELDS for name in EVENT_FIELDS)
_ALL_EQUAL = [1.0] * len(EVENT_FIELDS)


class Terms:
    """Weights of event fields, in the order in which the weighted scores are added.

    Attributes:
        weighted: each weight with the index of its field in `EVENT_FIELDS`.
        other_day_floor: least possible cost of an event on another day than the gold event.
    """

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.weighted = tuple(
            (weight, EVENT_FIELDS.index(name)) for name, weight in weights.items()
        )
        self._weights = tuple([weights.get(name, 0.0) for name in EVENT_FIELDS])
        others_equal = [1.0] * len(EVENT_FIELDS)
        others_equal[_DATE] = 0.0
        self.other_day_floor = 1.0 - self.weigh(others_equal)

    def weigh(self, scores: Sequence[float]) -> float:
        """Add up the weighted scores from left to right."""
        # Unrolled: this is called most often. A weight of zero adds 0.0, which changes no bit.
        s = scores
        a, b, c, d, e, f, g, h, i = self._weights
        return (
            a * s[0] + b * s[1] + c * s[2] + d * s[3] + e * s[4]
            + f * s[5] + g * s[6] + h * s[7] + i * s[8]
        )  # fmt: skip


FULL = Terms(EVENT_WEIGHTS)
CORE = Terms(CORE_EVENT_WEIGHTS)


class Match(NamedTuple):
    """A gold event and the predicted event assigned to it.

    Attributes:
        gold: index of the gold event.
        prediction: index of the predicted event; None if there are fewer predicted events.
        similarity: 0.0 to 1.0 (or a rounding error above), 0.0 without a predicted event.
    """

    gold: int
    prediction: int | None
    similarity: float


class EventPairs:
    """The events of two records, and the scores of their pairs, computed on demand."""

    def __init__(self, gold: Sequence[Event], prediction: Sequence[Event]) -> None:
        self.gold, self.prediction = gold, prediction
        self.texts = list(zip(*prediction, strict=True))
        self._scores: dict[tuple[int, int], Scores] = {}

    def scores(self, gold: int, prediction: int) -> Scores:
        """Score each field of a pair of events, 0.0 to 1.0, in the order of `EVENT_FIELDS`."""
        known = self._scores.get((gold, prediction))
        if known is None:
            ours, theirs = self.gold[gold], self.prediction[prediction]
            known = _ALL_EQUAL if ours == theirs else _field_scores(ours, theirs)
            self._scores[gold, prediction] = known
        return known

    def similarity(self, gold: int, prediction: int, terms: Terms) -> float:
        """Return the weighted sum of a pair's scores, 0.0 to 1.0 (or a rounding error above)."""
        return terms.weigh(self.scores(gold, prediction))

    def match(self, terms: Terms) -> tuple[Match, ...]:
        """Assign predicted events to gold events so that the total similarity is greatest.

        There is one match per gold event, in their order. Any similarity makes a match, even 0.0.
        """
        if not self.gold or not self.prediction:
            return tuple([Match(index, None, 0.0) for index in range(len(self.gold))])
        costs = _EventCosts(self, terms)
        columns = assign(costs)
        return tuple(
            [
                Match(row, column, 0.0 if column is None else costs.similarity(row, column))
                for row, column in enumerate(columns)
            ]
        )


def _field_scores(gold: Event, prediction: Event) -> Scores:
    return [
        1.0 if ours == theirs else 0.0 if is_exact else string_score(ours, theirs)
        for is_exact, ours, theirs in zip(_IS_EXACT, gold, prediction, strict=True)
    ]


class _EventCosts:
    """Costs of the assignment, 1.0 - similarity, computed on demand.

    A floor assumes that unequal texts, which are slow to compare, are equal. Adding terms that are
    at least as large in the same order never gives a smaller sum, in floating point too, so a
    floor is never above the cost.
    """

    def __init__(self, pairs: EventPairs, terms: Terms) -> None:
        self.rows, self.columns = len(pairs.gold), len(pairs.prediction)
        self._pairs, self._terms = pairs, terms
        self._similarities: dict[tuple[int, int], float] = {}
        self._floors: dict[int, list[float]] = {}
        self._columns: dict[tuple[int, str | None], list[float]] = {}
        self._on_day: dict[str, int | None] = {}
        for column, event in enumerate(pairs.prediction):
            self._on_day[event[_DATE]] = None if event[_DATE] in self._on_day else column

    def settle(self, row: int, column: int) -> float:
        """Return the cost."""
        return 1.0 - self.similarity(row, column)

    def similarity(self, row: int, column: int) -> float:
        """Return the similarity, computed once."""
        known = self._similarities.get((row, column))
        if known is None:
            known = self._terms.weigh(self._pairs.scores(row, column))
            self._similarities[row, column] = known
        return known

    def cheapest(self, row: int) -> tuple[float, int]:
        """Return the row's least cost and the lowest column that has it.

        If only one event is on the gold event's day and it costs less than an event on another day
        can, the others need not be compared.
        """
        column = self._on_day.get(self._pairs.gold[row][_DATE])
        if column is not None:
            cost = self.settle(row, column)
            if cost < self._terms.other_day_floor:
                return cost, column
        return find_cheapest(list(self.floors(row)), partial(self.settle, row))

    def floors(self, row: int) -> list[float]:
        """Return a lower bound of each cost of the row."""
        if row not in self._floors:
            self._floors[row] = self._floor_row(self._pairs.gold[row])
        return self._floors[row]

    def _floor_row(self, event: Event) -> list[float]:
        totals = [0.0] * self.columns
        for weight, field in self._terms.weighted:
            totals = list(map(add, totals, self._highest(weight, field, event[field])))
        return [1.0 - total for total in totals]

    def _highest(self, weight: float, field: int, text: str) -> list[float]:
        """Return the highest weighted scores that a gold text could get in its field."""
        exact = _IS_EXACT[field] or not text
        key = (field, text if exact else None)
        if key not in self._columns:
            texts = self._pairs.texts[field]
            self._columns[key] = [weight * (t == text if exact else t != "") for t in texts]
        return self._columns[key]
