"""Parses the JSON of a log: fast where that is exact, else as Python does (NaN, huge numbers)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import orjson

from warehouse.core.formats.json_text import canonical_json, is_exact, json_text
from warehouse.core.formats.values import TOO_DEEP, is_nested_deeply, utf8

if TYPE_CHECKING:
    from warehouse.core.types import Json

# orjson makes floats of integers beyond 64 bits, and NULL of infinity.
# The digits that make a number huge, with all digits and plus signs as 0, and what no number has as
# spaces, over which a search leaps. Within a text they are only text, and more digits after a point
# than a float has are rounded in the same way by all parsers.
_DIGITS = b"0123456789+"
_SHAPES = bytes(
    ord("0") if byte in _DIGITS else ord("e") if byte in b"eE" else byte if byte == ord(".") else 32
    for byte in range(256)
)
_HUGE_SHAPES = ((b"0" * 19, b"0"), (b"0e000", b"0."))
_BEFORE_NUMBERS = b" \t\r\n:,[-"
# An expression of RE2 that matches wherever such a number can be.
HUGE_NUMBER_GATE = r"[ \t\r\n:,\[]-?(?:[0-9]{19}|[0-9][0-9.]*[eE]\+?[0-9]{3})"
_LONGEST_NUMBER = 400
# Copied for each digest, which is faster than to make one.
_NO_DIGEST = blake2b(digest_size=16)
# As most logs write times, with and without a fraction: 2026-03-04T05:06:07.123456+00:00
_UTC = "+00:00"
_USUAL_LENGTHS = (25, 32)

# For `isinstance`, of each value of a log: a union of types would be made at each call.
NUMBER = (int, float)


class UnreadableDocumentError(Exception):
    """A text that is not a JSON object; the message says why."""


# Not frozen, which would take twice as long to make; none is changed.
@dataclass(slots=True)
class LogObject:
    """An object of a log.

    Attributes:
        value: its content.
        text: its text, if JSON columns would change it; else None.
    """

    value: dict[str, Any]
    text: str | None = None

    @property
    def is_plain(self) -> bool:
        """Whether columns can hold it unchanged."""
        return self.text is None

    def as_json(self, value: Json) -> str:
        """Return a part of it as JSON text."""
        if self.text is not None:
            return json_text(value)
        return orjson.dumps(value).decode()

    def as_sorted_json(self, value: Json) -> str:
        """Return a part of it as JSON text with its keys sorted: the same in any order."""
        if self.is_plain:
            return _sorted_json(value).decode()
        return canonical_json(value)

    def digest(self, value: Json) -> str:
        """Return 32 hexadecimal digits that identify a part of it, whatever the order of keys."""
        data = _sorted_json(value) if self.text is None else _sorted_exactly(value)
        digest = _NO_DIGEST.copy()
        digest.update(data)
        return digest.hexdigest()


def read_object(data: bytes, *, has_usual_numbers: bool = False) -> LogObject:
    """Parse an object.

    Args:
        data: its text.
        has_usual_numbers: whether `HUGE_NUMBER_GATE` is known not to match.

    Raises:
        UnreadableDocumentError: it is not a JSON object, or nested too deeply.
    """
    try:
        value, is_plain = orjson.loads(data), has_usual_numbers or not _has_huge_number(data)
    except orjson.JSONDecodeError:
        value, is_plain = None, False
    if is_plain:
        return LogObject(_object(value, data))
    try:
        text = data.decode().lstrip("\ufeff")
        exact = _object(json.loads(text), data)
        is_same = is_exact(exact) and _fits_64_bits(exact)
    except UnicodeDecodeError as error:
        raise UnreadableDocumentError(
            f"not UTF-8 ({error.reason} at byte {error.start})"
        ) from error
    except ValueError as error:
        raise UnreadableDocumentError(f"not JSON: {error}") from error
    except RecursionError as error:
        raise UnreadableDocumentError(TOO_DEEP) from error
    return LogObject(exact) if is_same else LogObject(exact, utf8(text))


def as_text(value: object) -> str | None:
    """Return a text that is not empty; None for anything else."""
    return value if isinstance(value, str) and value else None


def as_recorded_text(value: object) -> str | None:
    """Return a text, also an empty one; None for anything else."""
    return utf8(value) if isinstance(value, str) else None


def as_object(value: object) -> dict[str, Any]:
    """Return an object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return a list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def as_count(value: object) -> int | None:
    """Return a number of things that a column can hold; None for anything else."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
    return value if is_count else None  # type: ignore[return-value]  # an integer, as tested


def as_amount(value: object) -> float | None:
    """Return a number that is finite and not negative; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, NUMBER):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if 0 <= number < float("inf") else None


def as_moment(value: object) -> datetime | None:
    """Return a time of ISO 8601 in UTC, which is assumed where no offset is given."""
    if not isinstance(value, str):
        return None
    try:
        if len(value) in _USUAL_LENGTHS and value.endswith(_UTC):
            # Without its offset, a time is read in a fraction of the time.
            usual = datetime.fromisoformat(value[: -len(_UTC)])
            if usual.tzinfo is None:
                return usual
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            return moment
        if moment.tzinfo is not UTC:
            moment = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment.replace(tzinfo=None)


def _has_huge_number(data: bytes) -> bool:
    shapes = data.translate(_SHAPES)
    for shape, digits in _HUGE_SHAPES:
        at = shapes.find(shape)
        while at >= 0:
            start = max(at - _LONGEST_NUMBER, 0)
            start += len(shapes[start:at].rstrip(digits))
            if start == 0 or data[start - 1] in _BEFORE_NUMBERS:
                return True
            at = shapes.find(shape, at + len(shape))
    return False


def _sorted_json(value: Json) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _sorted_exactly(value: Json) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _object(value: object, data: bytes) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UnreadableDocumentError("not a JSON object")
    if is_nested_deeply(value, data):
        raise UnreadableDocumentError(TOO_DEEP)
    return value


def _fits_64_bits(value: object) -> bool:
    """Return whether orjson can write a value."""
    try:
        orjson.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True
