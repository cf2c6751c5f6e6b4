"""Every gold and predicted event of a poster with its partner: they explain a score."""

from collections.abc import Iterator, Sequence

from warehouse.core.types import Row
from warehouse.engine.scoring.columns import parse_json, reason_of, write_json
from warehouse.engine.scoring.posters.matching import CORE, FULL, EventPairs, Terms
from warehouse.engine.scoring.posters.records.record import EVENT_FIELDS, read_record

Texts = Sequence[str | None]

_NO_FIELDS: Row = dict.fromkeys(EVENT_FIELDS)


def explain(gold: object, prediction: object) -> list[Row]:
    """Return the pairs of both assignments, gold events without a partner, and surplus events.

    A row has both events as JSON, their indices from 0, the similarity by all fields and by the
    core fields, and the score of each field. Only objects count as events. The similarity is 0.0
    for a gold event without a partner, and NULL for a surplus predicted event.
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
        predicted = match.prediction
        if predicted is None:
            yield _row(name, gold=match.gold, similarity=0.0, core_similarity=0.0)
            continue
        surplus.discard(predicted)
        yield _row(
            name,
            gold=match.gold,
            prediction=predicted,
            similarity=pairs.similarity(match.gold, predicted, FULL),
            core_similarity=pairs.similarity(match.gold, predicted, CORE),
            fields=dict(zip(EVENT_FIELDS, pairs.scores(match.gold, predicted), strict=True)),
        )
    for predicted in sorted(surplus):
        yield _row(name, prediction=predicted)


def _row(
    assignment: str,
    *,
    gold: int | None = None,
    prediction: int | None = None,
    similarity: float | None = None,
    core_similarity: float | None = None,
    fields: Row = _NO_FIELDS,
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
    """Return the events of a record as JSON, or as Python code if they contain NaN or infinity."""
    listed = record.get("events") if isinstance(record, dict) else None
    events = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    return [_text(event) for event in events]


def _text(event: dict[str, object]) -> str:
    try:
        return write_json(event)
    except ValueError:
        return repr(event)
