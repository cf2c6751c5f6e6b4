"""Agreement of two annotators' records of a poster, and their differences, field by field."""

import json
from collections.abc import Iterator, Sequence

from warehouse.core.types import Row
from warehouse.engine.scoring.columns import parse_json, reason_of
from warehouse.engine.scoring.posters.matching import CORE, EventPairs
from warehouse.engine.scoring.posters.records.record import EVENT_FIELDS, TOP_FIELDS, read_record
from warehouse.engine.scoring.posters.records.text import normalise, normalise_handle

Pair = tuple[int | None, int | None]
Texts = Sequence[str | None]


def align(a: object, b: object) -> list[Pair]:
    """Pair the events of two records by the core fields; events without a partner are at the end.

    Indices count the events that are objects, from 0. Two events with neither date nor venue in
    common are not the same event, and are not paired.
    """
    ours, theirs = read_record(a).events, read_record(b).events
    pairs = EventPairs(ours, theirs)
    found = [
        (match.gold, match.prediction)
        for match in pairs.match(CORE)
        if match.prediction is not None and _is_same(ours[match.gold], theirs[match.prediction])
    ]
    only_a = set(range(len(ours))) - {index for index, _ in found}
    only_b = set(range(len(theirs))) - {index for _, index in found}
    return [
        *found,
        *((index, None) for index in sorted(only_a)),
        *((None, index) for index in sorted(only_b)),
    ]


def differences(a: object, b: object) -> list[Row]:
    """Return the fields in which two records differ, as scoring compares texts.

    A row has `field` and both values, NULL if a record has none. A field is `artist_name`,
    `events[2].venue`, or `events[2]` for a whole event; the index is that of the first record, or
    of the record that has the event.
    """
    ours, theirs = events_of(a), events_of(b)
    rows = [
        _row(name, _field(a, name), _field(b, name))
        for name in TOP_FIELDS
        if _text(name, _field(a, name)) != _text(name, _field(b, name))
    ]
    for index_a, index_b in align(a, b):
        if index_a is not None and index_b is not None:
            rows += _event_differences(index_a, ours[index_a], theirs[index_b])
        elif index_a is not None:
            rows.append(_row(f"events[{index_a}]", ours[index_a], None))
        elif index_b is not None:
            rows.append(_row(f"events[{index_b}]", None, theirs[index_b]))
    return rows


def compare(a: object, b: object) -> Row:
    """Count the events, dates and venues on which two records agree; see also `differences`."""
    ours, theirs = read_record(a).events, read_record(b).events
    date, venue = EVENT_FIELDS.index("date"), EVENT_FIELDS.index("venue")
    both = [(ours[x], theirs[y]) for x, y in align(a, b) if x is not None and y is not None]
    return {
        "events_a": len(ours),
        "events_b": len(theirs),
        "dates_equal": sum(x[date] == y[date] for x, y in both),
        "venues_equal": sum(x[venue] == y[venue] for x, y in both),
        "differences": differences(a, b),
    }


def compare_batch(records_a: Texts, records_b: Texts) -> list[Row | None]:
    """Apply `compare` to columns of JSON text; a record that cannot be read is a difference."""
    return [
        None if a is None or b is None else _compared(a, b)
        for a, b in zip(records_a, records_b, strict=True)
    ]


def events_of(record: object) -> list[dict[str, object]]:
    """Return the events of a record that are objects."""
    listed = record.get("events") if isinstance(record, dict) else None
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []


def _compared(a: str, b: str) -> Row:
    try:
        return compare(parse_json(a), parse_json(b))
    except (ValueError, RecursionError) as error:
        return {"differences": [_row("record", reason_of(error), None)]}


def _is_same(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    return any(a[at] == b[at] for at in map(EVENT_FIELDS.index, ("date", "venue")))


def _event_differences(index: int, a: Row, b: Row) -> Iterator[Row]:
    for name in EVENT_FIELDS:
        if normalise(a.get(name)) != normalise(b.get(name)):
            yield _row(f"events[{index}].{name}", a.get(name), b.get(name))


def _field(record: object, name: str) -> object:
    return record.get(name) if isinstance(record, dict) else None


def _text(name: str, value: object) -> str:
    return normalise_handle(value) if name == "instagram_handle" else normalise(value)


def _row(field: str, a: object, b: object) -> Row:
    return {"field": field, "value_a": _as_text(a), "value_b": _as_text(b)}


def _as_text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
