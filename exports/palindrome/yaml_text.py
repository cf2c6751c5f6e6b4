"""YAML text that YAML 1.1 and YAML 1.2 readers load as the same values.

Block style, indented by two spaces per level, list items included; lines are never wrapped. The
same document always gives the same bytes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final, TypeAlias

from warehouse.core.errors import EvalstoreError

Value: TypeAlias = "bool | int | float | str | Sequence[Value] | Mapping[str, Value] | None"

MAX_DEPTH: Final = 64
# YAML allows 1,024 characters up to the colon of a key.
MAX_KEY: Final = 1_000
# Python, and so most readers, refuses integers of more than 4,300 digits.
MAX_BITS: Final = 14_000

# Words that some readers take for a null, a boolean, a merge key or a default value.
_WORDS: Final = frozenset(
    ("~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "<<", "=")
)
# Text that some readers take for a number (also in base 60 or with underscores) or a date.
_NUMBER: Final = re.compile(
    r"[-+]?\.(?:inf|nan)"
    r"|[-+.]*[0-9_][0-9a-fox_.:,+-]*"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:t|\s).*",
    re.IGNORECASE,
)
# Does not start with an indicator, contain ': ' or ' #', or end with ':' or a space.
_PLAIN: Final = re.compile(
    r"(?!---|\.\.\.|[-?:](?: |\Z)|[ ,\[\]{}#&*!|>'\"%@`])(?!.*(?:: | \#))[^\n]*[^ :]"
)
# Must be escaped: control characters, line breaks other than the line feed, the byte order mark,
# and the two noncharacters U+FFFE and U+FFFF.
_SPECIAL: Final = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_ESCAPED: Final = re.compile(f'{_SPECIAL.pattern}|[\\n"\\\\]')
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPES: Final = {
    '"': '\\"', "\\": "\\\\", "\0": "\\0", "\a": "\\a", "\b": "\\b", "\t": "\\t", "\n": "\\n",
    "\v": "\\v", "\f": "\\f", "\r": "\\r", "\x1b": "\\e", "\x85": "\\N", "\u2028": "\\L",
    "\u2029": "\\P",
}  # fmt: skip


class UnwritableError(EvalstoreError):
    """A value that cannot be written as YAML; the message says where it is in the document."""


def dump(document: Mapping[str, Value]) -> str:
    """Return the YAML text of a document, ready to be encoded as UTF-8.

    Raises:
        UnwritableError: a value is not a `Value`, text contains a lone surrogate, a key is not
            text or too long, or the nesting is too deep.
    """
    lines = _mapping(document, 1, "") if document else ["{}"]
    return "\n".join(lines) + "\n"


def _mapping(items: Mapping[str, Value], depth: int, where: str) -> list[str]:
    """Return the lines of a non-empty mapping, not indented."""
    _check_depth(depth, where)
    lines: list[str] = []
    for key, value in items.items():
        place = f"{where}.{key}" if where else f"{key}"
        lines += _after(f"{_key(key, place)}:", value, depth + 1, place)
    return lines


def _after(head: str, value: Value, depth: int, where: str) -> list[str]:
    """Return the lines of a key and its value."""
    block = _block(value, depth, where)
    if _is_collection(value) and value:
        return [head, *_indented(block)]
    return [f"{head} {block[0]}", *_indented(block[1:])]


def _sequence(items: Sequence[Value], depth: int, where: str) -> list[str]:
    """Return the lines of a non-empty sequence, not indented."""
    _check_depth(depth, where)
    lines: list[str] = []
    for number, item in enumerate(items):
        block = _block(item, depth + 1, f"{where}[{number}]")
        lines += [f"- {block[0]}", *_indented(block[1:])]
    return lines


def _block(value: Value, depth: int, where: str) -> list[str]:
    """Return the lines of a value, not indented."""
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
    raise UnwritableError(f"{where}: {type(value).__name__} cannot be written as YAML")


def _integer(value: int, where: str) -> str:
    if value.bit_length() > MAX_BITS:
        raise UnwritableError(f"{where}: integer too long for most readers; write it as text")
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
        raise UnwritableError(f"{where}: a key must be text, not {type(key).__name__}")
    _check_text(key, where)
    written = _double_quoted(key) if "\n" in key else _one_line(key)
    if len(written) > MAX_KEY:
        raise UnwritableError(f"{where[:40]}…: key longer than {MAX_KEY:,} characters")
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
        raise UnwritableError(f"{where}: lone surrogate, which UTF-8 cannot represent")


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
    """Return the lines of a block scalar, not indented."""
    body = text.rstrip("\n")
    trailing = len(text) - len(body)
    chomping = "-" if trailing == 0 else "" if trailing == 1 else "+"
    # Otherwise a reader would take leading spaces for the indentation.
    indicator = "2" if text[0] in " \n" else ""
    return [f"|{indicator}{chomping}", *body.split("\n"), *[""] * (trailing - 1)]
