"""The scores of one predicted poster against its gold record."""

from dataclasses import dataclass

from warehouse.engine.scoring.posters.matching import CORE, FULL, EventPairs, Match
from warehouse.engine.scoring.posters.parts import (
    composite,
    date_agreement,
    event_count,
    missing_field_rate,
    missing_of_gold_rate,
    top_level,
)
from warehouse.engine.scoring.posters.records.record import EVENT_FIELDS, Record, read_record
from warehouse.engine.scoring.posters.records.schema import SchemaChecks, check_schema

_VENUE, _CITY, _PROVINCE, _COUNTRY = map(
    EVENT_FIELDS.index, ("venue", "city", "province", "country")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PosterScore:
    """Every sub-score of a prediction.

    Scores and rates are unrounded, and 0.0 to 1.0 unless stated otherwise.

    Attributes:
        pred_missing: there is no prediction (absent, not JSON, or null).
        parse_ok: the prediction is a JSON object.
        schema_valid: it passes the benchmark's check of keys and types; other keys are allowed.
        schema_strict: the same, without other keys.
        schema_exact: it follows the JSON Schema to the letter, with real calendar dates.
        gold_events, pred_events, event_diff: numbers of events, and their absolute difference.
        date_precision, date_recall, date_f1_raw: over the multisets of well-formed dates; None
            if neither side has dates, or either side is not an object.
        date_f1: `date_f1_raw` with 0.0 for None, for averages.
        event_count: 1 minus the difference in numbers of events over the larger number.
        event_match, venue, location: means over the gold events for the assignment by all fields.
        core_event_match, core_venue, core_location: the same for the assignment by core fields.
        top_level: weighted mean over the fields outside `events`.
        missing_field_rate: share of empty fields among date, venue, city and province of the
            predicted events, whatever the gold record has there.
        missing_of_gold_rate: share of the gold events' dates, venues, cities and provinces that the
            matched events lack; 0.0 if gold has none.
        structured: 0.7 for `schema_strict` and 0.3 for `parse_ok`.
        app_quality, app_core: the composites, 0 to 100.
        matches, core_matches: the assignments, a match per gold event.
        reason: what could not be used, or None.
    """

    pred_missing: bool
    parse_ok: bool
    schema_valid: bool
    schema_strict: bool
    schema_exact: bool
    gold_events: int
    pred_events: int
    event_diff: int
    date_precision: float | None
    date_recall: float | None
    date_f1_raw: float | None
    date_f1: float
    event_count: float
    event_match: float
    venue: float
    location: float
    core_event_match: float
    core_venue: float
    core_location: float
    top_level: float
    missing_field_rate: float
    missing_of_gold_rate: float
    structured: float
    app_quality: float
    app_core: float
    matches: tuple[Match, ...]
    core_matches: tuple[Match, ...]
    reason: str | None


@dataclass(frozen=True, slots=True)
class Prediction:
    """A prediction, ready for scoring.

    Attributes:
        record: its texts.
        checks: the results of the schema checks.
        is_missing: there is no prediction (absent, not JSON, or null).
    """

    record: Record
    checks: SchemaChecks
    is_missing: bool


def read_prediction(value: object) -> Prediction:
    """Read a parsed JSON value of any type; never raises."""
    return Prediction(read_record(value), check_schema(value), value is None)


def score_records(gold: Record, prediction: Prediction) -> PosterScore:
    """Score a prediction against its gold record; never raises for what a model wrote."""
    read, checks = prediction.record, prediction.checks
    pairs = EventPairs(gold.events, read.events)
    full, core = pairs.match(FULL), pairs.match(CORE)
    event_match, venue, location = _means(pairs, full)
    core_event_match, core_venue, core_location = _means(pairs, core)
    precision, recall, date_f1 = date_agreement(gold, read)
    parts = {
        "structured": 0.7 * checks.strict + 0.3 * read.is_object,
        "top_level": top_level(gold, read),
        "event_match": event_match,
        "event_count": event_count(len(gold.events), len(read.events)),
    }
    missing = missing_field_rate(gold, read)
    return PosterScore(
        pred_missing=prediction.is_missing,
        parse_ok=read.is_object,
        schema_valid=checks.valid,
        schema_strict=checks.strict,
        schema_exact=checks.exact,
        gold_events=len(gold.events),
        pred_events=len(read.events),
        event_diff=abs(len(gold.events) - len(read.events)),
        date_precision=precision,
        date_recall=recall,
        date_f1_raw=date_f1,
        date_f1=date_f1 or 0.0,
        event_count=parts["event_count"],
        event_match=event_match,
        venue=venue,
        location=location,
        core_event_match=core_event_match,
        core_venue=core_venue,
        core_location=core_location,
        top_level=parts["top_level"],
        missing_field_rate=missing,
        missing_of_gold_rate=missing_of_gold_rate(gold, read, full),
        structured=parts["structured"],
        app_quality=composite(parts, missing),
        app_core=composite(parts | {"event_match": core_event_match}, missing),
        matches=full,
        core_matches=core,
        reason=_reason(gold, read),
    )


def _means(pairs: EventPairs, found: tuple[Match, ...]) -> tuple[float, float, float]:
    """Return the means over the gold events of event match, venue and location, in gold order."""
    count = len(pairs.gold)
    if not count:
        return (0.0, 0.0, 0.0) if pairs.prediction else (1.0, 1.0, 1.0)
    total = venue = location = 0.0
    for match in found:
        if match.prediction is not None:
            scores = pairs.scores(match.gold, match.prediction)
            total += match.similarity
            venue += scores[_VENUE]
            location += (scores[_CITY] + scores[_PROVINCE] + scores[_COUNTRY]) / 3
    return total / count, venue / count, location / count


def _reason(gold: Record, prediction: Record) -> str | None:
    notes = [
        f"{side}: {record.note}"
        for side, record in (("gold", gold), ("prediction", prediction))
        if record.note
    ]
    return "; ".join(notes) or None
