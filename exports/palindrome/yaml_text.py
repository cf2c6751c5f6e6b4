"""Small YAML documents, written so that YAML 1.1 and YAML 1.2 readers get the same values.

Block style, two blanks a level, the dash two blanks under its key; nothing is ever wrapped. The
same document always gives the same bytes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final, TypeAlias

from warehouse.errors import EvalstoreError

Value: TypeAlias = "bool | int | float | str | Sequence[Value] | Mapping[str, Value] | None"

MAX_DEPTH: Final = 64
# YAML gives a key 1,024 characters up to its colon.
MAX_KEY: Final = 1_000
# Python, and with it most readers, converts no integer of more than 4,300 digits.
MAX_BITS: Final = 14_000

# Words that some reader takes for a null, a boolean, a merge key or a default value.
_WORDS: Final = frozenset(
    ("~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "<<", "=")
)
# Whatever a reader may take for a number (also in base 60, with underscores) or a date.
_NUMBER: Final = re.compile(
    r"[-+]?\.(?:inf|nan)"
    r"|[-+.]*[0-9_][0-9a-fox_.:,+-]*"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:t|\s).*",
    re.IGNORECASE,
)
# Starts with no indicator, holds no ': ' and no ' #', ends with neither ':' nor a blank.
_PLAIN: Final = re.compile(
    r"(?!---|\.\.\.|[-?:](?: |\Z)|[ ,\[\]{}#&*!|>'\"%@`])(?!.*(?:: | \#))[^\n]*[^ :]"
)
# What must be escaped: control characters, line breaks but the line feed, the byte order mark,
# and the two code points that are no characters.
_SPECIAL: Final = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_ESCAPED: Final = re.compile(f'{_SPECIAL.pattern}|[\\n"\\\\]')
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPES: Final = {
    '"': '\\"', "\\": "\\\\", "\0": "\\0", "\a": "\\a", "\b": "\\b", "\t": "\\t", "\n": "\\n",
    "\v": "\\v", "\f": "\\f", "\r": "\\r", "\x1b": "\\e", "\x85": "\\N", "\u2028": "\\L",
    "\u2029": "\\P",
}  # fmt: skip


class UnwritableError(EvalstoreError):
    """A value that YAML cannot hold, with the place where it stands."""


def dump(document: Mapping[str, Value]) -> str:
    """Return the YAML text of a document, ready to be encoded as UTF-8.

    Raises:
        UnwritableError: A value is of another type than `Value`, text holds half a surrogate pair,
            a key is no text or too long, or the nesting is too deep.
    """
    lines = _mapping(document, 1, "") if document else ["{}"]
    return "\n".join(lines) + "\n"


def _mapping(items: Mapping[str, Value], depth: int, where: str) -> list[str]:
    """Return the lines of a mapping that is not empty, at no indent."""
    _check_depth(depth, where)
    lines: list[str] = []
    for key, value in items.items():
        place = f"{where}.{key}" if where else f"{key}"
        lines += _after(f"{_key(key, place)}:", value, depth + 1, place)
    return lines


def _after(head: str, value: Value, depth: int, where: str) -> list[str]:
    """Return the lines of a key with its value."""
    block = _block(value, depth, where)
    if _is_collection(value) and value:
        return [head, *_indented(block)]
    return [f"{head} {block[0]}", *_indented(block[1:])]


def _sequence(items: Sequence[Value], depth: int, where: str) -> list[str]:
    """Return the lines of a sequence that is not empty, at no indent."""
    _check_depth(depth, where)
    lines: list[str] = []
    for number, item in enumerate(items):
        block = _block(item, depth + 1, f"{where}[{number}]")
        lines += [f"- {block[0]}", *_indented(block[1:])]
    return lines


def _block(value: Value, depth: int, where: str) -> list[str]:
    """Return the lines of a value; the first has no indent of its own."""
    if isinstance(value, str):
        return _text(value, where)
    if isinstance(value, Mapping):
        return _mapping(value, depth, where) if value else ["{}"]
    if isinstance(value, list | tuple):
        return _sequence(value, depth, where) if value else ["[]"]
    return [_plain_value(value, where)]


def _check_depth(depth: int, where: str) -> None:
    if depth > MAX_DEPTH:
        raise UnwritableError(f"{where[:80]}: nested more than {MAX_DEPTH} levels deep")


def _is_collection(value: Value) -> bool:
    return isinstance(value, Mapping | list | tuple)


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" if line else line for line in lines]


def _plain_value(value: Value, where: str) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, int):
        return _integer(value, where)
    raise UnwritableError(f"{where}: a {type(value).__name__} cannot be written as YAML")


def _integer(value: int, where: str) -> str:
    if value.bit_length() > MAX_BITS:
        raise UnwritableError(f"{where}: an integer too long for readers; write it as text")
    return str(int(value))


def _float(value: float) -> str:
    """Return the shortest digits that read back as the same number, without an exponent."""
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    digits = f"{Decimal(float.__repr__(value)):f}"
    return digits if "." in digits else f"{digits}.0"


def _key(key: str, where: str) -> str:
    if not isinstance(key, str):
        raise UnwritableError(f"{where}: a {type(key).__name__} as a key, only text can be one")
    _check_text(key, where)
    written = _double_quoted(key) if "\n" in key else _one_line(key)
    if len(written) > MAX_KEY:
        raise UnwritableError(f"{where[:40]}…: a key of more than {MAX_KEY:,} characters")
    return written


def _text(text: str, where: str) -> list[str]:
    _check_text(text, where)
    if "\n" not in text:
        return [_one_line(text)]
    if _SPECIAL.search(text) or not text.strip():
        return [_double_quoted(text)]
    return _literal(text)


def _check_text(text: str, where: str) -> None:
    if _SURROGATE.search(text):
        raise UnwritableError(f"{where}: half a surrogate pair, which UTF-8 cannot hold")


def _one_line(text: str) -> str:
    if _SPECIAL.search(text) or text.startswith("'"):
        return _double_quoted(text)
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS and not _NUMBER.fullmatch(text):
        return text
    return "'" + text.replace("'", "''") + "'"


def _double_quoted(text: str) -> str:
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def _escape(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04X}"


def _literal(text: str) -> list[str]:
    """Return a block scalar, its first line without and the rest at no indent."""
    body = text.rstrip("\n")
    trailing = len(text) - len(body)
    chomping = "-" if trailing == 0 else "" if trailing == 1 else "+"
    # The reader would take leading blanks for the indent.
    indicator = "2" if text[0] in " \n" else ""
    return [f"|{indicator}{chomping}", *body.split("\n"), *[""] * (trailing - 1)]
