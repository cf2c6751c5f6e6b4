"""Values of foreign records for columns: each fits its column, or is left for `extra`."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import is_integer, utf8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from warehouse.core.types import Json, JsonObject

_INDEX = re.compile(r"[0-9]{1,9}$")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


T = TypeVar("T")
Number = TypeVar("Number", int, float)


class Fields:
    """The fields of a record. What is taken is what a column holds; the rest is for `extra`."""

    def __init__(self, record: Json) -> None:
        self._left: JsonObject = dict(record) if isinstance(record, dict) else {}
        self._inside: dict[str, Fields] = {}

    def _take(self, name: str, convert: Callable[[Json], T | None]) -> T | None:
        found = convert(self._left.get(name))
        if found is not None:
            del self._left[name]
        return found

    def text(self, name: str) -> str | None:
        """Take a text."""
        return self._take(name, text_of)

    def integer(self, name: str) -> int | None:
        """Take an integer of 64 bits, which may be written as 3.0."""
        return self._take(name, whole_number)

    def number(self, name: str) -> float | None:
        """Take a finite number."""
        return self._take(name, finite_number)

    def boolean(self, name: str) -> bool | None:
        """Take true or false."""
        return self._take(name, boolean_of)

    def moment(self, name: str) -> datetime | None:
        """Take a time in ISO 8601 (UTC if it names no offset), as naive UTC."""
        return self._take(name, iso_moment)

    def value(self, name: str) -> Json:
        """Take a value of any type."""
        return self._left.pop(name, None)

    def plain(self, name: str) -> str | None:
        """Take a value of any type as text: JSON text unless it is one; None for null."""
        return plain_text(self.value(name))

    def json(self, name: str) -> str | None:
        """Take a value of any type as JSON text; None for null."""
        return json_or_none(self.value(name))

    def peek(self, name: str) -> Json:
        """Return a value without taking it."""
        return self._left.get(name)

    def drop(self, *names: str) -> None:
        """Take values that are stored elsewhere, or not at all."""
        for name in names:
            self._left.pop(name, None)

    def drop_equal(self, name: str, value: Json) -> None:
        """Take a value if it only repeats another."""
        if self._left.get(name) == value:
            self.drop(name)

    def inside(self, name: str) -> Fields:
        """Return the fields of an object in a field; what they leave is left here, too."""
        if name not in self._inside:
            value = self._left.get(name)
            self._inside[name] = Fields(value)
            if isinstance(value, dict):
                del self._left[name]
        return self._inside[name]

    def left(self) -> JsonObject:
        """Return the fields that were not taken, but for those that are null."""
        inside = {name: fields.left() for name, fields in self._inside.items()}
        rest = {**self._left, **{name: each for name, each in inside.items() if each}}
        return {name: value for name, value in rest.items() if value is not None}

    def extra(self, **more: Json) -> str | None:
        """Return the fields that were not taken as JSON text, with more of them; None for none."""
        left = {**{name: value for name, value in more.items() if value is not None}, **self.left()}
        return json_text(left) if left else None


def object_of(value: object) -> dict[str, Any]:
    """Return an object as it is; an empty one for any other value."""
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    """Return a list as it is; an empty one for any other value."""
    return value if isinstance(value, list) else []


def objects_of(value: object) -> list[dict[str, Any]]:
    """Return the objects in a list, without its other elements."""
    return [each for each in list_of(value) if isinstance(each, dict)]


def inner(value: Json, *names: str) -> Json:
    """Return what is in an object below some names, each inside that before; None for nothing."""
    for name in names:
        value = object_of(value).get(name)
    return value


def text_of(value: object) -> str | None:
    """Return a text; None for any other value."""
    return utf8(value) if isinstance(value, str) else None


def boolean_of(value: object) -> bool | None:
    """Return true or false; None for any other value."""
    return value if isinstance(value, bool) else None


def whole_number(value: Json) -> int | None:
    """Return an integer of 64 bits, which may be written as 3.0; None for any other value."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if is_integer(value) else None


def finite_number(value: object) -> float | None:
    """Return a finite number; None for any other value, also for true and false."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def iso_moment(value: Json) -> datetime | None:
    """Return a time in ISO 8601 as naive UTC; UTC is assumed if it names no offset."""
    if not isinstance(value, str) or len(value) < len("2026-01-01T00"):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return _naive_utc(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def unix_moment(seconds: Json) -> datetime | None:
    """Return a time in seconds since 1970, a number or a text, as naive UTC."""
    if isinstance(seconds, str):
        try:
            seconds = float(seconds)
        except ValueError:
            return None
    number = finite_number(seconds)
    try:
        return None if number is None else _naive_utc(_EPOCH + timedelta(seconds=number))
    except OverflowError:
        return None


def plain_text(value: Json) -> str | None:
    """Return a text as it is, any other value as JSON text; None for null."""
    if value is None:
        return None
    return utf8(value) if isinstance(value, str) else json_text(value)


def known_sum(numbers: Iterable[Number | None]) -> Number | None:
    """Return the sum of the numbers that are known; None if none is."""
    total: Number | None = None
    for number in numbers:
        if number is not None:
            total = number if total is None else total + number
    return total


def json_or_none(value: Json) -> str | None:
    """Return a value as JSON text; None for null."""
    return None if value is None else json_text(value)


def amount(value: Json) -> tuple[float | None, str | None]:
    """Return a score or figure as `value` and `text`: a finite number, or as recorded.

    True and false are 1 and 0. Both are None for null.
    """
    if isinstance(value, bool):
        return float(value), None
    number = finite_number(value)
    if number is not None:
        return number, None
    if isinstance(value, float):
        return None, "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return None, plain_text(value)


def _naive_utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)


def task_position(task_id: str) -> int:
    """Return the position of a task whose id ends in its index, from 1; 1 for any other id.

    A task is the same in all logs: its position must not depend on the log.
    """
    found = _INDEX.search(task_id)
    return int(found[0]) + 1 if found else 1


def texts_of(content: Json) -> str | None:
    """Return the text of a chat message's content: a text, or the texts of its parts by line."""
    if isinstance(content, str):
        return utf8(content)
    if not isinstance(content, list):
        return None
    texts = [
        part if isinstance(part, str) else part.get("text")
        for part in content
        if isinstance(part, str | dict)
    ]
    found = [utf8(text) for text in texts if isinstance(text, str)]
    return "\n".join(found) if found else None
