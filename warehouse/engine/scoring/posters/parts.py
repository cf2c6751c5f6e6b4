"""The parts of a poster's score other than the matched events, and their weights."""

from warehouse.engine.scoring.posters.matching import Match
from warehouse.engine.scoring.posters.records.record import EVENT_FIELDS, TOP_FIELDS, Record
from warehouse.engine.scoring.posters.records.text import exact_score, string_score

TOP_WEIGHTS = {
    "artist_name": 0.35,
    "instagram_handle": 0.15,
    "tour_name": 0.2,
    "contact_info": 0.1,
    "source_month": 0.2,
}
QUALITY_WEIGHTS = {"structured": 0.4, "top_level": 0.15, "event_match": 0.35, "event_count": 0.1}
MISSING_FIELD_PENALTY = 10.0
_TOP_EXACT = ("instagram_handle", "source_month")
_REQUIRED = tuple(map(EVENT_FIELDS.index, ("date", "venue", "city", "province")))
_NO_EVENT = ("",) * len(EVENT_FIELDS)


def composite(parts: dict[str, float], missing_rate: float) -> float:
    """Return the weighted sum of the parts, less the penalty for missing fields: 0 to 100."""
    total = 0.0
    for name, weight in QUALITY_WEIGHTS.items():
        total += weight * parts[name]
    return max(0.0, min(100.0, 100.0 * total - MISSING_FIELD_PENALTY * missing_rate))


def top_level(gold: Record, prediction: Record) -> float:
    """Score the fields outside `events`; 0.0 if either record is not an object."""
    if not (gold.is_object and prediction.is_object):
        return 0.0
    total = weights = 0.0
    for name, ours, theirs in zip(TOP_FIELDS, gold.top, prediction.top, strict=True):
        compare = exact_score if name in _TOP_EXACT else string_score
        total += TOP_WEIGHTS[name] * compare(ours, theirs)
        weights += TOP_WEIGHTS[name]
    return total / weights


def event_count(gold: int, prediction: int) -> float:
    """Score the number of events: 1.0 if equal, less the difference over the larger number."""
    return max(0.0, 1.0 - abs(gold - prediction) / max(gold, prediction, 1))


def date_agreement(
    gold: Record, prediction: Record
) -> tuple[float | None, float | None, float | None]:
    """Return precision, recall and F1 of the dates; None if they are undefined."""
    if not (gold.is_object and prediction.is_object) or not (gold.dates or prediction.dates):
        return None, None, None
    shared = sum(min(count, prediction.dates[date]) for date, count in gold.dates.items())
    precision = shared / max(prediction.dates.total(), 1)
    recall = shared / max(gold.dates.total(), 1)
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0


def missing_field_rate(gold: Record, prediction: Record) -> float:
    """Return the share of empty fields among the required fields of all predicted events.

    It is 0.0 if gold has no events, 1.0 if only the prediction has none.
    """
    if not gold.events:
        return 0.0
    if not prediction.events:
        return 1.0
    empty = sum(not event[at] for event in prediction.events for at in _REQUIRED)
    return empty / (len(_REQUIRED) * len(prediction.events))


def missing_of_gold_rate(gold: Record, prediction: Record, found: tuple[Match, ...]) -> float:
    """Return the share of gold's required fields that are empty in the matched events."""
    present = missing = 0
    for match in found:
        wanted = gold.events[match.gold]
        given = _NO_EVENT if match.prediction is None else prediction.events[match.prediction]
        for at in _REQUIRED:
            if wanted[at]:
                present += 1
                missing += not given[at]
    return missing / present if present else 0.0
