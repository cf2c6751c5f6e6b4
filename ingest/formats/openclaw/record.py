"""Reads one line of results.jsonl exactly: its content is kept, or rejected with a reason.

Python's json module defines the meaning (NaN, lone surrogates, the last of duplicate keys, integers
of any size). A record that the columns cannot reproduce exactly keeps its text in `source`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

from ingest.formats.openclaw.fields import FIELDS, KEYS, MOMENTS, NEVER_NULL
from warehouse.core.formats.json_text import is_exact, json_text
from warehouse.core.formats.values import TOO_DEEP, is_integer, is_nested_deeply, utf8
from warehouse.core.formats.yaml.fields import Violation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from warehouse.core.types import EventRow, Json, JsonObject, ResultRow

_MOMENTS_MS = range(-62_135_596_800_000, 253_402_300_800_000)  # years 1 to 9999
_EXCERPT = 60
_MOMENT = "an integer, milliseconds since 1970 in the years 1 to 9999"
_DEMANDED = {
    "VARCHAR": "a string",
    "BIGINT": "an integer of 64 bits",
    "BOOLEAN": "a boolean",
    "VARCHAR[]": "a list of strings",
}
# `json.loads` with a hook would make a decoder for each call, and `json.dumps` an encoder.
_decode = json.JSONDecoder().decode
_encode = json.JSONEncoder(ensure_ascii=False).encode
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)


class UnreadableLineError(Exception):
    """A line that is not a record; the message says why."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a log.

    Attributes:
        row: of `results` or, with its `document`, of `events`. Both lack their place in the run,
            and the `run_id` if the record has none.
        violations: fields whose values break the type that the specification demands.
    """

    row: ResultRow | EventRow
    violations: Sequence[Violation] = ()


def read_record(raw: bytes, line: int) -> Record | None:
    """Read a line, whose number in its file is given; an empty line gives None.

    Raises:
        UnreadableLineError: the line is not a JSON object.
    """
    try:
        text = raw.decode().strip(" \t\r\n")
        return _read(text, raw, line) if text else None
    except UnicodeDecodeError as error:
        raise UnreadableLineError(f"not UTF-8 ({error.reason} at byte {error.start})") from error
    except ValueError as error:
        raise UnreadableLineError(f"not JSON: {error}") from error
    except RecursionError as error:
        raise UnreadableLineError(TOO_DEEP) from error


def line_hash(line: bytes) -> str:
    """Return the MD5 of a record as Python's json writes it in a line, equal to DuckDB's md5."""
    return hashlib.md5(line + b"\n", usedforsecurity=False).hexdigest()


def _read(text: str, raw: bytes, line: int) -> Record:
    # `json.loads` has its own message for a byte order mark.
    record = json.loads(text) if text.startswith("\ufeff") else _decode(text)
    if not isinstance(record, dict):
        raise UnreadableLineError("not a JSON object")
    if is_nested_deeply(record, raw):
        raise UnreadableLineError(TOO_DEEP)
    is_result = record.get("record_type") == "result"
    row, is_lossy = _result(record) if is_result else (_other(record), False)
    canonical = _encode(record)
    # A line as Python writes it repeats no key, and has no escaped surrogate.
    is_canonical = canonical == text and "NaN" not in text and "Infinity" not in text
    has_duplicates = not is_canonical and _has_duplicates(text)
    if has_duplicates or is_lossy or not (is_canonical or is_exact(record)):
        row["source"] = utf8(text)
    canonical = text if has_duplicates else canonical
    row["content_id"] = line_hash(canonical.encode("utf-8", "surrogatepass"))
    return Record(row, tuple(_violations(record, row, line)) if is_result else ())


def _has_duplicates(text: str) -> bool:
    """Return whether an object in JSON text repeats a key."""
    has_duplicates = False

    def count(pairs: list[tuple[str, Json]]) -> None:
        nonlocal has_duplicates
        has_duplicates = has_duplicates or len(dict(pairs)) < len(pairs)

    json.loads(text, object_pairs_hook=count)
    return has_duplicates


def _result(record: JsonObject) -> tuple[ResultRow, bool]:
    """Return a result's columns, and whether they cannot reproduce the record."""
    row: dict[str, object] = {}
    is_lossy = False
    for field in FIELDS:
        if field.name in record:
            convert = _timestamp if field.column in MOMENTS else _CONVERTERS[field.type]
            row[field.column], fits = convert(record[field.name])
            is_lossy = is_lossy or not fits
    row["record_keys"] = row["extra"] = None
    if tuple(record) != KEYS:
        row["record_keys"] = json_text(list(record))
        extra = {key: value for key, value in record.items() if key not in KEYS}
        row["extra"] = json_text(extra) if extra else None
    # A null run_id would be filled in from the folder, and come back as that.
    is_lossy = is_lossy or ("run_id" in record and row["run_id"] is None)
    return cast("ResultRow", row), is_lossy


def _violations(record: JsonObject, row: Mapping[str, object], line: int) -> Iterator[Violation]:
    """Yield the fields without a value of their type; figures leave those out."""
    for field in FIELDS:
        if field.name not in record or row[field.column] is not None:
            continue
        value, is_nullable = record[field.name], field.name not in NEVER_NULL
        if value is None and is_nullable:
            continue
        demanded = _MOMENT if field.column in MOMENTS else _DEMANDED[field.type]
        demanded += " or null" if is_nullable else ""
        message = f"{field.name} must be {demanded}, not {_excerpt(value)}"
        yield Violation(line, field.name, "type", message)


def _excerpt(value: Json) -> str:
    text = utf8(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}…"


def _other(record: JsonObject) -> EventRow:
    """Return the row of an event or of a record of an unknown type."""
    run_id, event, tag = (_text(record.get(key))[0] for key in ("run_id", "event", "tag"))
    is_event = record.get("record_type") == "event"
    row: EventRow = {
        "event": event if is_event else None,
        "tag": tag,
        "document": json_text(record),
    }
    if run_id:
        row["run_id"] = run_id
    return row


# Each returns a column's value, and whether it reproduces the field.


def _text(value: object) -> tuple[str | None, bool]:
    if isinstance(value, str):
        clean = utf8(value)
        return clean, clean == value
    return None, value is None


def _integer(value: object) -> tuple[int | None, bool]:
    if is_integer(value):
        return value, True
    if isinstance(value, float) and value.is_integer() and is_integer(int(value)):
        return int(value), False
    return None, value is None


def _timestamp(value: object) -> tuple[datetime | None, bool]:
    milliseconds, fits = _integer(value)
    if milliseconds is None or milliseconds not in _MOMENTS_MS:
        return None, fits and milliseconds is None
    return _EPOCH + timedelta(milliseconds=milliseconds), fits


def _boolean(value: object) -> tuple[bool | None, bool]:
    return (value, True) if isinstance(value, bool) else (None, value is None)


def _texts(value: object) -> tuple[list[str] | None, bool]:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return [utf8(item) for item in value], True
    return None, value is None


def _json(value: object) -> tuple[str | None, bool]:
    return None if value is None else json_text(value), True


_CONVERTERS: dict[str, Callable[[object], tuple[object, bool]]] = {
    "VARCHAR": _text,
    "BIGINT": _integer,
    "BOOLEAN": _boolean,
    "VARCHAR[]": _texts,
    "JSON": _json,
}
