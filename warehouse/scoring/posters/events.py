"""Every event of a poster and its prediction, with the pair it is in: why a score is what it is."""

from collections.abc import Iterator, Sequence
from typing import Any

from warehouse.scoring.columns import parse_json, reason_of, write_json
from warehouse.scoring.posters.matching import CORE, FULL, EventPairs, Terms
from warehouse.scoring.posters.record import EVENT_FIELDS, read_record
from warehouse.types import Row

Texts = Sequence[str | None]

_NO_FIELDS: Row = dict.fromkeys(EVENT_FIELDS)


def explain(gold: object, prediction: object) -> list[Row]:
    """List the pairs of both assignments, gold events without a partner, and surplus events.

    A row has both events as JSON (only objects are events, and indices, from 0, count those
    alone), the similarity by all fields and by the core fields, and the score of each field.
    A gold event without a partner has similarity 0.0; a surplus predicted event has none.
    """
    pairs = EventPairs(read_record(gold).events, read_record(prediction).events)
    ours, theirs = _texts(gold), _texts(prediction)
    return [
        {
            **row,
            "gold_event": None if row["gold_index"] is None else ours[row["gold_index"]],
            "predicted_event": None
            if row["predicted_index"] is None
            else theirs[row["predicted_index"]],
        }
        for name, terms in (("full", FULL), ("core", CORE))
        for row in _assignment(pairs, name, terms)
    ]


def explain_batch(golds: Texts, predictions: Texts) -> list[list[Row] | None]:
    """Apply `explain` to columns of JSON text; a prediction that cannot be read has no events."""
    return [
        None if gold is None else _explained(gold, text)
        for gold, text in zip(golds, predictions, strict=True)
    ]


def _explained(gold: str, prediction: str | None) -> list[Row]:
    try:
        return explain(parse_json(gold), _readable(prediction))
    except (ValueError, RecursionError) as error:
        return [{**_NO_FIELDS, "assignment": reason_of(error)}]


def _readable(text: str | None) -> object:
    try:
        return None if text is None else parse_json(text)
    except ValueError:
        return None


def _assignment(pairs: EventPairs, name: str, terms: Terms) -> Iterator[Row]:
    surplus = set(range(len(pairs.prediction)))
    for match in pairs.match(terms):
        place = match.prediction
        if place is None:
            yield _row(name, match.gold, None, 0.0, 0.0, _NO_FIELDS)
            continue
        surplus.discard(place)
        yield _row(
            name,
            match.gold,
            place,
            pairs.similarity(match.gold, place, FULL),
            pairs.similarity(match.gold, place, CORE),
            dict(zip(EVENT_FIELDS, pairs.scores(match.gold, place), strict=True)),
        )
    for place in sorted(surplus):
        yield _row(name, None, place, None, None, _NO_FIELDS)


def _row(  # noqa: PLR0917 - the columns of a row, in their order
    assignment: str,
    gold: int | None,
    prediction: int | None,
    similarity: float | None,
    core_similarity: float | None,
    fields: Row,
) -> Row:
    return {
        "assignment": assignment,
        "gold_index": gold,
        "predicted_index": prediction,
        "similarity": similarity,
        "core_similarity": core_similarity,
        **fields,
    }


def _texts(record: object) -> list[str]:
    """Write the events of a record as JSON; one that JSON cannot hold as Python writes it."""
    listed = record.get("events") if isinstance(record, dict) else None
    events = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    return [_text(event) for event in events]


def _text(event: dict[str, Any]) -> str:
    try:
        return write_json(event)
    except ValueError:
        return repr(event)
