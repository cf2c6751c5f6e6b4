"""How two people's records of the same poster agree, and where they differ, field by field."""

import json
from collections.abc import Iterator, Sequence

from warehouse.scoring.columns import parse_json, reason_of
from warehouse.scoring.posters.matching import CORE, EventPairs
from warehouse.scoring.posters.record import EVENT_FIELDS, TOP_FIELDS, read_record
from warehouse.scoring.posters.text import normalise, normalise_handle
from warehouse.types import Row

Pair = tuple[int | None, int | None]
Texts = Sequence[str | None]


def align(a: object, b: object) -> list[Pair]:
    """Pair the events of two records by the core fields; events left over stand alone, at the end.

    Indices count the events that are objects, from 0. Two events that have neither date nor venue
    in common are not the same evening, and stand alone too.
    """
    ours, theirs = read_record(a).events, read_record(b).events
    pairs = EventPairs(ours, theirs)
    found = [
        (match.gold, match.prediction)
        for match in pairs.match(CORE)
        if match.prediction is not None and _is_same(ours[match.gold], theirs[match.prediction])
    ]
    alone_a = set(range(len(ours))) - {place for place, _ in found}
    alone_b = set(range(len(theirs))) - {place for _, place in found}
    return [
        *found,
        *((at, None) for at in sorted(alone_a)),
        *((None, at) for at in sorted(alone_b)),
    ]


def differences(a: object, b: object) -> list[Row]:
    """List the fields in which two records differ, as scoring compares texts.

    A row has `field` (`artist_name`, `events[2].venue`; a whole event as `events[2]`, counted in
    the record that has it, the first where both do) and both values, NULL where one has none.
    """
    ours, theirs = events_of(a), events_of(b)
    rows = [
        _row(name, _field(a, name), _field(b, name))
        for name in TOP_FIELDS
        if _text(name, _field(a, name)) != _text(name, _field(b, name))
    ]
    for place_a, place_b in align(a, b):
        if place_a is None or place_b is None:
            place = place_a if place_a is not None else place_b
            alone_a = None if place_a is None else ours[place_a]
            alone_b = None if place_b is None else theirs[place_b]
            rows.append(_row(f"events[{place}]", alone_a, alone_b))
            continue
        rows += _event_differences(place_a, ours[place_a], theirs[place_b])
    return rows


def compare(a: object, b: object) -> Row:
    """Count what two records agree on, and list where they differ; see `differences`."""
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


def compare_batch(ones: Texts, others: Texts) -> list[Row | None]:
    """Apply `compare` to columns of JSON text; a record that cannot be read is a difference."""
    return [
        None if a is None or b is None else _compared(a, b)
        for a, b in zip(ones, others, strict=True)
    ]


def events_of(record: object) -> list[dict[str, object]]:
    """Give the events of a record that are objects."""
    listed = record.get("events") if isinstance(record, dict) else None
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []


def _compared(a: str, b: str) -> Row:
    try:
        return compare(parse_json(a), parse_json(b))
    except (ValueError, RecursionError) as error:
        return {"differences": [_row("record", reason_of(error), None)]}


def _is_same(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    places = (EVENT_FIELDS.index("date"), EVENT_FIELDS.index("venue"))
    return any(a[place] == b[place] for place in places)


def _event_differences(place: int, a: Row, b: Row) -> Iterator[Row]:
    for name in EVENT_FIELDS:
        if normalise(a.get(name)) != normalise(b.get(name)):
            yield _row(f"events[{place}].{name}", a.get(name), b.get(name))


def _field(record: object, name: str) -> object:
    return record.get(name) if isinstance(record, dict) else None


def _text(name: str, value: object) -> str:
    return normalise_handle(value) if name == "instagram_handle" else normalise(value)


def _row(field: str, a: object, b: object) -> Row:
    return {"field": field, "value_a": _shown(a), "value_b": _shown(b)}


def _shown(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
