"""Values as text: exact for programs, rounded and safe to display for readers.

CSV and Markdown contain exact text, which reads back as the same value:

    float       the shortest text that round-trips; nan, inf, -inf
    DECIMAL     all its digits, never an exponent
    timestamps  ISO 8601 without trailing zeros in the fraction. A TIMESTAMP WITH TIME ZONE is an
                instant, written in UTC with a Z; a plain TIMESTAMP is written without a zone
    BLOB        hexadecimal, lower case (DuckDB: unhex)
    nested      lists, structs and maps as JSON
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from math import isfinite
from types import NoneType
from typing import Any

_quoted: Callable[[str], str] = json.JSONEncoder(ensure_ascii=False).encode
_MILLION, _EXPONENT = 1e6, 1e15
_BETWEEN_TOKENS = "\t\n\r"  # whitespace of a JSON document; inside strings it is escaped


def exact(value: object) -> str:
    """Return the exact text of a value; empty for NULL."""
    return _TEXTS[type(value)](value)


def as_json(value: object) -> str:
    r"""Return a value as JSON.

    NaN and infinities become null: JSON does not have them, and text instead would give a column
    of numbers mixed types. Invisible and control characters are escaped as `\uXXXX`, so that the
    JSON is safe to display; all others are written as they are.
    """
    return _JSON[type(value)](value)


def document(text: str) -> str:
    """Return a JSON document unchanged on one line, so that its numbers keep all their digits.

    Invalid JSON (DuckDB's JSON type allows NaN) is returned as a JSON string.
    """
    try:
        json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return as_json(text)
    # A raw line break can only be between tokens: inside strings it must be escaped.
    return _ascii_escapes(text.replace("\r", " ").replace("\n", " "))


def human(value: object, limit: int | None = None) -> str:
    """Return a value as a table on a terminal shows it: floats with 6 significant digits.

    Args:
        value: any value of a row.
        limit: maximum number of characters of a text; a longer one is truncated.
    """
    if limit is None or isinstance(value, float):
        return _HUMAN[type(value)](value)
    text = exact(value)
    return visible(text[:limit]) + ("…" if len(text) > limit else "")


def visible_lines(text: str) -> str:
    """Return text as `visible` does, with its line breaks kept: for messages of several lines."""
    if text.isprintable():  # nearly all texts are, and to split them takes longer than to look
        return text
    return "\n".join(visible(line) for line in text.split("\n"))


def visible(text: str) -> str:
    r"""Return text with control and invisible characters escaped.

    ESC becomes `\x1b`, a line break `\n`, a bidi override `\u202e`, so that they neither control
    the terminal nor mislead the reader. Spaces of any width and backslashes are kept.
    """
    return text if text.isprintable() else text.translate(_VISIBLE)


def markdown(value: object) -> str:
    """Return a value for a cell of a Markdown table: its markup and HTML escaped, on one line."""
    lines = re.split(r"\r\n|\n", exact(value))
    return "<br>".join(_MARKUP.sub(_escaped, visible(line)) for line in lines)


class _EscapeTable(dict[int, str]):
    """A table for `str.translate`, filled with each character when it first occurs."""

    def __init__(self, escape: Callable[[int], str]) -> None:
        self._escape = escape

    def __missing__(self, code: int) -> str:
        char = chr(code)
        shown = char.isprintable() or unicodedata.category(char) == "Zs"
        self[code] = char if shown else self._escape(code)
        return self[code]


def _escaped_char(code: int) -> str:
    return repr(chr(code))[1:-1]


def _json_escaped_char(code: int) -> str:
    return chr(code) if chr(code) in _BETWEEN_TOKENS else json.dumps(chr(code))[1:-1]


_VISIBLE = _EscapeTable(_escaped_char)
_JSON_VISIBLE = _EscapeTable(_json_escaped_char)
# An underscore inside a word is not markup, and `pass\_rate` would be hard to read.
_MARKUP = re.compile(r"[\\`*\[\]~$|<>&]|(?<![^\W_])_|_(?![^\W_])")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


def _escaped(match: re.Match[str]) -> str:
    return _ENTITIES.get(match[0], "\\" + match[0])


def _rounded(value: float) -> str:
    # With six digits, the tokens of a large run would be shown with an exponent.
    return f"{value:.0f}" if _MILLION <= abs(value) < _EXPONENT else f"{value:.6g}"


def _timestamp(value: datetime) -> str:
    zone = "" if value.tzinfo is None else "Z"
    local = value.astimezone(UTC).replace(tzinfo=None) if zone else value
    text = local.isoformat()
    return (text.rstrip("0") if local.microsecond else text) + zone


def _text(value: object) -> str:
    return _ascii_escapes(_quoted(exact(value)))


def _number(value: float | Decimal) -> str:
    return exact(value) if isfinite(value) else "null"


def _array(values: Iterable[object]) -> str:
    return "[" + ", ".join(map(as_json, values)) + "]"


def _object(members: dict[object, object]) -> str:
    return "{" + ", ".join(f"{_text(key)}: {as_json(v)}" for key, v in members.items()) + "}"


def _ascii_escapes(text: str) -> str:
    return text if text.isprintable() else text.translate(_JSON_VISIBLE)


def _refuse(constant: str) -> object:
    raise ValueError(constant)


class _ByType(dict[type, Callable[[Any], str]]):
    """A function for each type; a subclass has that of its nearest base class."""

    def __missing__(self, kind: type) -> Callable[[object], str]:
        self[kind] = next(self[base] for base in kind.__mro__ if base in self)
        return self[kind]


_TEXTS = _ByType(
    {
        object: str,
        str: str,
        NoneType: lambda _: "",
        bool: lambda value: "true" if value else "false",
        int: int.__repr__,
        float: float.__repr__,
        Decimal: "{:f}".format,
        datetime: _timestamp,
        date: date.isoformat,
        time: time.isoformat,
        bytes: bytes.hex,
        bytearray: bytearray.hex,
        memoryview: memoryview.hex,
        dict: as_json,
        list: as_json,
        tuple: as_json,
    }
)
# What the others of `_TEXTS` return is visible already.
_HUMAN = _ByType(_TEXTS)
_HUMAN[object] = lambda value: visible(str(value))
_HUMAN[str] = visible
_HUMAN[float] = _rounded
_JSON = _ByType(
    {
        object: _text,
        NoneType: lambda _: "null",
        bool: exact,
        int: exact,
        float: _number,
        Decimal: _number,
        dict: _object,
        list: _array,
        tuple: _array,
    }
)
