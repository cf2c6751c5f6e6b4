"""Parses the JSON of a log: fast where that is exact, else as Python does (NaN, huge numbers)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import orjson

from ingest.formats.common.fields import finite_number
from warehouse.core.formats.json_text import canonical_json, is_exact, json_text
from warehouse.core.formats.values import TOO_DEEP, is_integer, is_nested_deeply, utf8

if TYPE_CHECKING:
    from warehouse.core.types import Json

# orjson makes floats of integers beyond 64 bits, and NULL of infinity. This expression, of RE2 and
# of Python, finds wherever such a number can be; a text that looks like one is only parsed twice.
HUGE_NUMBER_GATE = r"[ \t\r\n:,\[]-?(?:[0-9]{19}|[0-9][0-9.]*[eE]\+?[0-9]{3})"
_HUGE_NUMBER = re.compile(HUGE_NUMBER_GATE.encode())
# Copied for each digest, which is faster than to make one.
_NO_DIGEST = blake2b(digest_size=16)


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
        value, is_plain = orjson.loads(data), has_usual_numbers or not _HUGE_NUMBER.search(data)
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


def as_count(value: object) -> int | None:
    """Return a number of things that a column can hold; None for anything else."""
    return value if is_integer(value) and value >= 0 else None


def as_amount(value: object) -> float | None:
    """Return a number that is finite and not negative; None for anything else."""
    number = finite_number(value)
    return number if number is not None and number >= 0 else None


def as_moment(value: object) -> datetime | None:
    """Return a time of ISO 8601 in UTC, which is assumed where no offset is given."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is not None and moment.tzinfo is not UTC:
            moment = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment.replace(tzinfo=None)


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
