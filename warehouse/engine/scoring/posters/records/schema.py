"""Checks that a predicted poster has the keys and types that the prompt demands."""

import re
from collections.abc import Callable, Iterable
from datetime import date
from functools import partial
from typing import Any, NamedTuple, TypeAlias

Schema: TypeAlias = dict[str, Any]  # a node of a JSON Schema: any JSON by keyword

STATUSES = ("active", "cancelled", "postponed")

_NULLABLE_TEXT = {"type": ["string", "null"]}
_CONFIDENCE = {"type": "number", "minimum": 0, "maximum": 1}


def _object(properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


POSTER_SCHEMA: Schema = _object(
    {
        "artist_name": {"type": "string"},
        "instagram_handle": _NULLABLE_TEXT,
        "tour_name": _NULLABLE_TEXT,
        "contact_info": _NULLABLE_TEXT,
        "source_month": {"type": "string", "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])$"},
        "poster_confidence": _CONFIDENCE,
        "events": {
            "type": "array",
            "items": _object(
                {
                    "date": {
                        "type": "string",
                        "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
                        "format": "date",
                    },
                    "event_name": _NULLABLE_TEXT,
                    "venue": _NULLABLE_TEXT,
                    "city": _NULLABLE_TEXT,
                    "province": _NULLABLE_TEXT,
                    "country": {"type": "string"},
                    "time": {
                        "type": ["string", "null"],
                        "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$",
                    },
                    "ticket_info": _NULLABLE_TEXT,
                    "status": {"type": "string", "enum": list(STATUSES)},
                    "confidence": _CONFIDENCE,
                }
            ),
        },
    }
)
"""The JSON Schema that models must follow (JSON Schema 2020-12, strict output)."""

TOP_KEYS = POSTER_SCHEMA["properties"].keys()
EVENT_KEYS = POSTER_SCHEMA["properties"]["events"]["items"]["properties"].keys()
_DATE = re.compile(r"^\d{4}-\d{2}-\d{2}$")
_MONTH = re.compile(r"^\d{4}-\d{2}$")
_TIME = re.compile(r"^\d{2}:\d{2}$")

Test = Callable[[Any], object] | None
Node = dict[type, Test]


class SchemaChecks(NamedTuple):
    """The results of the three checks of a prediction; each implies the previous one.

    Attributes:
        valid, strict, exact: see `schema_valid`, `schema_strict` and `schema_exact`.
    """

    valid: bool
    strict: bool
    exact: bool


def check_schema(value: object) -> SchemaChecks:
    """Apply all three checks to a prediction."""
    exact = schema_exact(value)
    strict = exact or schema_strict(value)
    return SchemaChecks(strict or schema_valid(value), strict, exact)


def schema_strict(value: object) -> bool:
    """Check keys and types as the benchmark does, and that there are no other keys."""
    return (
        isinstance(value, dict)
        and value.keys() == TOP_KEYS
        and schema_valid(value)
        and all(event.keys() == EVENT_KEYS for event in value["events"])
    )


def schema_valid(value: object) -> bool:
    """Check keys and types as the benchmark does; other keys are allowed.

    Looser than `schema_exact`: a confidence may be null or a boolean, digits may be of any script,
    and month 13, 24:99 and a trailing newline pass.
    """
    return (
        isinstance(value, dict)
        and value.keys() >= TOP_KEYS
        and isinstance(value["artist_name"], str)
        and _are_nullable_texts(map(value.get, _TOP_TEXTS))
        and _fits(_MONTH, value["source_month"])
        and _is_confidence(value["poster_confidence"])
        and isinstance(value["events"], list)
        and all(map(_is_event, value["events"]))
    )


_NULLABLE_TEXT_TYPES = frozenset((str, type(None)))
_TOP_TEXTS = ("instagram_handle", "tour_name", "contact_info")
_EVENT_TEXTS = ("event_name", "venue", "city", "province", "ticket_info")


def _is_event(event: object) -> bool:
    return (
        isinstance(event, dict)
        and event.keys() >= EVENT_KEYS
        and _fits(_DATE, event["date"])
        and isinstance(event["country"], str)
        and event["status"] in STATUSES
        and (event["time"] is None or _fits(_TIME, event["time"]))
        and _are_nullable_texts(map(event.get, _EVENT_TEXTS))
        and _is_confidence(event["confidence"])
    )


def _are_nullable_texts(values: Iterable[object]) -> bool:
    return _NULLABLE_TEXT_TYPES.issuperset(map(type, values))


def _fits(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.match(value) is not None


def _is_confidence(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, int | float) and not (value < 0 or value > 1)


def schema_exact(value: object) -> bool:
    """Check against `POSTER_SCHEMA` to the letter; a date must exist in the calendar."""
    return _fits_node(_SCHEMA_NODE, value)


def _compile(schema: Schema) -> Node:
    """Compile a schema node into a test per type; it knows only keywords of `POSTER_SCHEMA`."""
    names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return {kind: _TESTS[name](schema) for name in names for kind in KINDS[name]}


def _fits_node(node: Node, value: object) -> bool:
    test = node.get(type(value), _never)
    return test is None or bool(test(value))


def _never(_: object) -> bool:
    return False


def _text_test(schema: Schema) -> Test:
    if schema.get("format") == "date":
        return is_day
    if "enum" in schema:
        return frozenset(schema["enum"]).__contains__
    return re.compile(schema["pattern"]).fullmatch if "pattern" in schema else None


def _number_test(schema: Schema) -> Test:
    low, high = schema["minimum"], schema["maximum"]
    return lambda value: low <= value <= high


def _array_test(schema: Schema) -> Test:
    fits = partial(_fits_node, _compile(schema["items"]))
    return lambda values: all(map(fits, values))


def _object_test(schema: Schema) -> Test:
    nodes = {name: _compile(node) for name, node in schema["properties"].items()}

    def test(value: dict[str, object]) -> bool:
        if value.keys() != nodes.keys():
            return False
        for name, node in nodes.items():
            item = value[name]
            check = node.get(type(item), _never)
            if check is not None and not check(item):
                return False
        return True

    return test


def is_day(text: str) -> bool:
    """Return whether a text is a date of the calendar as RFC 3339 writes it."""
    if _ASCII_DATE.fullmatch(text) is None:
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


_ASCII_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
_TESTS: dict[str, Callable[[Schema], Test]] = {
    "string": _text_test,
    "number": _number_test,
    "array": _array_test,
    "object": _object_test,
    "null": lambda _: None,
}
_SCHEMA_NODE = _compile(POSTER_SCHEMA)
