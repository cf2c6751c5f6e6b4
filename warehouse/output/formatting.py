"""One value as text: exact for machines, rounded and harmless for people.

Exact text is what csv and markdown print. It reads back to the same value:

    float       the shortest text that round-trips; nan, inf, -inf
    DECIMAL     all its digits, never an exponent
    timestamps  ISO 8601, the fraction without trailing zeros. A TIMESTAMP WITH TIME ZONE is an
                instant and printed in UTC with a Z; a plain TIMESTAMP names no zone, nor do we
    BLOB        hexadecimal, lower case (DuckDB: unhex)
    nested      lists, structs and maps are JSON
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
_BETWEEN_TOKENS = "\t\n\r"  # white space of a JSON document; inside strings it is escaped


def exact(value: object) -> str:
    """Returns the text of a value that loses nothing; NULL is empty."""
    return _TEXTS[type(value)](value)


def as_json(value: object) -> str:
    r"""Returns a value as JSON.

    NaN and the infinities become null: JSON has no such numbers, and text in their place would
    turn a column of numbers into a mixed one for every reader. Letters stay raw; invisible and
    control characters are written as `\uXXXX`, which is the same JSON and safe to look at.
    """
    return _JSON[type(value)](value)


def document(text: str) -> str:
    """Returns a JSON document as it stands, on one line: its numbers keep all their digits.

    What strict JSON does not allow (DuckDB's JSON type lets NaN pass) comes back as a string.
    """
    try:
        json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return as_json(text)
    # A raw line break can only stand between tokens: inside strings JSON wants it escaped.
    return _ascii_escapes(text.replace("\r", " ").replace("\n", " "))


def human(value: object, limit: int | None = None) -> str:
    """Returns a value for a table: visible, a float at most 6 significant digits.

    Args:
        value: any value of a row.
        limit: the number of characters of a long text that can be shown at all.
    """
    if isinstance(value, float):
        # Six digits would turn the tokens of a large run into an exponent.
        return f"{value:.0f}" if _MILLION <= abs(value) < _EXPONENT else f"{value:.6g}"
    text = exact(value)
    cut = limit is not None and len(text) > limit
    return visible(text[:limit]) + ("…" if cut else "")


def visible_lines(text: str) -> str:
    """Returns text as `visible` does, but with its line breaks: for messages of several lines."""
    return "\n".join(visible(line) for line in text.split("\n"))


def visible(text: str) -> str:
    r"""Returns text in which every control and invisible character is spelled out.

    ESC becomes `\x1b`, a line break `\n`, a bidi override `\u202e`: no terminal acts on them and
    no reader is misled. Spaces of any width stay, and so do backslashes.
    """
    return text if text.isprintable() else text.translate(_VISIBLE)


def markdown(value: object) -> str:
    """Returns a value for a cell of a Markdown table: no markup of its own, no HTML, one line."""
    lines = re.split(r"\r\n|\n", exact(value))
    return "<br>".join(_MARKUP.sub(_escaped, visible(line)) for line in lines)


class _Spelling(dict[int, str]):
    """Grows by the characters met: `str.translate` asks once for each."""

    def __init__(self, spell: Callable[[int], str]) -> None:
        self._spell = spell

    def __missing__(self, code: int) -> str:
        char = chr(code)
        shown = char.isprintable() or unicodedata.category(char) == "Zs"
        self[code] = char if shown else self._spell(code)
        return self[code]


def _spelled(code: int) -> str:
    return repr(chr(code))[1:-1]


def _json_spelled(code: int) -> str:
    return chr(code) if chr(code) in _BETWEEN_TOKENS else json.dumps(chr(code))[1:-1]


_VISIBLE = _Spelling(_spelled)
_JSON_VISIBLE = _Spelling(_json_spelled)
# An underscore inside a word is no markup, and `pass\_rate` would be hard to read.
_MARKUP = re.compile(r"[\\`*\[\]~$|<>&]|(?<![^\W_])_|_(?![^\W_])")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


def _escaped(match: re.Match[str]) -> str:
    return _ENTITIES.get(match[0], "\\" + match[0])


def _moment(value: datetime) -> str:
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


def _refuse(constant: str) -> Any:  # noqa: ANN401 - the signature that json.loads asks for
    raise ValueError(constant)


class _ByType(dict[type, Callable[[Any], str]]):
    """A subclass is written like the class that it comes from."""

    def __missing__(self, kind: type) -> Callable[[Any], str]:
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
        datetime: _moment,
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
