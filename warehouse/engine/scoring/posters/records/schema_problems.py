"""Messages about where a poster record breaks its JSON Schema, for those who repair it."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from warehouse.engine.scoring.posters.records.schema import KINDS, POSTER_SCHEMA, Schema, is_day

_LONGEST_VALUE = 40
_TYPE_NAMES = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "an object",
    type(None): "null",
}
_WANTED = {
    "string": "text",
    "array": "a list",
    "object": "an object",
    "number": "a number",
    "null": "null",
}


class SchemaProblem(NamedTuple):
    """A place where a record breaks the schema.

    Attributes:
        field: path, such as `events[2].status`; `record` for the record itself.
        reason: what is wrong.
    """

    field: str
    reason: str


def schema_problems(value: object) -> list[SchemaProblem]:
    """List every place where a record breaks `POSTER_SCHEMA`; empty if `schema_exact` holds."""
    return list(_problems(POSTER_SCHEMA, value, ""))


def _problems(schema: Schema, value: object, path: str) -> Iterator[SchemaProblem]:
    names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(type(value) in KINDS[name] for name in names):
        wanted = " or ".join(_WANTED[name] for name in names)
        found = _TYPE_NAMES.get(type(value), type(value).__name__)
        yield SchemaProblem(path or "record", f"is {found}, not {wanted}")
    elif isinstance(value, dict):
        yield from _in_object(schema, value, path)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _problems(schema["items"], item, f"{path}[{place}]")
    elif (reason := _reason(schema, value)) is not None:
        yield SchemaProblem(path, reason)


def _in_object(schema: Schema, value: dict[str, object], path: str) -> Iterator[SchemaProblem]:
    properties = schema["properties"]
    for name, node in properties.items():
        field = f"{path}.{name}" if path else name
        if name in value:
            yield from _problems(node, value[name], field)
        else:
            yield SchemaProblem(field, "is missing")
    for name in value:
        if name not in properties:
            yield SchemaProblem(f"{path}.{name}" if path else name, "is not in the schema")


def _reason(schema: Schema, value: object) -> str | None:
    """Return what is wrong with a text or a number of the right type."""
    if isinstance(value, str):
        if schema.get("format") == "date":
            return None if is_day(value) else f"{_shown(value)} is not a date (YYYY-MM-DD)"
        if "enum" in schema and value not in schema["enum"]:
            return f"{_shown(value)} is not one of {', '.join(schema['enum'])}"
        if "pattern" in schema and not re.fullmatch(schema["pattern"], value):
            return f"{_shown(value)} does not match {schema['pattern']}"
    elif isinstance(value, int | float) and not schema["minimum"] <= value <= schema["maximum"]:
        return f"{value} is not between {schema['minimum']} and {schema['maximum']}"
    return None


def _shown(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…")
